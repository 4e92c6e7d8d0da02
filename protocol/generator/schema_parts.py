"""Analyse one object of a schema: its references, its variants, and what distinguishes them."""

from typing import Any, cast

JsonObject = dict[str, Any]


class UnreadableSchemaError(Exception):
    """The schema uses a pattern that the reader does not know: add support for it instead of guessing."""


def refined_property(schema: JsonObject) -> str | None:
    """Return the object's own property whose values distinguish its variants, or None."""
    tagged = [cast(JsonObject, variant.get("properties", {})) for variant in variants_of(schema)]
    shared = set(cast(JsonObject, schema.get("properties", {}))).intersection(*tagged)
    return shared.pop() if tagged and len(shared) == 1 else None


def variants_of(schema: JsonObject) -> list[JsonObject]:
    """Return the alternatives of a schema, under whichever keyword."""
    return cast(list[JsonObject], schema.get("oneOf") or schema.get("anyOf") or [])


def is_object(schema: JsonObject) -> bool:
    """Return whether a schema describes an object directly, not through a reference."""
    return schema.get("type") == "object" or "properties" in schema


def sole_reference(schema: JsonObject) -> str | None:
    """Return the definition that a schema refers to, if it contains nothing else."""
    if "$ref" in schema:
        return cast(str, schema["$ref"]).removeprefix("#/$defs/")
    parts = cast(list[JsonObject], schema.get("allOf", []))
    if len(parts) == 1 and not is_object(schema):
        return sole_reference(parts[0])
    return None


def tag_field_of(variants: list[JsonObject]) -> str | None:
    """Return the property whose constant distinguishes variants. Raises `UnreadableSchemaError` for several."""
    names = {
        wire
        for variant in variants
        for wire, part in cast(dict[str, JsonObject], variant.get("properties", {})).items()
        if "const" in part
    }
    if len(names) > 1:
        raise UnreadableSchemaError(f"a union with several tag fields: {sorted(names)}")
    return names.pop() if names else None


def const_of(variant: JsonObject, tag_field: str | None) -> str | None:
    """Return the value of a variant's tag field."""
    return variant.get("properties", {}).get(tag_field, {}).get("const")


def payload_of(variant: JsonObject, tag_field: str | None) -> str | None:
    """Return the definition that a variant consists of, if it adds nothing but the tag."""
    if name := sole_reference(variant):
        return name
    if set(variant.get("properties", {})) == {tag_field} and len(variant.get("allOf", [])) == 1:
        return sole_reference(variant["allOf"][0])
    return None


def distinction_of(variant: JsonObject, variants: list[JsonObject]) -> str:
    """Name an untagged variant after the property that only it requires, or `Plain` if no other is untagged."""
    rivals = [each for each in variants if each is not variant and tag_field_of([each]) is None]
    if not rivals:
        return "Plain"
    own = set(cast(list[str], variant["required"])).difference(*(each["required"] for each in rivals))
    if len(own) != 1:
        raise UnreadableSchemaError(
            f"untagged variants that no property distinguishes; one requires {sorted(own)}"
        )
    return pascal(own.pop())


def pascal(tag: str) -> str:
    """Convert a wire value to a part of a class name."""
    return "".join(word[:1].upper() + word[1:] for word in tag.replace("-", "_").split("_"))
