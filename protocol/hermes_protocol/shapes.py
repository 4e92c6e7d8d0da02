"""Building blocks of the generated protocol modules: open unions, leniency marks, method table rows."""

from typing import Any, ClassVar, Final, Literal, cast

from msgspec import NODEFAULT, Struct, ValidationError
from msgspec.structs import StructConfig

ON_ERROR: Final = 1
SKIP_ITEMS: Final = 2
ON_NULL: Final = 4


class WireRecord(Struct, frozen=True):
    """An object of the protocol.

    `wire_marks` pairs a wire name with how a receiver may treat its value: `ON_ERROR` (leave out an invalid value, or
    empty it if required), `SKIP_ITEMS` (leave out invalid items), `ON_NULL`
    (read null as left out or empty).
    `_meta` is `ON_ERROR` everywhere and not listed.
    `wire_unstable` lists the wire names that only the unstable schema contains; a wholly unstable record is in its
    module's `UNSTABLE`. `wire_constants` pairs each name that has a single value, except the tag, with that value.
    """

    wire_marks: ClassVar[tuple[tuple[str, int], ...]] = ()
    wire_unstable: ClassVar[tuple[str, ...]] = ()
    wire_constants: ClassVar[tuple[tuple[str, str], ...]] = ()


class Method(Struct, frozen=True):
    """A wire method: the side that serves it, its parameters and its result.

    Without a `result`, it is a notification.
    """

    name: str
    key: str
    side: Literal["agent", "client", "both", "proxy"]
    params: Any
    result: Any = None
    is_unstable: bool = False


class OpenUnion(type):
    """A union in which some variant has no tag, so its members must be identified by their content.

    To a type checker, the name is the plain union of its members; at run time, it is a class that
    `isinstance` understands and `salvage` decodes.
    """

    members: tuple[Any, ...]

    def __new__(cls, name: str, *_members: Any) -> "OpenUnion":
        """Create the union; members are records or `list[record]`, in the order in which they are tried."""
        return super().__new__(cls, name, (), {"__slots__": ()})

    def __init__(cls, name: str, *members: Any) -> None:
        super().__init__(name, (), {})
        cls.members = members

    def __instancecheck__(cls, instance: object) -> bool:
        return any(isinstance(instance, getattr(member, "__origin__", member)) for member in cls.members)

    def choose(cls, value: object) -> Any:
        """Return the member that a plain JSON value represents. Raises `msgspec.ValidationError`."""
        for member in cls.members:
            if _fits(member, value):
                return member
        plain = [member for member in cls.members if not _is_tagged(member)]
        if len(plain) == 1 and isinstance(value, dict):
            return plain[0]
        raise ValidationError(f"Expected one of the variants of `{cls.__name__}`")


def required_names(record: type[Struct]) -> frozenset[str]:
    """Return a record's required wire names, except its tag."""
    names = record.__struct_encode_fields__
    return frozenset(
        name for name, default in zip(names, _defaults(record), strict=True) if default is NODEFAULT
    )


def require_any(record: Struct, *fields: str) -> None:
    """Raise ValueError unless at least one of the optional fields is set."""
    if not any(field_is_set(record, field) for field in fields):
        raise ValueError(f"Object is missing one of {', '.join(fields)}")


def field_is_set(record: Struct, field: str) -> bool:
    """Return whether a field is present, even if it is null."""
    defaults = dict(zip(record.__struct_fields__, _defaults(type(record)), strict=True))
    return getattr(record, field) is not defaults[field]


def _defaults(record: type[Struct]) -> tuple[Any, ...]:
    given = record.__struct_defaults__
    return (NODEFAULT,) * (len(record.__struct_fields__) - len(given)) + given


def _is_tagged(member: Any) -> bool:
    config: StructConfig | None = getattr(member, "__struct_config__", None)
    return config is not None and config.tag is not None


def _fits(member: Any, value: Any) -> bool:
    if arguments := getattr(member, "__args__", None):
        return isinstance(value, list) and (not value or _fits(arguments[0], cast(list[Any], value)[0]))
    if not isinstance(value, dict):
        return False
    fields = cast(dict[str, Any], value)
    config: StructConfig = member.__struct_config__
    if config.tag is not None and fields.get(config.tag_field or "") != config.tag:
        return False
    constants: tuple[tuple[str, str], ...] = getattr(member, "wire_constants", ())
    if config.tag is not None and constants:
        return all(fields.get(wire) == value for wire, value in constants)
    if config.tag is not None:
        return True
    return required_names(member) <= fields.keys()
