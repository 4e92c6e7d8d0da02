"""The page of all built-in tools, from the tools themselves."""

import json
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel

from hermes_acp.config.settings_section import field_meanings
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.tool_ports import Tool

from .docstrings import class_text
from .json_schemas import Member, members_of, name_type
from .markdown import code, page, sentence, table

FOLDER: Final = PluginFolder[Tool]("hermes_acp.tools.builtin", "TOOL")
INTRO: Final = """\
The built-in tools, with the arguments that the model passes. [Tools](../tools.md) explains how they behave, and
[policy](../policy.md) which calls ask first.

*Effects* are all that a tool can have to do with: a call with other effects is refused. *Kind* is what editors
show. A *refundable* call reads or searches only; a step with only such calls
[does not count](../configuration.md#the-budget-of-a-turn)."""


def render() -> str:
    """Return the page."""
    tools = [FOLDER.open(name) for name in FOLDER]
    overview = [(f"[{code(tool.name)}](#{tool.name})", sentence(class_text(type(tool)))) for tool in tools]
    return page("Tools", INTRO, table(("tool", "what it does"), overview), *map(_render, tools))


def _render(tool: Tool) -> str:
    about = tool.tool_metadata
    facts = [
        f"Kind: {tool.kind}.",
        f"Effects: {', '.join(sorted(about.capabilities)) or 'none'}.",
        "Refundable." if about.is_cheap else "",
        f"Calls per step: {about.max_per_step}." if about.max_per_step else "",
    ]
    texts = _texts(tool.arguments) if isinstance(tool.arguments, type) else {}
    rows = [_row(member, texts) for member in members_of(tool.schema().parameters)]
    arguments = table(("argument", "type", "default", "meaning"), rows)
    facts_line = " ".join(filter(None, facts))
    return f"## {code(tool.name)}\n\n{sentence(class_text(type(tool)))}\n\n{facts_line}\n\n{arguments}"


def _texts(model: Any, prefix: str = "") -> dict[str, str]:
    """Return the description of each argument, including those of nested models."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        found = (
            _texts(each, f"{prefix}[]" if get_origin(model) is list else prefix) for each in get_args(model)
        )
        return {name: text for texts in found for name, text in texts.items()}
    own = {f"{prefix}.{name}".strip("."): text for name, text in field_meanings(model).items()}
    for name, field in model.model_fields.items():
        own |= _texts(field.annotation, f"{prefix}.{name}".strip("."))
    return own


def _row(member: Member, texts: dict[str, str]) -> tuple[str, str, str, str]:
    schema = member.schema
    default = code(json.dumps(schema["default"])) if "default" in schema else "none"
    meaning = texts.get(member.name) or sentence(str(schema.get("description", "")))
    if not meaning:
        raise ValueError(f"the argument {member.name} has no description")
    return code(member.name), name_type(schema), "required" if member.is_required else default, meaning
