"""The generated half of the protocol says what the pinned schema says."""

import importlib
import json
import shutil
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, get_args

import generate
import jsonschema
import msgspec
import pytest
from hermes_protocol import v1
from hermes_protocol.methods import METHODS
from hermes_protocol.salvage import decode
from hermes_protocol.shapes import ON_ERROR, ON_NULL, SKIP_ITEMS, OpenUnion, required_names

PROTOCOL: Final = Path(generate.__file__).parent
SCHEMA: Final = json.loads((PROTOCOL / "schema" / "v1.json").read_bytes())
DEFINITIONS: Final[dict[str, dict[str, Any]]] = SCHEMA["$defs"]
MARKS: Final = MappingProxyType(
    {
        "x-deserialize-default-on-error": ON_ERROR,
        "x-deserialize-skip-invalid-items": SKIP_ITEMS,
        "x-deserialize-default-on-null": ON_NULL,
    }
)
PLAIN_OBJECTS: Final = sorted(
    name
    for name, part in DEFINITIONS.items()
    if part.get("type") == "object" and not {"anyOf", "oneOf", "x-docs-ignore"} & part.keys()
)
ENVELOPES: Final = sorted(name for name, part in DEFINITIONS.items() if part.get("x-docs-ignore"))

FRAMES: Final[tuple[tuple[str, str], ...]] = (
    (
        "InitializeRequest",
        '{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true},"terminal":true}}',
    ),
    ("InitializeResponse", '{"protocolVersion":1,"authMethods":[{"id":"a","name":"A"}],"agentInfo":null}'),
    ("InitializeResponse", '{"protocolVersion":1,"authMethods":[{"type":"terminal","id":"a","name":"A"}]}'),
    ("NewSessionRequest", '{"cwd":"/w","mcpServers":[{"name":"n","command":"c","args":["-v"],"env":[]}]}'),
    ("NewSessionRequest", '{"cwd":"/w","mcpServers":[{"type":"http","name":"n","url":"u","headers":[]}]}'),
    ("NewSessionRequest", '{"cwd":"/w","mcpServers":[{"type":"sse","name":"n","url":"u","headers":[]}]}'),
    ("NewSessionResponse", '{"sessionId":"s","modes":{"currentModeId":"m","availableModes":[]}}'),
    ("LoadSessionRequest", '{"mcpServers":[],"cwd":"/w","sessionId":"s","_meta":{"traceparent":"00"}}'),
    ("ListSessionsResponse", '{"sessions":[{"sessionId":"s","cwd":"/w"}],"nextCursor":null}'),
    ("PromptRequest", '{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}'),
    ("PromptRequest", '{"sessionId":"s","prompt":[{"type":"image","data":"","mimeType":"image/png"}]}'),
    ("PromptRequest", '{"sessionId":"s","prompt":[{"type":"resource_link","name":"n","uri":"file:///a"}]}'),
    ("PromptRequest", '{"sessionId":"s","prompt":[{"type":"resource","resource":{"text":"t","uri":"u"}}]}'),
    ("PromptRequest", '{"sessionId":"s","prompt":[{"type":"resource","resource":{"blob":"b","uri":"u"}}]}'),
    ("PromptResponse", '{"stopReason":"cancelled"}'),
    ("CancelNotification", '{"sessionId":"s"}'),
    ("CancelRequestNotification", '{"requestId":7}'),
    ("SetSessionConfigOptionRequest", '{"sessionId":"s","configId":"c","value":"v"}'),
    ("SetSessionConfigOptionRequest", '{"type":"boolean","sessionId":"s","configId":"c","value":true}'),
    ("SessionNotification", '{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}'),
    (
        "SessionNotification",
        '{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"t"}}}',
    ),
    (
        "SessionNotification",
        '{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","kind":"edit",'
        '"content":[{"type":"diff","path":"/a","oldText":null,"newText":"x"}],"rawInput":[1,{"a":null}]}}',
    ),
    (
        "SessionNotification",
        '{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed",'
        '"content":[{"type":"terminal","terminalId":"x"}],"locations":[{"path":"/a","line":3}]}}',
    ),
    (
        "SessionNotification",
        '{"sessionId":"s","update":{"sessionUpdate":"session_info_update","title":null}}',
    ),
    ("SessionNotification", '{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1,"size":2}}'),
    (
        "SessionNotification",
        '{"sessionId":"s","update":{"sessionUpdate":"notice","severity":"grave","title":"t"}}',
    ),
    (
        "SessionNotification",
        '{"sessionId":"s","update":{"sessionUpdate":"config_option_update","configOptions":[{"type":"boolean",'
        '"id":"i","name":"n","currentValue":false}]}}',
    ),
    (
        "SessionNotification",
        '{"sessionId":"s","update":{"sessionUpdate":"config_option_update","configOptions":[{"type":"select",'
        '"id":"i","name":"n","category":"model","currentValue":"a","options":[{"value":"a","name":"A"}]}]}}',
    ),
    (
        "RequestPermissionRequest",
        '{"sessionId":"s","toolCall":{"toolCallId":"t"},'
        '"options":[{"optionId":"o","name":"n","kind":"allow_once"}]}',
    ),
    ("RequestPermissionResponse", '{"outcome":{"outcome":"selected","optionId":"o"}}'),
    ("RequestPermissionResponse", '{"outcome":{"outcome":"cancelled"}}'),
    ("CreateTerminalRequest", '{"sessionId":"s","command":"ls","args":[],"env":[{"name":"A","value":"b"}]}'),
    ("TerminalOutputResponse", '{"output":"x","truncated":false,"exitStatus":{"exitCode":0,"signal":null}}'),
    ("ReadTextFileRequest", '{"sessionId":"s","path":"/a","line":1,"limit":null}'),
    ("CreateElicitationResponse", '{"action":"accept","content":{"a":1,"b":[],"c":true,"d":1.5}}'),
    ("CreateElicitationResponse", '{"action":"postpone"}'),
    (
        "CreateElicitationRequest",
        '{"mode":"form","message":"m","requestedSchema":{"properties":{"a":{"type":"string","oneOf":'
        '[{"const":"x","title":"X"}]},"b":{"type":"array","items":{"anyOf":[]}},"c":{"type":"colour"}}},'
        '"sessionId":"s"}',
    ),
    ("Error", '{"code":-32602,"message":"m","data":null}'),
)


