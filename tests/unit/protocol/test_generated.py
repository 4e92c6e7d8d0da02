"""The generated types and method tables match the pinned schemas, in both versions."""

import json
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final, NamedTuple, get_args

import msgspec
import pytest

import generate
from hermes_protocol import methods, v1, v2, v2_methods
from hermes_protocol.shapes import ON_ERROR, ON_NULL, SKIP_ITEMS, Method, OpenUnion, required_names

SCHEMAS: Final = Path(generate.__file__).parent / "schema"
MARKS: Final = MappingProxyType(
    {
        "x-deserialize-default-on-error": ON_ERROR,
        "x-deserialize-skip-invalid-items": SKIP_ITEMS,
        "x-deserialize-default-on-null": ON_NULL,
    }
)
Schema = dict[str, Any]
Definitions = dict[str, Schema]


class Version(NamedTuple):
    types: ModuleType
    methods: ModuleType
    definitions: Definitions
    stable: Definitions


def version_of(types: ModuleType, table: ModuleType, name: str) -> Version:
    full, stable = (
        json.loads((SCHEMAS / f"{each}.json").read_bytes())["$defs"] for each in (f"{name}.unstable", name)
    )
    return Version(types, table, full, stable)


VERSIONS: Final = MappingProxyType(
    {"v1": version_of(v1, methods, "v1"), "v2": version_of(v2, v2_methods, "v2")}
)
ENVELOPES: Final = (
    "AgentNotification",
    "AgentRequest",
    "AgentResponse",
    "ClientNotification",
    "ClientRequest",
    "ClientResponse",
    "ProxyNotification",
    "ProxyRequest",
    "ProxyResponse",
)
EVERY_VERSION: Final = pytest.mark.parametrize("version", VERSIONS.values(), ids=list(VERSIONS))


def pairs(chosen: Any) -> list[tuple[str, str]]:
    return [
        (key, name)
        for key, version in VERSIONS.items()
        for name, part in sorted(version.definitions.items())
        if not part.get("x-docs-ignore") and chosen(version.definitions, part)
    ]


def alternatives(schema: Schema) -> list[Schema]:
    return schema.get("oneOf") or schema.get("anyOf") or []


def is_plain_object(_definitions: Definitions, schema: Schema) -> bool:
    return schema.get("type") == "object" and not alternatives(schema)


def target_of(definitions: Definitions, schema: Schema) -> Schema | None:
    """Follow a schema that is only a reference, however it is wrapped."""
    if "$ref" in schema:
        return definitions[schema["$ref"].removeprefix("#/$defs/")]
    parts = schema.get("allOf", [])
    return target_of(definitions, parts[0]) if len(parts) == 1 else None


def constants_of(schema: Schema) -> dict[str, str]:
    properties: dict[str, Schema] = schema.get("properties", {})
    return {wire: part["const"] for wire, part in properties.items() if "const" in part}


def refined_property(schema: Schema) -> set[str]:
    """Return the object's own property that its alternatives refine."""
    named = [set(each.get("properties", {})) for each in alternatives(schema)]
    return set(schema.get("properties", {})).intersection(*named) if named else set()


def is_union_of_objects(definitions: Definitions, schema: Schema) -> bool:
    variants = alternatives(schema)
    scopes = "properties" in schema and all(
        target_of(definitions, each) and "properties" not in each for each in variants
    )
    if scopes or refined_property(schema):
        return False
    return len(variants) > 1 and all(
        (target_of(definitions, each) or each).get("type") == "object" or "properties" in each
        for each in variants
    )


def properties_of(definitions: Definitions, schema: Schema) -> dict[str, Schema]:
    """Collect an object's properties, including those of alternatives that only extend it."""
    found: dict[str, Schema] = {}
    if "$ref" in schema:
        return properties_of(definitions, definitions[schema["$ref"].removeprefix("#/$defs/")])
    for part in [*schema.get("allOf", []), *(alternatives(schema) if "properties" in schema else [])]:
        found.update(properties_of(definitions, part))
    return {**found, **schema.get("properties", {})}


def required_of(definitions: Definitions, schema: Schema) -> set[str]:
    if "$ref" in schema:
        return required_of(definitions, definitions[schema["$ref"].removeprefix("#/$defs/")])
    inherited = [required_of(definitions, part) for part in schema.get("allOf", [])]
    return set(schema.get("required", [])).union(*inherited)


def variants_of(definitions: Definitions, schema: Schema) -> list[tuple[Schema, dict[str, str]]]:
    """List the variants of a union with their constants, including those of nested unions."""
    found: list[tuple[Schema, dict[str, str]]] = []
    for variant in alternatives(schema):
        target = target_of(definitions, variant)
        if target and is_union_of_objects(definitions, target) and "properties" not in target:
            found += [
                ({"allOf": [{**variant, "allOf": []}, inner]}, {**constants_of(variant), **constants})
                for inner, constants in variants_of(definitions, target)
            ]
        else:
            found.append((variant, constants_of(variant)))
    return found


def records_of(types: ModuleType, name: str) -> list[type[msgspec.Struct]]:
    """List the records that a definition's name refers to."""
    alias = getattr(types, name)
    if isinstance(alias, OpenUnion):
        return [get_args(member)[0] if get_args(member) else member for member in alias.members]
    return list(get_args(alias)) or [alias]


