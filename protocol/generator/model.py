"""A protocol version as types, independent of JSON Schema and of any output language."""

from enum import IntFlag

from msgspec import Struct


class Marks(IntFlag):
    """How a receiver may treat an invalid field."""

    NONE = 0
    DEFAULT_ON_ERROR = 1
    SKIP_INVALID_ITEMS = 2
    DEFAULT_ON_NULL = 4


class Anything(Struct, frozen=True):
    """Any JSON value."""


class Null(Struct, frozen=True):
    """JSON null."""


class Primitive(Struct, frozen=True):
    """A string, boolean, number or integer, with its format and any bounds narrower than the format's."""

    kind: str
    format: str | None = None
    min_length: int | None = None
    minimum: int | None = None
    maximum: int | None = None


class Literals(Struct, frozen=True):
    """A closed set of strings or integers."""

    values: tuple[str | int, ...]


class OpenLiterals(Struct, frozen=True):
    """A set of known values, to which a peer may add others."""

    values: tuple[str | int, ...]
    primitive: Primitive


class Reference(Struct, frozen=True):
    """A reference to another definition, by name."""

    name: str


class Array(Struct, frozen=True):
    """A list of one type, possibly with a minimum length."""

    item: "Shape"
    min_items: int | None = None


class Table(Struct, frozen=True):
    """An object with arbitrary keys and values of one type."""

    value: "Shape"


class Choice(Struct, frozen=True):
    """One of several types that can be distinguished by their values."""

    members: tuple["Shape", ...]


Shape = Anything | Null | Primitive | Literals | OpenLiterals | Reference | Array | Table | Choice


class Field(Struct, frozen=True, kw_only=True):
    """One property of a record."""

    wire: str
    shape: Shape
    required: bool
    marks: Marks


class Record(Struct, frozen=True, kw_only=True):
    """An object.

    `any_of` lists the fields of which at least one must be present, and `constants` the fields other than the tag that
    have a single value.
    """

    name: str
    fields: tuple[Field, ...]
    parent: str | None = None
    tag_field: str | None = None
    tag: str | None = None
    any_of: tuple[str, ...] = ()
    constants: tuple[tuple[str, str], ...] = ()


class Union(Struct, frozen=True, kw_only=True):
    """A definition with several variants; it is `open` if some variant has no tag of its own."""

    name: str
    members: tuple[Shape, ...]
    open: bool


class Alias(Struct, frozen=True, kw_only=True):
    """Another name for a type."""

    name: str
    shape: Shape


Definition = Record | Union | Alias


class MethodRow(Struct, frozen=True, kw_only=True):
    """One wire method; without a `result`, it is a notification.

    A name that is both a request and a notification has a row for each.
    """

    name: str
    key: str
    side: str
    params: str
    result: str | None


class Protocol(Struct, frozen=True, kw_only=True):
    """One version, with definitions in dependency order and methods in the schema's order."""

    definitions: tuple[Definition, ...]
    methods: tuple[MethodRow, ...]


def names_used(definition: Definition) -> list[str]:
    """Return the names of the definitions that must precede this one."""
    if isinstance(definition, Alias):
        return _names_in(definition.shape)
    if isinstance(definition, Union):
        return [name for member in definition.members for name in _names_in(member)]
    parents = [definition.parent] if definition.parent else []
    return parents + [name for field in definition.fields for name in _names_in(field.shape)]


def _names_in(shape: Shape) -> list[str]:
    match shape:
        case Reference(name):
            return [name]
        case Array(item=inner) | Table(inner):
            return _names_in(inner)
        case Choice(members):
            return [name for member in members for name in _names_in(member)]
        case _:
            return []
