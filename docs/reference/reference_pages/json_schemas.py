"""Describe JSON Schemas in words: `integer, 1 to 10`."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

Schema = Mapping[str, Any]
BOUNDS: Final = (
    ("minimum", "exclusiveMinimum", "maximum", ""),
    ("minLength", "", "maxLength", " characters"),
    ("minItems", "", "maxItems", " items"),
)


class Member(NamedTuple):
    """One member of an object, however deep: `files[].path`."""

    name: str
    schema: Schema
    is_required: bool


def name_type(schema: Schema, definitions: Schema | None = None) -> str:
    """Return the type in words, with its bounds; a type with its own name is a link to its heading."""
    if reference := str(schema.get("$ref", "")):
        name = reference.rpartition("/")[2]
        target = cast("Schema", (definitions or {}).get(name, {}))
        return f"[{name}](#{name.lower()})" if "properties" in target else name_type(target, definitions)
    if "enum" in schema or "const" in schema:
        return _join([f"`{each}`" for each in schema.get("enum", (schema.get("const"),))])
    if options := schema.get("anyOf"):
        return _join(list(dict.fromkeys(name_type(each, definitions) for each in options)))
    kind = schema.get("type", "any")
    kinds = cast("list[str]", kind) if isinstance(kind, list) else [str(kind)]
    return _join([_name_one(each, schema, definitions) for each in kinds])


def _join(options: list[str]) -> str:
    """Return `a, b or c`; an option that contains a comma is separated from the next by another comma."""
    *first, last = options
    if not first:
        return last
    return f"{', '.join(first)}{', or ' if ', ' in first[-1] else ' or '}{last}"


def _name_one(kind: str, schema: Schema, definitions: Schema | None) -> str:
    items, values = schema.get("items"), schema.get("additionalProperties")
    if kind == "array" and isinstance(items, dict):
        kind = f"list of {_plural(name_type(cast('Schema', items), definitions))}"
    elif kind == "object" and isinstance(values, dict):
        kind = f"object of {_plural(name_type(cast('Schema', values), definitions))}"
    return ", ".join((kind, *_bounds(schema))) if kind != "null" else kind


def _plural(kind: str) -> str:
    return re.sub(r"^(string|integer|number|object)\b", r"\1s", kind)


def _bounds(schema: Schema) -> Iterator[str]:
    for lower, above, upper, unit in BOUNDS:
        least, most = schema.get(lower), schema.get(upper)
        if least == 1 and unit:  # that a text or a list may not be empty goes without saying
            least = None
        if least is not None and most is not None:
            yield f"{least:,} to {most:,}{unit}"
        elif least is not None:
            yield f"at least {least:,}{unit}"
        elif most is not None:
            yield f"at most {most:,}{unit}"
        elif schema.get(above) is not None:
            yield f"above {schema[above]}"


def members_of(schema: Schema, prefix: str = "") -> Iterator[Member]:
    """Yield the members of an object and of the objects in it."""
    required = cast("list[str]", schema.get("required", []))
    for name, each in cast("Mapping[str, Schema]", schema.get("properties", {})).items():
        yield Member(f"{prefix}{name}", each, name in required)
        inner = cast("Schema", each.get("items", each))
        yield from members_of(inner, f"{prefix}{name}{'[]' if inner is not each else ''}.")
