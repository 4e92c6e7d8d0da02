"""The page of all settings, from the models that check them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast, get_args, get_origin

from pydantic import BaseModel

from hermes_acp.config.provider_presets import presets
from hermes_acp.config.sections.rule_settings import RuleSettings
from hermes_acp.config.settings import Settings
from hermes_acp.config.settings_section import Section, field_meanings

from .docstrings import class_text
from .json_schemas import Schema, name_type
from .markdown import code, page, sentence, table

INTRO: Final = """\
Settings are in `config.yaml` in the home folder, `~/.hermes`. [Configuration](../configuration.md) explains
how to use them. An unknown or invalid setting is an error that names it."""
PROVIDERS: Final = """\
Values of `provider`, and names below `providers`. The key comes from the environment or from `.env`."""
GUIDES: Final[Mapping[str, str]] = MappingProxyType({
    "": "[Rules](../policy.md#rules) and [modes](../policy.md#modes) are explained in the guide to policy.",
    "questions": "[Policy](../policy.md)",
    "providers": "[Configuration](../configuration.md#borrowed-keys)",
    "models": "[Configuration](../configuration.md#prices-windows-and-reasoning)",
    "fallbacks": "[Configuration](../configuration.md#several-models-and-keys)",
    "retry": "[Configuration](../configuration.md#several-models-and-keys)",
    "budget": "[Configuration](../configuration.md#the-budget-of-a-turn)",
    "compaction": "[Configuration](../configuration.md#long-conversations)",
    "delegation": "[Configuration](../configuration.md#child-agents)",
    "mcp_servers": "[Configuration](../configuration.md#mcp-servers)",
    "hooks": "[Hooks](../hooks.md)",
    "daytona": "[Backends](../backends.md)",
    "docker": "[Backends](../backends.md)",
    "modal": "[Backends](../backends.md)",
    "singularity": "[Backends](../backends.md)",
    "ssh": "[Backends](../backends.md)",
    "vercel": "[Backends](../backends.md)",
    "web": "[Web](../web.md)",
    "browser": "[Web](../web.md#browser)",
    "sandbox": "[Sandbox](../sandbox.md)",
    "checkpoints": "[Checkpoints](../checkpoints.md)",
    "memory": "[Memory](../memory.md)",
    "skills": "[Skills](../skills.md)",
    "recall": "[Recall](../recall.md)",
})  # fmt: skip


class Part(NamedTuple):
    """One section: where it is in the file, and the model that checks it."""

    name: str
    model: type[BaseModel]


def render() -> str:
    """Return the page."""
    parts = (Part("", Settings), *_sections(Settings, ""))
    return page("Settings", INTRO, *map(_render_part, parts), _render_providers())


def _sections(model: type[BaseModel], prefix: str) -> Iterator[Part]:
    """Yield the sections below a model, outer ones first."""
    for name, field in model.model_fields.items():
        inner, marks = _section_in(field.annotation), _marks(field.annotation)
        if inner and inner is not RuleSettings:
            yield Part(f"{prefix}{name}{marks}", inner)
            yield from _sections(inner, f"{prefix}{name}{marks}.")


def _section_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and not get_origin(annotation):
        return annotation
    found = (_section_in(each) for each in get_args(annotation))
    return next((each for each in found if each), None)


def _marks(annotation: Any) -> str:
    return {dict: ".<name>", tuple: "[]"}.get(cast("type", get_origin(annotation)), "")


def _render_part(part: Part) -> str:
    bases = (each for each in reversed(part.model.__mro__) if issubclass(each, Section))
    texts = {name: text for each in bases for name, text in field_meanings(each).items()}
    properties = cast("dict[str, Schema]", part.model.model_json_schema()["properties"])
    rows: list[Sequence[str]] = []
    prefix = f"{part.name}." if part.name else ""
    for name, field in part.model.model_fields.items():
        section = _section_in(field.annotation)
        if name not in texts and section:
            continue
        if name not in texts:
            raise ValueError(f"{part.model.__name__}.{name} has no description below it")
        default = (
            "required" if field.is_required() else _default(field.get_default(call_default_factory=True))
        )
        kind = "see below" if section and section is not RuleSettings else _kind(properties[name], default)
        kind = "list of rules" if section is RuleSettings else kind
        rows.append((code(f"{prefix}{name}"), kind, default, texts[name]))
    guide = GUIDES.get(part.name.partition(".")[0].removesuffix("[]"), "")
    heading = f"## {code(part.name)}" if part.name else "## Top level"
    about = sentence(class_text(part.model)) if part.name else ""
    more = f"Guide: {guide}." if guide.startswith("[") and part.name else guide
    return "\n\n".join(filter(None, (heading, f"{about} {more}".strip(), _rows(rows))))


def _rows(rows: list[Sequence[str]]) -> str:
    return table(("setting", "type", "default", "meaning"), rows)


def _kind(schema: Schema, default: str) -> str:
    """Return the type; that an unset value is null needs no mention."""
    kind = name_type(schema)
    return kind.removesuffix(" or null") if default == "none" else kind


def _default(value: object) -> str:
    if value is None:
        return "none"
    return code(value if isinstance(value, str) and value else json.dumps(value))


def _render_providers() -> str:
    rows = [
        (
            code(name),
            preset.label,
            code(preset.base_url),
            " or ".join(map(code, preset.key_variables))
            or ("[borrowed](../configuration.md#borrowed-keys)" if preset.lender else "none"),
        )
        for name, preset in presets().items()
    ]
    return f"## Providers\n\n{PROVIDERS}\n\n{table(('provider', 'name', 'address', 'key'), rows)}"