def validate(name: str, value: object) -> None:
    validator: Any = jsonschema.Draft202012Validator({"$defs": DEFINITIONS, "$ref": f"#/$defs/{name}"})
    validator.validate(value)


def records_of(name: str) -> list[type[msgspec.Struct]]:
    """List the records a definition's name stands for."""
    alias = getattr(v1, name)
    if isinstance(alias, OpenUnion):
        return [get_args(member)[0] if get_args(member) else member for member in alias.members]
    return list(get_args(alias)) or [alias]


def properties_of(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Collect an object's properties through references, not through alternatives."""
    if "$ref" in schema:
        return properties_of(DEFINITIONS[schema["$ref"].removeprefix("#/$defs/")])
    found = dict(schema.get("properties", {}))
    for part in schema.get("allOf", []):
        found.update(properties_of(part))
    return found


def wire_names_of(record: type[msgspec.Struct]) -> set[str]:
    tag_field = record.__struct_config__.tag_field
    return {*record.__struct_encode_fields__, *([tag_field] if tag_field else [])}


def test_what_is_committed_is_what_the_schema_gives() -> None:
    assert generate.find_differences(PROTOCOL) == []


def test_the_check_sees_an_edit(tmp_path: Path) -> None:
    for path in ("schema/v1.json", "PINNED.json", "hermes_protocol/v1.py", "hermes_protocol/methods.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        shutil.copy(PROTOCOL / path, tmp_path / path)
    assert generate.find_differences(tmp_path) == []
    module = tmp_path / "hermes_protocol" / "v1.py"
    module.write_text(module.read_text().replace("stop_reason: StopReason", "stop_reason: str"))
    (tmp_path / "hermes_protocol" / "methods.py").unlink()
    schema = tmp_path / "schema" / "v1.json"
    schema.write_text(schema.read_text() + "\n")
    assert [found.split()[0] for found in generate.find_differences(tmp_path)] == [
        "schema/v1.json",
        "hermes_protocol/v1.py",
        "hermes_protocol/methods.py",
    ]


def test_every_definition_has_a_name_but_the_envelopes() -> None:
    missing = sorted(name for name in DEFINITIONS if not hasattr(v1, name))
    assert missing == ENVELOPES
    assert len(ENVELOPES) == 6


@pytest.mark.parametrize("name", PLAIN_OBJECTS)
def test_a_record_agrees_with_its_object(name: str) -> None:
    schema = DEFINITIONS[name]
    record = getattr(v1, name)
    assert set(record.__struct_encode_fields__) == set(schema.get("properties", {}))
    assert required_names(record) == set(schema.get("required", []))
    marks = {
        wire: sum(flag for keyword, flag in MARKS.items() if part.get(keyword))
        for wire, part in schema.get("properties", {}).items()
        if wire != "_meta"
    }
    assert dict(record.wire_marks) == {wire: flags for wire, flags in marks.items() if flags}


UNIONS: Final = (
    "AuthMethod",
    "ContentBlock",
    "CreateElicitationResponse",
    "ElicitationPropertySchema",
    "EmbeddedResourceResource",
    "McpServer",
    "MultiSelectItems",
    "RequestPermissionOutcome",
    "SessionConfigOption",
    "SessionUpdate",
    "SetSessionConfigOptionRequest",
    "ToolCallContent",
)


@pytest.mark.parametrize("name", UNIONS)
def test_a_union_has_a_record_for_each_variant(name: str) -> None:
    schema = DEFINITIONS[name]
    outer = schema.get("properties", {})
    variants = schema.get("oneOf") or schema["anyOf"]
    records = records_of(name)
    assert len(records) == len(variants)
    for record, variant in zip(records, variants, strict=True):
        assert wire_names_of(record) == {*outer, *properties_of(variant)}
        consts = {
            wire: part["const"] for wire, part in variant.get("properties", {}).items() if "const" in part
        }
        config = record.__struct_config__
        assert consts == ({config.tag_field: config.tag} if config.tag else {})


@pytest.mark.parametrize("name", ["ElicitationFormMode", "ElicitationUrlMode", "CreateElicitationRequest"])
def test_a_scope_is_merged_into_its_elicitation(name: str) -> None:
    for record in records_of(name):
        assert {"sessionId", "toolCallId", "requestId"} <= set(record.__struct_encode_fields__)
        assert not {"sessionId", "requestId"} & required_names(record)


@pytest.mark.parametrize(("name", "text"), FRAMES)
def test_a_frame_survives_the_round_trip(name: str, text: str) -> None:
    validate(name, json.loads(text))
    value = decode(getattr(v1, name), text.encode())
    encoded = msgspec.json.encode(value)
    assert json.loads(encoded) == json.loads(text)
    validate(name, json.loads(encoded))
    assert decode(getattr(v1, name), encoded) == value


def test_the_reduced_schema_holds_no_prose() -> None:
    reduced = (PROTOCOL / "schema" / "v1.json").read_text()
    reduction = importlib.import_module("generator.pinning")
    assert reduction.reduce_to_facts(SCHEMA) == SCHEMA
    assert '"description": "' not in reduced
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with pytest.raises(reduction.UnknownKeywordError):
        reduction.reduce_to_facts({"type": "object", "patternProperties": {}})


def test_every_method_of_the_schema_is_in_the_table() -> None:
    marked = {part["x-method"]: part["x-side"] for part in DEFINITIONS.values() if "x-method" in part}
    sides = {name: row.side for name, row in METHODS.items()}
    assert sides == {name: side.replace("protocol", "both") for name, side in marked.items()}
    for name, row in METHODS.items():
        assert row.name == name
        assert row.key.isidentifier()
    pairs = [(getattr(v1, name), part) for name, part in DEFINITIONS.items() if "x-method" in part]
    for type_, part in pairs:
        row = METHODS[part["x-method"]]
        assert type_ in (row.params, row.result)
    assert [name for name, row in METHODS.items() if row.result is None] == [
        "$/cancel_request",
        "elicitation/complete",
        "session/cancel",
        "session/update",
    ]
    assert METHODS["session/new"].key == "session_new"
    assert METHODS["$/cancel_request"].key == "cancel_request"