def marks_of(properties: dict[str, Schema]) -> dict[str, int]:
    marks = {
        wire: sum(flag for keyword, flag in MARKS.items() if part.get(keyword))
        for wire, part in properties.items()
        if wire != "_meta"
    }
    return {wire: flags for wire, flags in marks.items() if flags}


@EVERY_VERSION
def test_every_definition_except_the_envelopes_has_a_name(version: Version) -> None:
    missing = sorted(name for name in version.definitions if not hasattr(version.types, name))
    assert missing == list(ENVELOPES)


@pytest.mark.parametrize(("key", "name"), pairs(is_plain_object))
def test_a_record_matches_its_object(key: str, name: str) -> None:
    schema = VERSIONS[key].definitions[name]
    record = getattr(VERSIONS[key].types, name)
    assert set(record.__struct_encode_fields__) == set(schema.get("properties", {}))
    assert required_names(record) == set(schema.get("required", []))
    assert dict(record.wire_marks) == marks_of(schema.get("properties", {}))


@pytest.mark.parametrize(("key", "name"), pairs(is_union_of_objects))
def test_a_union_has_a_record_for_each_variant(key: str, name: str) -> None:
    definitions = VERSIONS[key].definitions
    schema = definitions[name]
    outer = schema.get("properties", {})
    records = records_of(VERSIONS[key].types, name)
    variants = variants_of(definitions, schema)
    assert len(records) == len(variants)
    for record, (variant, constants) in zip(records, variants, strict=True):
        properties = {**outer, **properties_of(definitions, variant)}
        config = record.__struct_config__
        tag = {config.tag_field: config.tag} if config.tag else {}
        assert {*record.__struct_encode_fields__, *tag} == set(properties)
        assert {**tag, **dict(getattr(record, "wire_constants", ()))} == constants
        required = {*schema.get("required", []), *required_of(definitions, variant)}
        assert required_names(record) | constants.keys() == required
        assert dict(getattr(record, "wire_marks", ())) == marks_of(properties)


def test_the_unions_are_found() -> None:
    found = pairs(is_union_of_objects)
    assert {("v1", "SessionUpdate"), ("v2", "SessionUpdate"), ("v1", "CreateElicitationRequest")} < set(found)
    assert {("v2", "ContentBlock"), ("v2", "StateUpdate"), ("v1", "MessageMcpResponse")} < set(found)
    assert len(found) > 30


@pytest.mark.parametrize("key", VERSIONS)
def test_an_object_refined_by_one_property_is_one_record(key: str) -> None:
    definitions = VERSIONS[key].definitions
    record = VERSIONS[key].types.IdleStateUpdate
    properties = properties_of(definitions, definitions["IdleStateUpdate"])
    assert {"stopReason", "error", "usage"} <= set(properties)
    assert set(record.__struct_encode_fields__) == set(properties)
    assert required_names(record) == set()
    assert dict(record.wire_marks)["stopReason"] == ON_ERROR


@pytest.mark.parametrize("key", VERSIONS)
@pytest.mark.parametrize("name", ["ElicitationFormMode", "ElicitationUrlMode", "CreateElicitationRequest"])
def test_a_scope_is_merged_into_its_elicitation(key: str, name: str) -> None:
    for record in records_of(VERSIONS[key].types, name)[:2]:
        assert {"sessionId", "toolCallId", "requestId"} <= set(record.__struct_encode_fields__)
        assert not {"sessionId", "requestId"} & required_names(record)


@EVERY_VERSION
def test_every_method_in_the_schema_is_in_a_table(version: Version) -> None:
    requests: dict[str, Method] = version.methods.METHODS
    notified: dict[str, Method] = version.methods.ALSO_NOTIFIED
    carried: set[str] = set()
    for name, part in version.definitions.items():
        if "x-method" not in part:
            continue
        method = part["x-method"]
        carried.add(method)
        is_second = name.endswith("Notification") and method in notified
        row = notified[method] if is_second else requests[method]
        assert row.name == method
        assert row.key.isidentifier()
        assert row.side == part["x-side"].replace("protocol", "both")
        assert getattr(version.types, name) in (row.params, row.result)
        assert row.is_unstable == (name not in version.stable)
    assert carried == set(requests)
    assert sorted(notified) == ["mcp/message", "proxy/successor"]
    assert all(row.result is None for row in notified.values())
    assert all(requests[name].result is not None for name in notified)


def test_the_tables_contain_the_methods_of_their_version() -> None:
    assert [name for name, row in methods.METHODS.items() if row.result is None] == [
        "$/cancel_request",
        "auth/status_update",
        "elicitation/complete",
        "session/cancel",
        "session/update",
    ]
    assert methods.METHODS["session/new"].key == "session_new"
    assert methods.METHODS["$/cancel_request"].key == "cancel_request"
    gone = {"session/load", "session/set_mode", "fs/read_text_file", "terminal/create", "authenticate"}
    assert not gone & set(v2_methods.METHODS)
    assert {"auth/login", "auth/logout", "tool_call/cancel", "terminal/cancel"} <= set(v2_methods.METHODS)
