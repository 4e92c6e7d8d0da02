"""Replays every golden transcript with an app in this process, and checks that none is missing."""

from pathlib import Path

import pytest

from hermes_acp.core.plugins import PluginFolder
from hermes_protocol import methods, v2_methods
from tests.conversations.app_scene import Scene
from tests.golden.app_stage import app_stage
from tests.golden.replay import replay
from tests.golden.transcript import FOLDER, Json, all_transcripts, read_transcript

ALSO = {1: ["cancel_request"], 2: ["cancel_request"]}
CALLED = {
    1: {
        "auth_status_update",
        "elicitation_complete",
        "elicitation_create",
        "fs_read_text_file",
        "fs_write_text_file",
        "mcp_message",
        "session_request_permission",
        "session_update",
        "terminal_create",
        "terminal_kill",
        "terminal_output",
        "terminal_release",
        "terminal_wait_for_exit",
    },
    2: {
        "elicitation_complete",
        "elicitation_create",
        "mcp_message",
        "session_request_permission",
        "session_update",
    },
}
NOT_CALLED = {1: set[str](), 2: {"auth_status_update"}}
SHOWN = {
    1: """
        agent_message_chunk agent_thought_chunk available_commands_update config_option_update
        compaction_summary_chunk compaction_update current_mode_update notice plan plan_removed
        plan_update session_info_update tool_call tool_call_update usage_update user_message_chunk
    """,
    2: """
        agent_message agent_message_chunk agent_thought_chunk compaction_summary_chunk
        compaction_update config_option_update notice plan_update session_info_update state_update
        terminal_output_chunk terminal_update
        tool_call_content_chunk tool_call_update usage_update user_message
    """,
}
PROPOSED = {"session_attach": "session/attach", "session_detach": "session/detach"}
"""Methods of open proposals, which the published tables lack."""

REFUSALS = {-32700, -32600, -32601, -32602, -32603, -32000, -32001, -32002, -32800}
ROWS = {1: methods.METHODS, 2: v2_methods.METHODS}
ALSO_NOTIFIED = {1: methods.ALSO_NOTIFIED, 2: v2_methods.ALSO_NOTIFIED}
OWN = {path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in all_transcripts()}


@pytest.mark.anyio
@pytest.mark.parametrize("name", OWN)
async def test_a_transcript_is_replayed(scene: Scene, name: str) -> None:
    transcript = read_transcript(OWN[name])
    async with app_stage(scene, transcript.header) as (wire, stage):
        await replay(transcript, wire, stage)


def of(version: int, name: str) -> list[Path]:
    return [OWN[own] for own in OWN if own == f"v{version}/{name}"]


def said(version: int, sender: str) -> list[Json]:
    files = [read_transcript(path) for own, path in OWN.items() if own.startswith(f"v{version}/")]
    return [frame for file in files for frame in file.frames(sender)]


@pytest.mark.parametrize("version", [1, 2])
def test_every_served_method_has_a_transcript(version: int) -> None:
    leaves: PluginFolder[object] = PluginFolder(f"hermes_acp.frontends.acp.v{version}.methods", "METHOD")
    for key in [*leaves.names(), *ALSO[version]]:
        (path,) = of(version, key) or [pytest.fail(f"protocol/transcripts/v{version}/{key}.jsonl is missing")]
        transcript = read_transcript(path)
        rows = (*ALSO_NOTIFIED[version].values(), *ROWS[version].values())
        found = [row for row in rows if row.key == key and row.side in ("agent", "both")]
        name = found[0].name if found else PROPOSED[key]
        sent = [frame for frame in transcript.frames("client") if frame.get("method") == name]
        assert sent, f"{path} does not call {name}"
        answered = {frame["id"] for frame in transcript.frames("agent") if "result" in frame}
        is_notification = bool(found) and found[0].result is None
        assert is_notification or [frame for frame in sent if frame["id"] in answered], path


@pytest.mark.parametrize("version", [1, 2])
def test_every_called_method_has_a_transcript(version: int) -> None:
    clients = {row.key for row in ROWS[version].values() if row.side == "client"}
    assert clients == CALLED[version] | NOT_CALLED[version]
    for key in CALLED[version]:
        (path,) = of(version, key) or [pytest.fail(f"protocol/transcripts/v{version}/{key}.jsonl is missing")]
        names = {frame.get("method", "").replace("/", "_") for frame in read_transcript(path).frames("agent")}
        assert key in names, path
    called = {frame["method"].replace("/", "_") for frame in said(version, "agent") if "method" in frame}
    assert called - {"$_cancel_request"} == CALLED[version]


@pytest.mark.parametrize("version", [1, 2])
def test_every_kind_of_update_is_in_a_transcript(version: int) -> None:
    updates = [
        frame["params"]["update"] for frame in said(version, "agent") if "update" in frame.get("params", {})
    ]
    assert {update["sessionUpdate"] for update in updates} == set(SHOWN[version].split())


def test_every_error_code_is_in_a_transcript() -> None:
    frames = [*said(1, "agent"), *said(2, "agent")]
    assert {frame["error"]["code"] for frame in frames if "error" in frame} == REFUSALS


def test_a_difference_is_detected() -> None:
    from tests.golden.transcript import Names

    names = Names({"cwd": "/w"})
    assert names.fits({"id": "${session}", "at": "${cwd}/a"}, {"id": "s1", "at": "/w/a"})
    assert names.fits({"id": "${session}"}, {"id": "s1"})
    for expected, received in (
        ({"id": "${session}"}, {"id": "s2"}),
        ({"id": "${session_2}"}, {"id": "s1"}),
        ({"n": 1}, {"n": True}),
        ({"n": 1}, {"n": 1, "m": 2}),
        ([1], [1, 2]),
        ({"at": "${cwd}/a"}, {"at": "/w/b"}),
    ):
        assert not names.fits(expected, received)
