"""Check the arguments of a deferred tool, whose schema the model may not have read.

Only properties that can be checked quickly and reliably are checked: types, required and unknown names, and allowed
values. Patterns and combined schemas are left to the server. Source: JSON Schema 2020-12.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, cast

MAX_DEPTH: Final = 16
MAX_ITEMS: Final = 200
_TYPES: Final[Mapping[str, tuple[type, ...]]] = MappingProxyType(
    {
        "string": (str,),
        "integer": (int,),
        "number": (int, float),
        "boolean": (bool,),
        "object": (dict,),
        "array": (list,),
        "null": (type(None),),
    }
)
_COMBINED: Final = frozenset({"$ref", "anyOf", "oneOf", "allOf", "not", "if", "$dynamicRef"})


def argument_mistakes(schema: Mapping[str, object], arguments: Mapping[str, object]) -> Iterator[str]:
    """Yield a description of each mistake in the arguments."""
    yield from _mistakes(schema, arguments, "arguments", 0)


def _mistakes(schema: object, value: object, place: str, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return
    facts = cast("dict[str, object]", schema)
    if not _COMBINED.isdisjoint(facts):
        return
    expected = _expected_types(facts.get("type"))
    if expected and not any(_is_of(value, each) for each in expected):
        yield f"{place} must be {' or '.join(expected)}"
        return
    allowed = facts.get("enum")
    if isinstance(allowed, list) and value not in cast("list[object]", allowed):
        yield f"{place} must be one of {', '.join(map(repr, cast('list[object]', allowed)[:10]))}"
    if isinstance(value, dict):
        yield from _object_mistakes(facts, cast("dict[str, object]", value), place, depth)
    elif isinstance(value, list):
        for number, each in enumerate(cast("list[object]", value)[:MAX_ITEMS]):
            yield from _mistakes(facts.get("items"), each, f"{place}[{number}]", depth + 1)


def _object_mistakes(
    facts: Mapping[str, object], value: Mapping[str, object], place: str, depth: int
) -> Iterator[str]:
    known = facts.get("properties")
    properties = cast("dict[str, object]", known) if isinstance(known, dict) else {}
    required = facts.get("required")
    for name in cast("list[object]", required) if isinstance(required, list) else ():
        if isinstance(name, str) and name not in value:
            yield f"{place}.{name} is missing"
    is_closed = facts.get("additionalProperties") is False and "patternProperties" not in facts
    for name, each in value.items():
        if name in properties:
            yield from _mistakes(properties[name], each, f"{place}.{name}", depth + 1)
        elif is_closed:
            yield f"{place}.{name} is not a parameter"


def _expected_types(written: object) -> list[str]:
    """Return the types that a schema names, or none if it names an unknown one."""
    named = cast("list[object]", written) if isinstance(written, list) else [written]
    known = [each for each in named if isinstance(each, str) and each in _TYPES]
    return known if len(known) == len(named) else []


def _is_of(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])
