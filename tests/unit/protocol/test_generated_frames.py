"""Handwritten frames of both versions match the schema and survive a round trip."""

import json
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final

import jsonschema
import msgspec
import pytest

import generate
from hermes_protocol import v1, v2
from hermes_protocol.salvage import decode

SCHEMAS: Final = Path(generate.__file__).parent / "schema"
TYPES: Final = MappingProxyType({"v1": v1, "v1.unstable": v1, "v2": v2, "v2.unstable": v2})

STABLE_V1: Final[tuple[tuple[str, str], ...]] = (
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

UNSTABLE_V1: Final[tuple[tuple[str, str], ...]] = (
    (
        "NewSessionRequest",
        '{"cwd":"/w","mcpServers":[{"type":"acp","name":"n","serverId":"i"}],"systemPrompt":{"mode":"override",'
        '"content":[{"type":"text","text":"t"}]}}',
    ),
    ("ListSessionsRequest", '{"archived":"only"}'),
    ("ListSessionsResponse", '{"sessions":[{"sessionId":"s","cwd":"/w","archived":true}]}'),
    (
        "PromptResponse",
        '{"stopReason":"end_turn","usage":{"totalTokens":3,"inputTokens":1,"outputTokens":2}}',
    ),
    ("ForkSessionRequest", '{"sessionId":"s","cwd":"/w","mcpServers":[]}'),
    ("SetSessionTitleRequest", '{"sessionId":"s","title":"T"}'),
    ("SessionStatusResponse", '{"status":"open"}'),
    ("AuthStatusResponse", '{"state":"authenticated","accounts":[{"label":"l","active":true}]}'),
    (
        "SetProviderRequest",
        '{"providerId":"p","apiType":"openai","baseUrl":"https://example.org","headers":{}}',
    ),
    ("ListProvidersResponse", '{"providers":[{"providerId":"p","supported":["openai"],"required":false}]}'),
    ("MessageMcpRequest", '{"serverId":"s","requestId":"1","method":"tools/list","params":{"a":null}}'),
    ("MessageMcpResponse", '{"result":null}'),
    ("MessageMcpResponse", '{"error":{"code":-1,"message":"m"}}'),
    (
        "SessionNotification",
        '{"sessionId":"s","update":{"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"p",'
        '"content":"# P"}}}',
    ),
    ("SessionNotification", '{"sessionId":"s","update":{"sessionUpdate":"plan_removed","planId":"p"}}'),
    (
        "SessionNotification",
        '{"sessionId":"s","update":{"sessionUpdate":"subagent_update","sessionId":"c","title":null,'
        '"state":{"state":"idle","stopReason":"error","error":{"code":1,"message":"m"}}}}',
    ),
    (
        "SessionNotification",
        '{"sessionId":"s","update":{"sessionUpdate":"session_message_chunk","messageId":"m",'
        '"content":{"type":"text","text":"t"}}}',
    ),
)


def of_update(update: str) -> tuple[str, str]:
    return ("UpdateSessionNotification", f'{{"sessionId":"s","update":{{"sessionUpdate":{update}}}}}')


STABLE_V2: Final[tuple[tuple[str, str], ...]] = (
    (
        "InitializeRequest",
        '{"protocolVersion":2,"info":{"name":"n","version":"1"},"capabilities":{"elicitation":{"form":{}}}}',
    ),
    (
        "InitializeResponse",
        '{"protocolVersion":2,"info":{"name":"n","version":"1"},"capabilities":{"session":{"prompt":{"image":{}},'
        '"delete":{}}},"authMethods":[{"type":"agent","methodId":"a","name":"A"}]}',
    ),
    ("LoginAuthRequest", '{"methodId":"a"}'),
    ("LoginAuthResponse", "{}"),
    ("LogoutAuthRequest", "{}"),
    ("NewSessionRequest", '{"cwd":"/w","mcpServers":[{"type":"stdio","name":"n","command":"/c"}]}'),
    ("NewSessionRequest", '{"cwd":"/w","mcpServers":[{"type":"pigeon"}]}'),
    ("NewSessionResponse", '{"sessionId":"s","configOptions":[]}'),
    ("ResumeSessionRequest", '{"sessionId":"s","cwd":"/w","replayFrom":{"type":"start"}}'),
    ("PromptRequest", '{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}'),
    ("PromptRequest", '{"sessionId":"s","prompt":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}'),
    ("PromptResponse", '{"messageId":"m"}'),
    ("CancelSessionNotification", '{"sessionId":"s"}'),
    ("CancelToolCallRequest", '{"sessionId":"s","toolCallId":"t"}'),
    ("CancelTerminalRequest", '{"sessionId":"s","terminalId":"t"}'),
    of_update('"user_message","messageId":"m","content":[{"type":"text","text":"t"}]'),
    of_update('"agent_message","messageId":"m","content":null'),
    of_update('"agent_thought","messageId":"m"'),
    of_update('"agent_message_chunk","messageId":"m","content":{"type":"text","text":"t"}'),
    of_update('"agent_thought_chunk","messageId":"m","content":{"type":"text","text":"t"}'),
    of_update('"state_update","state":"running"'),
    of_update('"state_update","state":"idle","stopReason":"end_turn","background":[]'),
    of_update('"state_update","state":"idle","stopReason":"error","error":{"code":-32603,"message":"m"}'),
    of_update('"state_update","state":"idle","stopReason":"_tired"'),
    of_update('"state_update","state":"requires_action","background":[{"type":"terminal","terminalId":"t"}]'),
    of_update('"state_update","state":"_asleep"'),
    of_update('"tool_call_update","toolCallId":"t","title":"T","kind":"edit","status":"cancelled"'),
    of_update(
        '"tool_call_update","toolCallId":"t","capabilities":{"cancel":{}},"rawInput":{"a":null},'
        '"content":[{"type":"diff","changes":[{"operation":"modify","path":"/a"}],'
        '"patch":{"format":"git_patch","text":"x"}}]'
    ),
    of_update(
        '"tool_call_update","toolCallId":"t","content":[{"type":"diff","changes":[{"operation":"move",'
        '"oldPath":"/a","path":"/b"}]},{"type":"terminal","terminalId":"x"}]'
    ),
    of_update(
        '"tool_call_content_chunk","toolCallId":"t","content":{"type":"content",'
        '"content":{"type":"text","text":"t"}}'
    ),
    of_update('"terminal_update","terminalId":"t","command":"ls","cwd":"/w","output":{"data":"aGk="}'),
    of_update('"terminal_update","terminalId":"t","exitStatus":{"exitCode":0},"size":{"cols":80,"rows":24}'),
    of_update('"terminal_output_chunk","terminalId":"t","data":"aGk="'),
    of_update('"plan_update","plan":{"type":"items","planId":"p","entries":[]}'),
    of_update('"session_info_update","title":null'),
    of_update('"usage_update","used":1,"size":2'),
    of_update('"_weather"'),
    (
        "RequestPermissionRequest",
        '{"sessionId":"s","title":"T","subject":{"type":"tool_call","toolCall":{"toolCallId":"t"}},'
        '"options":[{"optionId":"o","name":"n","kind":"allow_once"}]}',
    ),
    ("RequestPermissionResponse", '{"outcome":{"outcome":"selected","optionId":"o"}}'),
    ("RequestPermissionResponse", '{"outcome":{"outcome":"cancelled"}}'),
    ("SetSessionConfigOptionRequest", '{"sessionId":"s","configId":"c","type":"id","value":"v"}'),
    ("SetSessionConfigOptionRequest", '{"sessionId":"s","configId":"c","type":"boolean","value":true}'),
    (
        "SetSessionConfigOptionResponse",
        '{"configOptions":[{"type":"select","configId":"i","name":"n","currentValue":"a",'
        '"options":[{"value":"a","name":"A"}]}]}',
    ),
    ("CreateElicitationResponse", '{"action":"accept","content":{"a":1}}'),
)
UNSTABLE_V2: Final[tuple[tuple[str, str], ...]] = (
    ("ForkSessionRequest", '{"sessionId":"s","cwd":"/w"}'),
    ("MessageMcpResponse", '{"result":null}'),
    of_update('"state_update","state":"unknown"'),
    of_update('"plan_removed","planId":"p"'),
    of_update('"plan_update","plan":{"type":"file","planId":"p","uri":"file:///p"}'),
    of_update('"subagent_update","sessionId":"c","state":{"state":"running"}'),
    of_update('"state_update","state":"idle","usage":{"totalTokens":3,"inputTokens":1,"outputTokens":2}'),
    of_update('"state_update","state":"running","background":[{"type":"subagent","sessionId":"c"}]'),
)
FRAMES: Final = tuple(
    (schema, name, text)
    for schema, frames in (
        ("v1", STABLE_V1),
        ("v1.unstable", STABLE_V1 + UNSTABLE_V1),
        ("v2", STABLE_V2),
        ("v2.unstable", STABLE_V2 + UNSTABLE_V2),
    )
    for name, text in frames
)
SCHEMA_OF: Final = MappingProxyType(
    {name: json.loads((SCHEMAS / f"{name}.json").read_bytes())["$defs"] for name in TYPES}
)


def validate(schema: str, name: str, value: object) -> None:
    definitions = SCHEMA_OF[schema]
    validator: Any = jsonschema.Draft202012Validator({"$defs": definitions, "$ref": f"#/$defs/{name}"})
    validator.validate(value)


@pytest.mark.parametrize(("schema", "name", "text"), FRAMES)
def test_a_frame_survives_the_round_trip(schema: str, name: str, text: str) -> None:
    type_ = getattr(TYPES[schema], name)
    given = json.loads(text)
    validate(schema, name, given)
    value = decode(type_, text.encode())
    encoded = msgspec.json.encode(value)
    assert json.loads(encoded) == given
    validate(schema, name, json.loads(encoded))
    assert decode(type_, encoded) == value


MAKERS: Final = (
    (v2.SessionUpdateRunningStateUpdate(), {"sessionUpdate": "state_update", "state": "running"}),
    (
        v2.SessionUpdateIdleStateUpdate(stop_reason="cancelled"),
        {"sessionUpdate": "state_update", "state": "idle", "stopReason": "cancelled"},
    ),
    (v2.SessionUpdateToolCallUpdate(tool_call_id="t", title=None), None),
    (v2.TerminalOutputChunk(terminal_id="t", data="aGk="), None),
    (v2.AgentMessage(message_id="m", content=[v2.TextContent(text="t")]), None),
    (v1.PlanRemoved(plan_id="p"), {"sessionUpdate": "plan_removed", "planId": "p"}),
)


@pytest.mark.parametrize(("update", "wire"), MAKERS)
def test_frames_created_here_match_the_schema(update: msgspec.Struct, wire: dict[str, str] | None) -> None:
    module: ModuleType = v1 if isinstance(update, v1.Record) else v2
    encoded = msgspec.json.encode(update)
    validate(f"{module.__name__.rpartition('.')[2]}.unstable", "SessionUpdate", json.loads(encoded))
    assert wire is None or json.loads(encoded) == wire
    if module is v2:
        assert decode(v2.SessionUpdate, encoded) == update
