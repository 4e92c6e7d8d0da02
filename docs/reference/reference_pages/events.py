"""The page of all events, from the types that transcripts are written with."""

from typing import Any, Final, cast, get_args

import msgspec

from hermes_acp.core.events import Event

from .docstrings import class_text
from .json_schemas import Schema, name_type
from .markdown import code, page, table

INTRO: Final = """\
These are the lines of a session's transcript and of `hermes-acp run --output-format stream-json`. Every line is one
JSON object, and `type` names the event. An event is on disk before it is printed. The last line of `stream-json` is a
[`result`](../headless.md#the-last-line-result).

Fields with a default can be missing. Later versions can add fields and types; ignore what you do not know."""


def render() -> str:
    """Return the page."""
    classes = cast("tuple[type, ...]", get_args(Event))
    _, components = msgspec.json.schema_components(classes, schema_hook=_any)
    events = [_render(f"## {code(_tag(each))}", each, components) for each in classes]
    named = {each.__name__: each for each in classes}
    rest = {name: each for name, each in components.items() if name not in named and "properties" in each}
    types = [_render_type(name, each, components) for name, each in sorted(rest.items())]
    return page("Events", INTRO, *events, "## Types", *types)


def _any(cls: type) -> dict[str, Any]:
    """Return the schema of what may be any JSON, such as a call's raw input."""
    return {"type": "any"}


def _tag(event: type) -> str:
    info = msgspec.inspect.type_info(event)
    assert isinstance(info, msgspec.inspect.StructType), "events are structs"
    return str(info.tag)


def _render(heading: str, event: type, components: dict[str, Any]) -> str:
    return f"{heading}\n\n{class_text(event)}\n\n{_fields(components[event.__name__], components)}"


def _render_type(name: str, schema: Schema, components: dict[str, Any]) -> str:
    about = " ".join(str(schema.get("description", "")).split())
    return f"### {name}\n\n{about}\n\n{_fields(schema, components)}"


def _fields(schema: Schema, components: dict[str, Any]) -> str:
    required = cast("list[str]", schema.get("required", []))
    rows = [
        (
            code(name),
            _kind(each, components),
            "" if name in required else code(msgspec.json.encode(each.get("default")).decode()),
        )
        for name, each in cast("dict[str, Schema]", schema["properties"]).items()
        if not _is_tag(name, each)
    ]
    return table(("field", "type", "default"), rows)


def _kind(schema: Schema, components: dict[str, Any]) -> str:
    """Return the type of a field; where any event is possible, the events are not listed again."""
    is_event = len(schema.get("anyOf", ())) == len(get_args(Event))
    return "any event" if is_event else name_type(schema, components)


def _is_tag(name: str, schema: Schema) -> bool:
    """Return whether a member is only the name of an event, which its heading says."""
    return name == "type" and len(schema.get("enum", ())) == 1 and "_" in schema["enum"][0]
