"""The committed files follow from the pinned schemas, and a version's full schema also covers its stable one."""

import importlib
import json
import shutil
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final

import jsonschema
import pytest

import generate
from hermes_protocol import v1, v2
from hermes_protocol.shapes import OpenUnion, required_names

PROTOCOL: Final = Path(generate.__file__).parent
TYPES: Final = MappingProxyType({"v1": v1, "v2": v2})
SCHEMAS: Final = ("v1", "v1.unstable", "v2", "v2.unstable")
GENERATED: Final = (
    *(f"hermes_protocol/{name}.py" for name in ("v1", "methods", "v2", "v2_methods", "own")),
    "../vscode-extension/src/acp/own.ts",
)


def definitions_of(name: str) -> dict[str, dict[str, Any]]:
    return json.loads((PROTOCOL / "schema" / f"{name}.json").read_bytes())["$defs"]


def records_in(types: ModuleType) -> dict[str, Any]:
    return {name: each for name, each in vars(types).items() if hasattr(each, "wire_unstable")}


def copy_protocol(target: Path) -> None:
    target.mkdir()
    paths = ["PINNED.json", *(f"schema/{name}.json" for name in (*SCHEMAS, "hermes"))]
    for path in [*paths, *GENERATED]:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROTOCOL / path, target / path)


def test_the_committed_files_are_those_that_the_schema_generates() -> None:
    assert generate.find_differences(PROTOCOL) == []


def test_the_check_detects_an_edit(tmp_path: Path) -> None:
    protocol = tmp_path / "protocol"
    copy_protocol(protocol)
    assert generate.find_differences(protocol) == []
    module = protocol / "hermes_protocol" / "v1.py"
    module.write_text(module.read_text().replace("stop_reason: StopReason", "stop_reason: str"))
    (protocol / "hermes_protocol" / "v2_methods.py").unlink()
    for name in ("v1", "v2.unstable"):
        schema = protocol / "schema" / f"{name}.json"
        schema.write_text(schema.read_text() + "\n")
    assert [found.split()[0] for found in generate.find_differences(protocol)] == [
        "schema/v1.json",
        "schema/v2.unstable.json",
        "hermes_protocol/v1.py",
        "hermes_protocol/v2_methods.py",
    ]


def test_writing_makes_the_check_pass(tmp_path: Path) -> None:
    protocol = tmp_path / "protocol"
    copy_protocol(protocol)
    for name in GENERATED:
        (protocol / name).write_text("stale")
    assert len(generate.find_differences(protocol)) == len(GENERATED)
    assert len(generate.write_versions(protocol)) == len(GENERATED)
    assert generate.find_differences(protocol) == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_reduced_schema_contains_no_prose(name: str) -> None:
    text = (PROTOCOL / "schema" / f"{name}.json").read_text()
    schema = json.loads(text)
    reduction = importlib.import_module("generator.pinning")
    assert reduction.reduce_to_facts(schema) == schema
    assert '"description": "' not in text
    jsonschema.Draft202012Validator.check_schema(schema)


def test_an_unknown_keyword_is_rejected() -> None:
    reduction = importlib.import_module("generator.pinning")
    with pytest.raises(reduction.UnknownKeywordError):
        reduction.reduce_to_facts({"type": "object", "patternProperties": {}})


@pytest.mark.parametrize("version", TYPES)
def test_the_full_schema_only_adds_to_the_stable_one(version: str) -> None:
    stable, full = definitions_of(version), definitions_of(f"{version}.unstable")
    assert set(stable) < set(full)
    for name, part in stable.items():
        if part.get("x-docs-ignore"):
            continue
        assert set(part.get("required", [])) == set(full[name].get("required", []))
        for wire, schema in part.get("properties", {}).items():
            assert without_default(full[name]["properties"][wire]) == without_default(schema)


def without_default(schema: dict[str, Any]) -> dict[str, Any]:
    """A default repeats the capabilities it contains, including the unstable ones; it is not a wire rule."""
    return {keyword: value for keyword, value in schema.items() if keyword != "default"}


@pytest.mark.parametrize("version", TYPES)
def test_unstable_items_are_those_only_in_the_full_schema(version: str) -> None:
    stable, full = definitions_of(version), definitions_of(f"{version}.unstable")
    types = TYPES[version]
    envelopes = {name for name, part in full.items() if part.get("x-docs-ignore")}
    assert set(full) - set(stable) - envelopes == types.UNSTABLE & set(full)
    assert all(hasattr(types, name) for name in types.UNSTABLE)
    seen: set[str] = set()
    for name, record in records_in(types).items():
        if name in stable:
            new = set(full[name].get("properties", {})) - set(stable[name].get("properties", {}))
            assert set(record.wire_unstable) == new
            assert not new & required_names(record)
            seen |= new
    assert {"systemPrompt", "archived", "usage", "fork", "providers"} <= seen


def test_the_unstable_variants_of_an_update_are_named() -> None:
    unstable = {
        each.__struct_config__.tag for each in v1.SessionUpdate.__args__ if each.__name__ in v1.UNSTABLE
    }
    assert unstable == {
        "plan_update",
        "plan_removed",
        "subagent_update",
        "session_message",
        "session_message_chunk",
    }
    assert isinstance(v2.SessionUpdate, OpenUnion)
    draft = {each.__name__ for each in v2.SessionUpdate.members} & v2.UNSTABLE
    assert draft == {
        "PlanRemoved",
        "SessionMessage",
        "SessionMessageChunk",
        "SessionUpdateUnknownStateUpdate",
        "SubagentUpdate",
    }


def schema_with(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"$defs": {"Thing": {"type": "object", "properties": properties, "required": required}}}


@pytest.mark.parametrize(
    ("properties", "required"),
    [
        ({"a": {"type": "integer"}}, ["a"]),
        ({"a": {"type": "string"}}, []),
        ({"a": {"type": "string", "x-deserialize-default-on-error": True}}, []),
        ({"a": {"type": "string"}, "b": {"type": "string"}}, ["a", "b"]),
        ({}, []),
    ],
)
def test_a_schema_that_contradicts_the_stable_one_is_rejected(properties: Any, required: list[str]) -> None:
    reading, stability = (importlib.import_module(f"generator.{name}") for name in ("reading", "stability"))
    stable = reading.SchemaReader(schema_with({"a": {"type": "string"}}, ["a"])).read()
    same = reading.SchemaReader(schema_with({"a": {"type": "string"}, "b": {}}, ["a"])).read()
    assert stability.compare(stable, same).fields == {"Thing": ("b",)}
    other = reading.SchemaReader(schema_with(properties, required)).read()
    with pytest.raises(stability.NotASupersetError, match="Thing"):
        stability.compare(stable, other)
