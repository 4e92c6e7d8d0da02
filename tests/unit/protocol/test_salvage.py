"""Salvaging keeps a message whose optional parts are invalid, and nothing else."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from hermes_protocol import v1, v2, v2_methods
from hermes_protocol.methods import METHODS
from hermes_protocol.salvage import decode

ROWS = [*METHODS.values(), *v2_methods.METHODS.values()]
TYPES = [each for row in ROWS for each in (row.params, row.result) if each is not None]
SECRET = "hunter2-do-not-echo"
TOOL_CALL = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read"}


def dump(value: object) -> bytes:
    return json.dumps(value).encode()


def test_null_mcp_servers_mean_none() -> None:
    request = decode(
        v1.NewSessionRequest, b'{"cwd": "/w", "mcpServers": null, "additionalDirectories": null}'
    )
    assert request.mcp_servers == []
    assert request.additional_directories is UNSET


def test_absent_mcp_servers_are_an_error() -> None:
    with pytest.raises(msgspec.ValidationError, match="mcpServers"):
        decode(v1.NewSessionRequest, b'{"cwd": "/w"}')


def test_null_arguments_of_a_stdio_server_mean_none() -> None:
    server = {"name": "n", "command": "c", "args": None, "env": None}
    request = decode(v1.NewSessionRequest, dump({"cwd": "/w", "mcpServers": [server]}))
    assert request.mcp_servers == [v1.McpServerStdio(name="n", command="c", args=[], env=[])]


@pytest.mark.parametrize(
    "server",
    [
        {"type": "stdio", "name": "n", "command": "c", "args": [], "env": []},
        {"name": "n", "command": "c", "args": [], "env": []},
    ],
)
def test_a_stdio_server_needs_no_tag(server: dict[str, Any]) -> None:
    request = decode(v1.NewSessionRequest, dump({"cwd": "/w", "mcpServers": [server]}))
    assert request.mcp_servers == [v1.McpServerStdio(name="n", command="c", args=[], env=[])]
    assert b'"type"' not in msgspec.json.encode(request)


def test_an_invalid_server_rejects_the_session_and_names_its_position() -> None:
    servers: list[Any] = [{"type": "http", "name": "n", "url": 5, "headers": []}]
    with pytest.raises(msgspec.ValidationError) as caught:
        decode(v1.NewSessionRequest, dump({"cwd": "/w", "mcpServers": servers}))
    assert str(caught.value) == "Expected `str`, got `int` - at `$.mcpServers[0].url`"


def test_meta_never_shadows_a_parameter() -> None:
    text = b'{"_meta": {"cwd": "/etc"}, "meta": {"cwd": "/etc"}, "cwd": "/w", "mcpServers": []}'
    request = decode(v1.NewSessionRequest, text)
    assert request.cwd == "/w"
    assert request.meta == {"cwd": "/etc"}
    with pytest.raises(msgspec.ValidationError, match="cwd"):
        decode(v1.NewSessionRequest, b'{"_meta": {"cwd": "/etc"}, "mcpServers": []}')


@pytest.mark.parametrize("meta", [5, "x", [1]])
def test_an_invalid_meta_is_omitted(meta: object) -> None:
    assert decode(v1.CancelNotification, dump({"sessionId": "s", "_meta": meta})).meta is UNSET


def test_absent_and_null_are_distinguished() -> None:
    assert decode(v1.ToolCallUpdate, b'{"toolCallId": "t"}').title is UNSET
    assert decode(v1.ToolCallUpdate, b'{"toolCallId": "t", "title": null}').title is None
    assert msgspec.json.encode(v1.SessionInfoUpdate(title=None)) == (
        b'{"sessionUpdate":"session_info_update","title":null}'
    )


def test_an_invalid_optional_field_is_omitted() -> None:
    update = {**TOOL_CALL, "kind": "teleport", "status": 7, "locations": "here", "rawInput": {"a": 1}}
    note = decode(v1.SessionNotification, dump({"sessionId": "s", "update": update}))
    assert note.update == v1.ToolCall(tool_call_id="t", title="Read", raw_input={"a": 1})


def test_invalid_items_are_omitted_and_valid_ones_repaired() -> None:
    content = [
        {"type": "hologram"},
        {"type": "diff", "path": "p", "newText": "n", "oldText": 4},
        None,
        {"type": "terminal"},
    ]
    update = {**TOOL_CALL, "sessionUpdate": "tool_call_update", "content": content}
    note = decode(v1.SessionNotification, dump({"sessionId": "s", "update": update}))
    assert isinstance(note.update, v1.SessionUpdateToolCallUpdate)
    assert note.update.content == [v1.Diff(path="p", new_text="n")]


def test_a_required_list_marked_lenient_becomes_empty() -> None:
    assert decode(v1.Plan, b'{"sessionUpdate": "plan", "entries": "none"}').entries == []


def test_capabilities_are_salvaged_one_by_one() -> None:
    capabilities: dict[str, Any] = {
        "fs": {"readTextFile": "yes", "writeTextFile": True},
        "terminal": 1,
        "elicitation": [],
    }
    request = decode(v1.InitializeRequest, dump({"protocolVersion": 1, "clientCapabilities": capabilities}))
    fs = v1.FileSystemCapabilities(write_text_file=True)
    assert request.client_capabilities == v1.ClientCapabilities(fs=fs)


def test_leniency_extends_to_an_embedded_resource() -> None:
    block = {"type": "resource", "resource": {"uri": "u", "text": "t", "mimeType": 5}}
    request = decode(v1.PromptRequest, dump({"sessionId": "s", "prompt": [block]}))
    assert request.prompt == [v1.EmbeddedResource(resource=v1.TextResourceContents(uri="u", text="t"))]


def test_an_unknown_variant_is_an_error_where_it_may_not_be_skipped() -> None:
    block = {"type": SECRET}
    with pytest.raises(msgspec.ValidationError) as caught:
        decode(v1.PromptRequest, dump({"sessionId": "s", "prompt": [block]}))
    assert str(caught.value) == "Invalid value - at `$.prompt[0].type`"


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (v1.PermissionOption, {"optionId": "o", "name": "n", "kind": SECRET}),
        (v1.PermissionOption, {"optionId": "o", "name": "n", "kind": f"{SECRET} - at `$.x`"}),
        (v1.PromptResponse, {"stopReason": f"end - at `$.{SECRET}`"}),
        (v1.ReadTextFileRequest, {"sessionId": "s", "path": [SECRET]}),
        (v1.EmbeddedResource, {"type": "resource", "resource": SECRET}),
        (v1.CreateElicitationResponse, {"action": "accept", "content": {SECRET: {SECRET: SECRET}}}),
    ],
)
def test_errors_never_quote_the_message(type_: Any, value: object) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        decode(type_, dump(value))
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_open_unions_choose_by_tag_then_by_required_fields() -> None:
    base = {"sessionId": "s", "configId": "c"}
    choose = v1.SetSessionConfigOptionRequest
    flag = decode(choose, dump({**base, "type": "boolean", "value": True}))
    assert isinstance(flag, v1.SetSessionConfigOptionRequestBoolean)
    plain = decode(choose, dump({**base, "value": "fast"}))
    assert isinstance(plain, v1.SetSessionConfigOptionRequestPlain)
    assert isinstance(plain, choose)
    with pytest.raises(msgspec.ValidationError):
        decode(choose, dump({**base, "type": "boolean", "value": "fast"}))


def test_select_options_may_be_grouped() -> None:
    group = {"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}, {"value": 5, "name": "B"}]}
    option = {"type": "select", "id": "i", "name": "n", "currentValue": "a", "options": [group]}
    chosen = decode(v1.SetSessionConfigOptionResponse, dump({"configOptions": [option, {"type": "dial"}]}))
    (select,) = chosen.config_options
    assert isinstance(select, v1.SessionConfigOptionSelect)
    inner = [v1.SessionConfigSelectOption(value="a", name="A")]
    assert select.options == [v1.SessionConfigSelectGroup(group="g", name="G", options=inner)]


def test_an_elicitation_needs_a_session_or_a_request() -> None:
    request = {"mode": "url", "message": "m", "elicitationId": "e", "url": "https://example.org"}
    with pytest.raises(msgspec.ValidationError, match="session_id"):
        decode(v1.CreateElicitationRequest, dump(request))
    kept = decode(v1.CreateElicitationRequest, dump({**request, "requestId": None}))
    assert isinstance(kept, v1.CreateElicitationRequestUrl)


@pytest.mark.parametrize(
    ("update", "record"),
    [
        ({"state": "running"}, v2.SessionUpdateRunningStateUpdate),
        ({"state": "idle", "stopReason": 5}, v2.SessionUpdateIdleStateUpdate),
        ({"state": "requires_action", "background": "x"}, v2.SessionUpdateRequiresActionStateUpdate),
        ({"state": "asleep"}, v2.SessionUpdateStateUpdateOther),
    ],
)
def test_a_union_within_a_union_is_identified_by_both_tags(update: dict[str, Any], record: type) -> None:
    wire = {"sessionUpdate": "state_update", **update}
    note = decode(v2.UpdateSessionNotification, dump({"sessionId": "s", "update": wire}))
    assert type(note.update) is record
    kept = {name: value for name, value in wire.items() if name in ("sessionUpdate", "state")}
    assert json.loads(msgspec.json.encode(note.update)) == kept


def test_a_state_update_without_a_state_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError, match="state"):
        decode(
            v2.UpdateSessionNotification,
            dump({"sessionId": "s", "update": {"sessionUpdate": "state_update"}}),
        )


def test_an_unknown_variant_of_the_draft_is_distinguished() -> None:
    note = decode(
        v2.UpdateSessionNotification, dump({"sessionId": "s", "update": {"sessionUpdate": "_hail"}})
    )
    assert note.update == v2.SessionUpdateOther(session_update="_hail")
    request = decode(v2.PromptRequest, dump({"sessionId": "s", "prompt": [{"type": "_smell"}]}))
    assert request.prompt == [v2.ContentBlockOther(type="_smell")]


def test_an_invalid_known_variant_is_not_treated_as_unknown() -> None:
    with pytest.raises(msgspec.ValidationError, match="text"):
        decode(v2.PromptRequest, dump({"sessionId": "s", "prompt": [{"type": "text"}]}))


def test_limits_are_checked_and_a_lenient_value_beyond_them_is_omitted() -> None:
    with pytest.raises(msgspec.ValidationError, match="length >= 1"):
        decode(v2.PromptRequest, dump({"sessionId": "s", "prompt": []}))
    update = {"terminalId": "t", "size": {"cols": 0, "rows": 24}}
    assert decode(v2.TerminalUpdate, dump({"sessionUpdate": "terminal_update", **update})).size is UNSET
    assert decode(v2.Annotations, b'{"priority": 1.5}').priority is UNSET
    group = {"groupId": "g", "name": "G", "options": [5]}
    assert decode(v2.SessionConfigSelectGroup, dump(group)).options == []


def test_null_clears_a_field_in_an_upsert_and_absence_keeps_it() -> None:
    message = decode(v2.AgentMessage, b'{"sessionUpdate":"agent_message","messageId":"m","content":null}')
    assert message.content is None
    kept = decode(v2.AgentMessage, b'{"sessionUpdate":"agent_message","messageId":"m"}')
    assert kept.content is UNSET


@pytest.mark.parametrize("version", [v1, v2], ids=["v1", "v2"])
def test_an_unstable_field_cannot_reject_a_stable_peer(version: Any) -> None:
    request = dump({"cwd": "/w", "mcpServers": None, "systemPrompt": "be brief"})
    with pytest.raises(msgspec.ValidationError, match="systemPrompt"):
        decode(version.NewSessionRequest, request)
    assert decode(version.NewSessionRequest, request, is_stable=True).cwd == "/w"
    with pytest.raises(msgspec.ValidationError, match="cwd"):
        decode(version.NewSessionRequest, b'{"mcpServers":[],"systemPrompt":1}', is_stable=True)


def test_a_whole_float_is_an_integer() -> None:
    assert decode(v1.InitializeRequest, b'{"protocolVersion": 1.0}').protocol_version == 1
    with pytest.raises(msgspec.ValidationError):
        decode(v1.InitializeRequest, b'{"protocolVersion": 1.5}')


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("field", [b"_meta", b"rawInput", b"unknown", b"content"])
def test_a_depth_bomb_is_a_validation_error(opening: bytes, field: bytes) -> None:
    with pytest.raises(msgspec.ValidationError, match="Nested too deeply"):
        decode(v1.ToolCallUpdate, b'{"toolCallId":"t","' + field + b'":' + opening * 100_000)


@pytest.mark.parametrize("data", [b"", b"{", b'{"sessionId": "\xff"}', b'{"sessionId": "\\ud800"}'])
def test_invalid_json_is_a_decode_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(v1.CancelNotification, data)


def test_raw_values_are_accepted_as_they_are() -> None:
    assert decode(v1.CancelNotification, msgspec.Raw(b'{"sessionId":"s"}')).session_id == "s"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
WIRE_NAMES = sorted(
    {
        *v1.WIRE_NAMES.values(),
        *v2.WIRE_NAMES.values(),
        "type",
        "state",
        "sessionUpdate",
        "mode",
        "action",
        "outcome",
        "update",
    }
)
TAGS = ["tool_call", "plan", "text", "resource", "http", "form", "accept", "select", "selected", "string"]
NEARLY = st.recursive(
    JSON | st.sampled_from(TAGS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WIRE_NAMES), inner, max_size=6)
    ),
    max_leaves=20,
)


def decode_or_refuse(type_: Any, data: bytes) -> None:
    try:
        decode(type_, data)
    except msgspec.DecodeError:
        return


@given(st.sampled_from(TYPES), NEARLY)
def test_any_json_is_decoded_or_rejected(type_: Any, value: object) -> None:
    decode_or_refuse(type_, dump(value))


@given(st.sampled_from(TYPES), st.binary())
def test_any_bytes_are_decoded_or_rejected(type_: Any, data: bytes) -> None:
    decode_or_refuse(type_, data)


@given(
    st.dictionaries(st.sampled_from(["kind", "status", "content", "locations", "rawInput", "_meta"]), JSON)
)
def test_no_optional_field_can_reject_a_tool_call(fields: dict[str, Any]) -> None:
    note = decode(v1.SessionNotification, dump({"sessionId": "s", "update": {**TOOL_CALL, **fields}}))
    assert isinstance(note.update, v1.ToolCall)
    assert decode(v1.SessionNotification, msgspec.json.encode(note)) == note
