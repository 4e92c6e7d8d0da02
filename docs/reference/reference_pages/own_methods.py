"""The page of the methods beyond the protocol, from their schema."""

import json
from pathlib import Path
from typing import Final, cast

from .json_schemas import Member, Schema, members_of, name_type
from .markdown import code, page, sentence, table

SCHEMA: Final = Path(__file__).parents[3] / "protocol" / "schema" / "hermes.json"
INTRO: Final = """\
hermes-acp adds these methods to the Agent Client Protocol. Their names start with `_hermes/`. It also adds members to
`_meta.hermes` of the protocol's own messages. All of it is optional: a client that announces none of it gets the plain
protocol. *Needs* is the capability that must be announced first."""
PARTS: Final = (("Parameters", "params"), ("Result", "result"))


def render() -> str:
    """Return the page."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    methods = [_method(name, each) for name, each in schema["methods"].items()]
    rows = [
        (code(name), name_type(each), ", ".join(map(code, each["in"])), each["sentBy"], each["description"])
        for name, each in schema["meta"].items()
    ]
    members = table(("member", "type", "in", "sent by", "meaning"), rows)
    return page("Methods beyond ACP", INTRO, *methods, "## Members of `_meta`", members)


def _method(name: str, method: Schema) -> str:
    kind = method.get("kind", "request")
    facts = f"A {kind} sent by the {method['sentBy']}. Needs `{method['needs']}`."
    shapes = ((title, cast("Schema", method[key])) for title, key in PARTS if key in method)
    tables = (f"{title}:\n\n{_members(shape)}" for title, shape in shapes if shape.get("properties"))
    return "\n\n".join((f"## {code(name)}", sentence(method["description"]), facts, *tables))


def _members(schema: Schema) -> str:
    rows = [
        (
            code(each.name),
            name_type(each.schema),
            _default(each),
            sentence(each.schema.get("description", "")),
        )
        for each in members_of(schema)
    ]
    return table(("name", "type", "default", "meaning"), rows)


def _default(member: Member) -> str:
    if member.is_required:
        return "required"
    return code(json.dumps(member.schema["default"])) if "default" in member.schema else "none"
