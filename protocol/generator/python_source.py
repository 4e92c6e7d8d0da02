"""Generate Python for a protocol version."""

import keyword
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import structs

from generator.model import (
    Alias,
    Anything,
    Array,
    Choice,
    Definition,
    Field,
    Literals,
    Marks,
    Null,
    OpenLiterals,
    Primitive,
    Protocol,
    Record,
    Reference,
    Shape,
    Table,
    Union,
    names_used,
)
from generator.pinning import Pin
from generator.stability import Stability

WIDTH: Final = 110
SCALARS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = MappingProxyType(
    {
        "int32": ("Int32", {"ge": "-(2**31)", "le": "2**31 - 1"}),
        "int64": ("Int64", {"ge": "-(2**63)", "le": "2**63 - 1"}),
        "uint16": ("UInt16", {"ge": "0", "le": "2**16 - 1"}),
        "uint32": ("UInt32", {"ge": "0", "le": "2**32 - 1"}),
        "uint64": ("UInt64", {"ge": "0"}),
    }
)
PRIMITIVES: Final = MappingProxyType(
    {"string": "str", "boolean": "bool", "number": "float", "integer": "int"}
)
MARK_NAMES: Final = (
    (Marks.DEFAULT_ON_ERROR, "ON_ERROR"),
    (Marks.SKIP_INVALID_ITEMS, "SKIP_ITEMS"),
    (Marks.DEFAULT_ON_NULL, "ON_NULL"),
)
BUILTINS_USED: Final = frozenset({"bool", "dict", "float", "int", "list", "str"})


class NameClashError(Exception):
    """Two names in the schema would become the same Python name."""


def render_types(protocol: Protocol, stability: Stability, pin: Pin, name: str) -> str:
    """Generate the module with one class or alias per definition."""
    wire_names = _wire_names(protocol)
    done: set[str] = set()
    blocks: list[str] = []
    for definition in protocol.definitions:
        blocks.append(_definition(definition, done, stability))
        done.add(definition.name)
    names = "".join(
        f'        "{python}": "{wire}",\n' for python, wire in sorted(wire_names.items()) if python != wire
    )
    unstable = "".join(f'        "{each}",\n' for each in sorted(stability.names))
    scalars = "\n".join(
        f"{alias}: TypeAlias = {_annotated('int', limits)}" for alias, limits in SCALARS.values()
    )
    return (
        f'"""The wire types of protocol {name}; those in `UNSTABLE` are not in its stable schema.\n\n'
        f"{_provenance(pin)}\n"
        '"""\n\n'
        "from types import MappingProxyType\n"
        "from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias\n\n"
        "from msgspec import UNSET, Meta, UnsetType\n\n"
        "from hermes_protocol.shapes import "
        "ON_ERROR, ON_NULL, SKIP_ITEMS, OpenUnion, WireRecord, require_any\n\n"
        f'SCHEMA_SHA256: Final = "{pin.schema_sha256}"\n'
        f"WIRE_NAMES: Final = MappingProxyType(\n    {{\n{names}    }}\n)\n"
        f"UNSTABLE: Final = frozenset(\n    (\n{unstable}    )\n)\n\n"
        f"{scalars}\n\n\n"
        "class Record(WireRecord, frozen=True, rename=WIRE_NAMES):\n"
        '    """An object of this version, with its fields under their wire names."""\n\n\n' + _joined(blocks)
    )


def render_methods(protocol: Protocol, stability: Stability, pin: Pin, name: str) -> str:
    """Generate the method table."""
    rows: dict[str, list[str]] = {"requests": [], "notifications": []}
    asked = {row.name for row in protocol.methods if row.result}
    for row in protocol.methods:
        arguments = [f'"{row.name}"', f'"{row.key}"', f'"{row.side}"', f"{name}.{row.params}"]
        if row.result:
            arguments.append(f"{name}.{row.result}")
        if row.name in stability.methods:
            arguments.append("is_unstable=True")
        is_second = row.result is None and row.name in asked
        rows["notifications" if is_second else "requests"].append(_wrapped(4, "Method(", arguments, "),"))
    return (
        f'"""The methods of protocol {name}: which side serves each, and the types of its parameters and result.\n\n'
        f"{_provenance(pin)}\n"
        "`ALSO_NOTIFIED` holds the notifications that share their name with a request.\n"
        '"""\n\n'
        "from collections.abc import Mapping\n"
        "from types import MappingProxyType\n"
        "from typing import Final\n\n"
        f"from hermes_protocol import {name}\n"
        "from hermes_protocol.shapes import Method\n\n"
        '__all__ = ["ALSO_NOTIFIED", "METHODS", "Method"]\n\n'
        "_ROWS: Final = (\n" + "\n".join(rows["requests"]) + "\n)\n"
        "_SECOND_ROWS: Final = (\n" + "\n".join(rows["notifications"]) + "\n)\n"
        "METHODS: Final[Mapping[str, Method]] = MappingProxyType({row.name: row for row in _ROWS})\n"
        "ALSO_NOTIFIED: Final[Mapping[str, Method]] = MappingProxyType({row.name: row for row in _SECOND_ROWS})\n"
    )


