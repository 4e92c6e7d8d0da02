"""Generate Python and TypeScript for our own methods.

Every object is named after its location: the method, `Params` or `Result`, and the members that lead to it.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

Shape = Mapping[str, Any]
PYTHON: Final = MappingProxyType(
    {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
)
TYPESCRIPT: Final = MappingProxyType(
    {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
)


class Member(Struct, frozen=True):
    """One member of an object."""

    name: str
    shape: Shape
    is_required: bool
    owner: str


class Object(Struct, frozen=True):
    """One object, and its description."""

    name: str
    summary: str
    members: tuple[Member, ...]


def read_objects(schema: Shape) -> tuple[Object, ...]:
    """Return every object of our methods; nested ones come before those that contain them."""
    objects: list[Object] = []
    for method, facts in schema["methods"].items():
        stem = "".join(_capital(word) for word in re.split(r"[/_]", method.removeprefix("_hermes/")))
        for part in ("params", "result"):
            if part in facts:
                summary = f"The {'parameters' if part == 'params' else 'result'} of {method}."
                _collect(f"{stem}{_capital(part)}", facts[part], summary, objects)
    return tuple(objects)


def _collect(name: str, shape: Shape, summary: str, objects: list[Object]) -> None:
    members: list[Member] = []
    for key, member in shape["properties"].items():
        inner = member["items"] if member.get("type") == "array" else member
        if inner.get("type") == "object":
            _collect(_part_name(name, key, member), inner, f"An element of `{key}` in `{name}`.", objects)
        members.append(Member(key, member, key in shape["required"], name))
    objects.append(Object(name, summary, tuple(sorted(members, key=lambda each: not each.is_required))))


def _part_name(owner: str, key: str, shape: Shape) -> str:
    singular = key[:-1] if shape.get("type") == "array" and key.endswith("s") else key
    return f"{owner.removesuffix('Params').removesuffix('Result')}{_capital(singular)}"


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def render_python(schema: Shape) -> str:
    """Generate the Python structs."""
    blocks = "\n\n".join(_python_class(each) for each in read_objects(schema))
    return (
        '"""The wire types of our own methods; generated from schema/hermes.json."""\n\n'
        "from typing import Literal\n\n"
        "from msgspec import UNSET, Struct, UnsetType\n\n\n" + blocks
    )


def _python_class(each: Object) -> str:
    lines = [
        f'class {each.name}(Struct, rename="camel", kw_only=True):',
        f'    """{each.summary}"""',
        *([""] if each.members else []),
    ]
    for member in each.members:
        annotation, default = _python_type(member.shape, member), ""
        if not member.is_required:
            if "default" in member.shape:
                default = f" = {_python_value(member.shape['default'])}"
            else:
                annotation, default = f"{annotation.removesuffix(' | None')} | UnsetType", " = UNSET"
                annotation += " | None" if _is_nullable(member.shape) else ""
        lines.append(f"    {_snake(member.name)}: {annotation}{default}")
    return "\n".join(lines) + "\n"


def _python_value(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _python_type(shape: Shape, member: Member) -> str:
    if "enum" in shape:
        return f"Literal[{', '.join(json.dumps(each) for each in shape['enum'])}]"
    if "const" in shape:
        return f"Literal[{_python_value(shape['const'])}]"
    return " | ".join(_python_kind(kind, shape, member) for kind in _kinds(shape))


def _python_kind(kind: str, shape: Shape, member: Member) -> str:
    match kind:
        case "array":
            return f"list[{_python_type(shape['items'], member)}]"
        case "object":
            return _part_name(member.owner, member.name, member.shape)
        case _:
            return PYTHON[kind]


def _kinds(shape: Shape) -> list[str]:
    found = shape.get("type", [])
    return [found] if isinstance(found, str) else found


def _is_nullable(shape: Shape) -> bool:
    return "null" in _kinds(shape)[1:]


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda match: f"_{match[1].lower()}", name)


def render_typescript(schema: Shape) -> str:
    """Generate the TypeScript interfaces, and the methods by sender."""
    blocks = [_interface(each) for each in read_objects(schema)]
    rows: list[str] = []
    for method, facts in schema["methods"].items():
        stem = "".join(_capital(word) for word in re.split(r"[/_]", method.removeprefix("_hermes/")))
        result = f"{stem}Result" if "result" in facts else "undefined"
        rows.append(f'  "{method}": {{ params: {stem}Params; result: {result} }};')
    return (
        "/** The wire types of our own methods; "
        "generated from protocol/schema/hermes.json by protocol/generate.py. */\n\n"
        + "\n".join(blocks)
        + "\nexport interface OwnMethods {\n"
        + "\n".join(rows)
        + "\n}\n"
    )


def _interface(each: Object) -> str:
    if not each.members:
        return f"/** {each.summary} */\nexport interface {each.name} {{}}\n"
    lines = [f"/** {each.summary} */", f"export interface {each.name} {{"]
    for member in each.members:
        if description := member.shape.get("description"):
            lines.append(f"  /** {description} */")
        mark = "" if member.is_required else "?"
        lines.append(f"  readonly {member.name}{mark}: {_typescript_type(member.shape, member)};")
    return "\n".join([*lines, "}", ""])


def _typescript_type(shape: Shape, member: Member) -> str:
    if "enum" in shape:
        return " | ".join(json.dumps(each) for each in shape["enum"])
    if "const" in shape:
        return json.dumps(shape["const"])
    return " | ".join(_typescript_kind(kind, shape, member) for kind in _kinds(shape))


def _typescript_kind(kind: str, shape: Shape, member: Member) -> str:
    match kind:
        case "array":
            inner = _typescript_type(shape["items"], member)
            plain = f"({inner})" if " | " in inner else inner
            return f"readonly {plain}[]" if not plain.startswith("readonly") else f"readonly ({plain})[]"
        case "object":
            return _part_name(member.owner, member.name, member.shape)
        case _:
            return TYPESCRIPT[kind]
