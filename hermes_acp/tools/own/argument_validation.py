"""Validate the arguments of a call against the schema of its tool."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

KINDS: Final = MappingProxyType[str, tuple[type, ...]](
    {
        "string": (str,),
        "integer": (int,),
        "number": (int, float),
        "boolean": (bool,),
        "array": (list,),
        "object": (dict,),
        "null": (type(None),),
    }
)
MAX_DEPTH: Final = 20


def validation_errors(
    value: Any, schema: Mapping[str, Any], place: str = "", depth: int = 0
) -> Iterator[str]:
    """Yield what does not fit, each with its place."""
    name = place or "the arguments"
    if depth > MAX_DEPTH:
        return
    if (kind := schema.get("type")) is not None and not _is_of(value, kind):
        yield f"{name} must be {_kind_in_words(kind)}"
        return
    if isinstance(choices := schema.get("enum"), list) and value not in choices:
        yield f"{name} must be one of {', '.join(repr(each) for each in cast('list[Any]', choices))}"
    if isinstance(ways := schema.get("anyOf"), list):
        found = [
            list(validation_errors(value, way, place, depth + 1))
            for way in cast("list[Any]", ways)
            if _is_schema(way)
        ]
        if found and all(found):
            yield f"{name} matches none of the {len(found)} kinds it may have"
    if isinstance(value, list) and isinstance(inner := schema.get("items"), dict):
        for number, each in enumerate(cast("list[Any]", value)):
            yield from validation_errors(each, cast("dict[str, Any]", inner), f"{place}[{number}]", depth + 1)
    if isinstance(value, dict):
        yield from _mistakes_in_object(cast("dict[str, Any]", value), schema, place, depth)


def _mistakes_in_object(
    value: dict[str, Any], schema: Mapping[str, Any], place: str, depth: int
) -> Iterator[str]:
    properties = cast("dict[str, Any]", schema.get("properties") or {})
    for name in cast("list[str]", schema.get("required") or []):
        if name not in value:
            yield f"{_inner(place, name)} is missing"
    others = schema.get("additionalProperties", place != "")
    for name, each in value.items():
        wanted = properties.get(name, others)
        if _is_schema(wanted):
            yield from validation_errors(each, wanted, _inner(place, name), depth + 1)
        elif wanted is False:
            yield f"there is no {_inner(place, name)}"


def _is_schema(value: object) -> bool:
    return isinstance(value, dict)


def _inner(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _is_of(value: Any, kind: Any) -> bool:
    kinds = cast("list[Any]", kind) if isinstance(kind, list) else [kind]
    return any(_is_of_one(value, each) for each in kinds)


def _is_of_one(value: Any, kind: Any) -> bool:
    types = KINDS.get(kind) if isinstance(kind, str) else None
    if types is None:
        return True
    return isinstance(value, types) and (not isinstance(value, bool) or kind == "boolean")


def _kind_in_words(kind: Any) -> str:
    return (
        " or ".join(str(each) for each in cast("list[Any]", kind))
        if isinstance(kind, list)
        else f"of type {kind}"
    )