def python_name(wire: str) -> str:
    """Convert a wire name to a Python field name."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", wire).lower().strip("_")
    return f"{name}_" if keyword.iskeyword(name) else name


def _provenance(pin: Pin) -> str:
    return (
        "Generated by `python protocol/generate.py`; do not edit.\n"
        f"Source: {pin.package} {pin.version} ({pin.licence}), {pin.path},\n"
        f"pinned as protocol/{pin.schema}."
    )


def _joined(blocks: list[str]) -> str:
    """Join definitions with two blank lines around classes and none between one-line aliases."""
    text = ""
    previous_is_line = False
    for block in blocks:
        is_line = not block.startswith(("class ", "if "))
        if text:
            text += "\n" if is_line and previous_is_line else "\n\n\n"
        text += block
        previous_is_line = is_line
    return text + "\n"


def _definition(definition: Definition, done: set[str], stability: Stability) -> str:
    match definition:
        case Record():
            return _record(definition, done, stability.fields.get(definition.name, ()))
        case Union():
            return _union(definition)
        case Alias():
            return _alias(definition)


def _record(record: Record, done: set[str], unstable: tuple[str, ...]) -> str:
    bases = [record.parent or "Record", "frozen=True", "kw_only=True"]
    if record.tag_field:
        bases += [f'tag_field="{record.tag_field}"', f'tag="{record.tag}"']
    facts: list[str] = []
    sections: list[str] = []
    marked = [field for field in record.fields if field.marks and field.wire != "_meta"]
    if marked:
        facts.append(_wrapped(4, "wire_marks = (", [_mark(field) for field in marked], ")", one_tuple=True))
    if unstable:
        names = [f'"{wire}"' for wire in unstable]
        facts.append(_wrapped(4, "wire_unstable = (", names, ")", one_tuple=True))
    if record.constants:
        pairs = [f'("{wire}", "{value}")' for wire, value in record.constants]
        facts.append(_wrapped(4, "wire_constants = (", pairs, ")", one_tuple=True))
    if facts:
        sections.append("\n".join(facts))
    waits = not done.issuperset(names_used(record))
    fields = [_field(field, done if waits else None) for field in record.fields]
    fields += [f'    {python_name(wire)}: Literal["{value}"] = "{value}"' for wire, value in record.constants]
    _refuse_shadowing(record)
    if fields:
        sections.append("\n".join(fields))
    if record.any_of:
        names = ", ".join(f'"{python_name(wire)}"' for wire in record.any_of)
        sections.append(f"    def __post_init__(self) -> None:\n        require_any(self, {names})")
    head = _wrapped(0, f"class {record.name}(", bases, "):")
    return head + "\n" + ("\n\n".join(sections) or "    pass")


def _refuse_shadowing(record: Record) -> None:
    names = {python_name(field.wire) for field in record.fields} & BUILTINS_USED
    annotations = " ".join(_shape(field.shape) for field in record.fields)
    if clash := [name for name in names if re.search(rf"\b{name}\b", annotations)]:
        raise NameClashError(f"{record.name}: the fields {clash} hide the builtins its annotations use")


def _mark(field: Field) -> str:
    names = " | ".join(name for mark, name in MARK_NAMES if mark in field.marks)
    return f'("{field.wire}", {names})'


def _field(field: Field, done: set[str] | None) -> str:
    parts = _members(_enforced(field))
    if not field.required and parts != ["Any"]:
        parts.insert(len(parts) - (parts[-1] == "None"), "UnsetType")
    annotation = " | ".join(parts)
    if done is not None:
        annotation = f'"{annotation}"'
    name = python_name(field.wire)
    return f"    {name}: {annotation}" + ("" if field.required else " = UNSET")


def _enforced(field: Field) -> Shape:
    """Keep a minimum length only where a receiver rejects invalid values; salvage would empty the list instead."""
    shape = field.shape
    if isinstance(shape, Choice):
        return Choice(tuple(_enforced(structs.replace(field, shape=member)) for member in shape.members))
    if isinstance(shape, Array) and field.marks:
        return Array(shape.item)
    return shape


def _union(union: Union) -> str:
    members = [
        _shape(Array(member.item) if isinstance(member, Array) else member) for member in union.members
    ]
    if not union.open:
        return _piped(0, f"{union.name}: TypeAlias = ", members)
    return f"if TYPE_CHECKING:\n{_piped(4, f'{union.name}: TypeAlias = ', members)}\nelse:\n" + _wrapped(
        4, f"{union.name} = OpenUnion(", [f'"{union.name}"', *members], ")"
    )


def _alias(alias: Alias) -> str:
    shape = alias.shape
    if isinstance(shape, Literals):
        return _literals(alias.name, shape)
    line = _piped(0, f"{alias.name}: TypeAlias = ", _members(shape))
    if isinstance(shape, OpenLiterals):
        constant = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", alias.name).upper() + "_VALUES"
        values = [_literal(value) for value in shape.values]
        return line + "\n" + _wrapped(0, f"{constant}: Final = (", values, ")", one_tuple=True)
    return line


def _literals(name: str, shape: Literals) -> str:
    return _wrapped(0, f"{name}: TypeAlias = Literal[", [_literal(value) for value in shape.values], "]")


def _literal(value: str | int) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _members(shape: Shape) -> list[str]:
    if isinstance(shape, Choice):
        members = [part for member in shape.members for part in _members(member)]
        return [part for part in members if part != "None"] + ["None"] * ("None" in members)
    return [_shape(shape)]


def _shape(shape: Shape) -> str:
    match shape:
        case Anything():
            return "Any"
        case Null():
            return "None"
        case Primitive():
            return _primitive(shape)
        case Literals(values):
            return f"Literal[{', '.join(map(_literal, values))}]"
        case OpenLiterals():
            return _primitive(shape.primitive)
        case Reference(name):
            return name
        case Array(item, min_items):
            plain = f"list[{_shape(item)}]"
            return f"Annotated[{plain}, Meta(min_length={min_items})]" if min_items else plain
        case Table(value):
            return f"dict[str, {_shape(value)}]"
        case Choice():
            return " | ".join(_members(shape))


def _primitive(shape: Primitive) -> str:
    if shape.min_length:
        return f"Annotated[str, Meta(min_length={shape.min_length})]"
    name = PRIMITIVES[shape.kind]
    limits: Mapping[str, str] = {}
    if shape.kind == "integer" and shape.format:
        name, limits = SCALARS[shape.format]
    own = {"ge": shape.minimum, "le": shape.maximum}
    if narrowed := {key: str(bound) for key, bound in own.items() if bound is not None}:
        return _annotated(PRIMITIVES[shape.kind], {**limits, **narrowed})
    return name


def _annotated(type_: str, limits: Mapping[str, str]) -> str:
    return f"Annotated[{type_}, Meta({', '.join(f'{key}={bound}' for key, bound in limits.items())})]"


def _wire_names(protocol: Protocol) -> dict[str, str]:
    names: dict[str, str] = {}
    for definition in protocol.definitions:
        for field in definition.fields if isinstance(definition, Record) else ():
            if names.setdefault(python_name(field.wire), field.wire) != field.wire:
                raise NameClashError(
                    f"{field.wire} and {names[python_name(field.wire)]} are one name in Python"
                )
    return names


def _wrapped(indent: int, head: str, items: list[str], tail: str, *, one_tuple: bool = False) -> str:
    """Format a bracketed list on one line if it fits, else with one item per line."""
    margin = " " * indent
    comma = "," if one_tuple and len(items) == 1 else ""
    line = margin + head + ", ".join(items) + comma + tail
    if len(line) <= WIDTH:
        return line
    return f"{margin}{head}\n" + "".join(f"{margin}    {item},\n" for item in items) + f"{margin}{tail}"


def _piped(indent: int, head: str, members: list[str]) -> str:
    margin = " " * indent
    line = margin + head + " | ".join(members)
    if len(line) <= WIDTH:
        return line
    lines = " | ".join(members)
    if indent + 4 + len(lines) > WIDTH:
        lines = f"\n{margin}    | ".join(members)
    return f"{margin}{head}(\n{margin}    {lines}\n{margin})"
