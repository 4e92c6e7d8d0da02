"""Decode wire objects, first strictly and then with the leniency that the schema requires of a receiver.

A valid frame is decoded once, by a cached decoder. Any other frame is read as plain JSON and repaired: values that the
schema marks lenient are left out, emptied, or stripped of their invalid items; then the frame is decoded again. A null
for a required array becomes an empty array if the schema marks it (`mcpServers`, `args`, `env`, `headers`); an absent
array remains an error. A float without a fraction is read as an integer. Unknown fields are ignored at every depth.
Errors name the location and the expected type, never the value.
"""

from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, TypeVar, Union, cast, get_args, get_origin, get_type_hints, overload

import msgspec
from msgspec import Struct, ValidationError

from hermes_protocol.shapes import ON_ERROR, ON_NULL, SKIP_ITEMS, OpenUnion, required_names

T = TypeVar("T")
JsonObject = dict[str, Any]

_PLACE: Final = " - at `"
_REPEATING: Final = ("Invalid enum value", "Invalid value")
_LEAVE_OUT: Final = object()


@overload
def decode(type_: type[T], data: bytes | msgspec.Raw, *, is_stable: bool = False) -> T: ...
@overload
def decode(type_: UnionType, data: bytes | msgspec.Raw, *, is_stable: bool = False) -> Any: ...
def decode(type_: Any, data: bytes | msgspec.Raw, *, is_stable: bool = False) -> Any:
    """Decode one JSON value, making the repairs that the schema allows.

    `is_stable` leaves out an unstable field of the outermost record if the value would be rejected, because for a peer
    that only speaks the stable schema it is an unknown field, regardless of its value. Raises `msgspec.ValidationError`
    if the value is invalid or nested too deeply, `msgspec.DecodeError` if it is not JSON.
    """
    try:
        try:
            return _decoder(type_).decode(data)
        except ValidationError:
            value = msgspec.json.decode(data)
            return _convert(type_, _repair(type_, _without_unstable(type_, value) if is_stable else value))
    except ValidationError as error:
        message = _describe(str(error))
    except RecursionError:
        message = "Nested too deeply"
    except UnicodeDecodeError:
        raise msgspec.DecodeError("JSON is not valid UTF-8") from None
    raise ValidationError(message) from None


@cache
def _decoder(type_: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(type_, dec_hook=_convert_open)


def _convert(type_: Any, value: object) -> Any:
    return msgspec.convert(value, type_, dec_hook=_convert_open)


def _convert_open(type_: type, value: object) -> Any:
    if not isinstance(type_, OpenUnion):
        raise NotImplementedError(f"{type_.__name__} is not a wire type")
    try:
        return _convert(type_.choose(value), value)
    except ValidationError as error:
        raise ValueError(str(error)) from None  # msgspec adds the outer location only to a plain ValueError


def _without_unstable(type_: Any, value: Any) -> Any:
    unstable: tuple[str, ...] = getattr(type_, "wire_unstable", ())
    if not isinstance(value, dict):
        return value
    return {wire: each for wire, each in cast(JsonObject, value).items() if wire not in unstable}


def _fits(type_: Any, value: object) -> bool:
    try:
        _convert(type_, value)
    except ValidationError:
        return False
    return True


def _describe(report: str) -> str:
    """Rewrite a msgspec report with one location instead of nested ones, and without the value."""
    places: list[str] = []
    while report.endswith("`") and _PLACE in report:
        report, _, place = report.rpartition(_PLACE)
        places.append(place.removesuffix("`").removeprefix("$"))
    for opening in _REPEATING:
        if report.startswith(opening):
            report = opening
    return f"{report}{_PLACE}${''.join(places)}`" if places else report


def _repair(type_: Any, value: Any) -> Any:
    """Copy a plain JSON value, making all the repairs that its type allows."""
    for member in _alternatives(type_):
        if isinstance(member, OpenUnion):
            return _repair_open(member, value)
        if isinstance(value, dict) and _is_record(member) and _has_tag_of(member, cast(JsonObject, value)):
            return _repair_record(member, cast(JsonObject, value))
        arguments = get_args(member)
        if isinstance(value, list) and get_origin(member) is list:
            return [_repair(arguments[0], item) for item in cast(list[Any], value)]
        if isinstance(value, dict) and get_origin(member) is dict and arguments[1] is not Any:
            return {key: _repair(arguments[1], item) for key, item in cast(JsonObject, value).items()}
    return int(value) if isinstance(value, float) and _means_integer(type_, value) else cast(Any, value)


def _means_integer(type_: Any, value: float) -> bool:
    return value.is_integer() and not _fits(type_, value) and _fits(type_, int(value))


def _repair_open(union: OpenUnion, value: Any) -> Any:
    try:
        member = union.choose(value)
    except ValidationError:
        return value
    return _repair(member, value)


def _repair_record(record: type[Struct], value: JsonObject) -> JsonObject:
    repaired = dict(value)
    marks = _marks(record)
    required = required_names(record)
    for wire, type_ in _wire_types(record).items():
        if wire not in value:
            continue
        kept = _repair_field(type_, value[wire], marks.get(wire, 0))
        if kept is not _LEAVE_OUT:
            repaired[wire] = kept
        elif wire in required:
            repaired[wire] = _empty(type_)
        else:
            del repaired[wire]
    return repaired


def _repair_field(type_: Any, value: Any, marks: int) -> Any:
    if value is None and marks & ON_NULL:
        return _LEAVE_OUT
    kept = _repair(type_, value)
    if marks & SKIP_ITEMS and isinstance(kept, list):
        item_type = _item_type(type_)
        kept = [item for item in cast(list[Any], kept) if _fits(item_type, item)]
    if marks & ON_ERROR and not _fits(type_, kept):
        return _LEAVE_OUT
    return kept


def _item_type(type_: Any) -> Any:
    return next(get_args(member)[0] for member in _alternatives(type_) if get_origin(member) is list)


def _empty(type_: Any) -> Any:
    return next(get_origin(member) for member in _alternatives(type_) if get_origin(member) in (list, dict))()


def _alternatives(type_: Any) -> tuple[Any, ...]:
    origin = get_origin(type_)
    if origin is Annotated:
        return _alternatives(get_args(type_)[0])
    if origin is Union or origin is UnionType:
        return tuple(part for member in get_args(type_) for part in _alternatives(member))
    return (type_,)


def _is_record(member: Any) -> bool:
    return isinstance(member, type) and issubclass(member, Struct)


def _has_tag_of(record: type[Struct], value: JsonObject) -> bool:
    config = record.__struct_config__
    return config.tag is None or config.tag_field is None or value.get(config.tag_field) == config.tag


@cache
def _wire_types(record: type[Struct]) -> dict[str, Any]:
    hints = get_type_hints(record, include_extras=True)
    pairs = zip(record.__struct_encode_fields__, record.__struct_fields__, strict=True)
    return {wire: hints[name] for wire, name in pairs}


@cache
def _marks(record: type[Struct]) -> dict[str, int]:
    return {"_meta": ON_ERROR, **dict(getattr(record, "wire_marks", ()))}
