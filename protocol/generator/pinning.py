"""Reduce a published schema to facts and record its origin."""

import hashlib
import json
from pathlib import Path
from typing import Any, Final, cast

from msgspec import Struct

from generator.versions import PACKAGE, SOURCES, Source

JsonObject = dict[str, Any]

PROSE: Final = frozenset({"title", "description", "examples", "$comment"})
FACTS: Final = frozenset(
    {
        "$defs",
        "$ref",
        "$schema",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "contentEncoding",
        "default",
        "discriminator",
        "enum",
        "format",
        "items",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "not",
        "oneOf",
        "properties",
        "required",
        "type",
        "unevaluatedProperties",
        "x-deserialize-default-on-error",
        "x-deserialize-default-on-null",
        "x-deserialize-skip-invalid-items",
        "x-docs-ignore",
        "x-method",
        "x-side",
    }
)
NAME_MAPS: Final = frozenset({"properties", "$defs"})
SUBSCHEMAS: Final = frozenset({"items", "not", "additionalProperties"})
SUBSCHEMA_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf"})


class UnknownKeywordError(Exception):
    """The schema uses an unclassified keyword: add it to `PROSE` or `FACTS`."""


class Pin(Struct, frozen=True, kw_only=True):
    """The origin of one schema."""

    package: str
    version: str
    licence: str
    path: str
    source_sha256: str
    schema: str
    schema_sha256: str


def reduce_to_facts(schema: JsonObject) -> JsonObject:
    """Copy a JSON Schema without its prose. Raises `UnknownKeywordError`."""
    reduced: JsonObject = {}
    for keyword, value in schema.items():
        if keyword in PROSE:
            continue
        if keyword not in FACTS:
            raise UnknownKeywordError(
                f"schema keyword {keyword!r} is neither in PROSE nor in FACTS; add it to one of them"
            )
        if keyword in NAME_MAPS:
            named = cast(JsonObject, value)
            reduced[keyword] = {name: reduce_to_facts(part) for name, part in named.items()}
        elif keyword in SUBSCHEMAS and isinstance(value, dict):
            reduced[keyword] = reduce_to_facts(cast(JsonObject, value))
        elif keyword in SUBSCHEMA_LISTS:
            reduced[keyword] = [reduce_to_facts(part) for part in cast(list[JsonObject], value)]
        else:
            reduced[keyword] = value
    return reduced


def render_json(value: object) -> str:
    """Format JSON as it is committed."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def sha256_of(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def pin_package(package: Path, protocol: Path) -> None:
    """Write the reduced schemas and PINNED.json from an unpacked package folder."""
    manifest = json.loads((package / "package.json").read_text(encoding="utf-8"))
    if manifest["name"] != PACKAGE:
        raise ValueError(f"{package} contains {manifest['name']}, not {PACKAGE}; unpack the right package")
    pins: dict[str, JsonObject] = {}
    for source in SOURCES:
        published = (package / source.package_path).read_bytes()
        reduced = render_json(reduce_to_facts(json.loads(published))).encode()
        target = protocol / source.schema
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(reduced)
        pins[source.name] = {
            "package": manifest["name"],
            "version": manifest["version"],
            "licence": manifest["license"],
            "path": source.package_path,
            "source_sha256": sha256_of(published),
            "schema": source.schema,
            "schema_sha256": sha256_of(reduced),
        }
    (protocol / "PINNED.json").write_text(render_json(pins), encoding="utf-8")


def load_pin(source: Source, protocol: Path) -> Pin:
    """Read a schema's row of PINNED.json."""
    pins = json.loads((protocol / "PINNED.json").read_text(encoding="utf-8"))
    return Pin(**pins[source.name])
