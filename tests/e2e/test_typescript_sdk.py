"""The official TypeScript SDK as the client of a whole conversation, with and without its own terminals."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agent_process import COMMAND, agent_environment, run_command
from tests.e2e.foreign_clients import AFTER, BEFORE, CLIENTS, conversation, node_for
from tests.model_server import serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX"),
]


async def converse(tmp_path: Path, *, vendor: str, has_terminal: bool, is_required: bool) -> dict[str, Any]:
    node = node_for("@agentclientprotocol/sdk", is_required=is_required)
    workspace, home = tmp_path / "workspace", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    (workspace / "a.py").write_text(BEFORE)
    async with serve(conversation()) as server:
        environment = agent_environment(home, server, vendor)
        options = {
            "command": COMMAND, "env": environment, "workspace": str(workspace), "hasTerminal": has_terminal,
        }  # fmt: skip
        done = await run_command(
            str(CLIENTS / "conversation.mjs"), json.dumps(options),
            environment=environment, cwd=workspace, command=node,
        )  # fmt: skip
    assert done.code == 0, done.errors
    summary: dict[str, Any] = json.loads(done.output)
    return summary


@pytest.mark.parametrize(
    ("vendor", "has_terminal"), [("openai_compatible", True), ("anthropic", False)], ids=["terminal", "none"]
)
async def test_a_whole_conversation(
    tmp_path: Path, vendor: str, has_terminal: bool, require_all: bool
) -> None:
    told = await converse(tmp_path, vendor=vendor, has_terminal=has_terminal, is_required=require_all)
    check_opening(told)
    check_edit(told)
    check_commands(told, has_terminal)
    check_return(told)
    assert (told["exit"], told["secondExit"], told["errors"]) == (0, 0, "")


def check_opening(told: dict[str, Any]) -> None:
    assert told["initialize"]["protocolVersion"] == 1
    assert told["initialize"]["agentInfo"]["name"] == "hermes-acp"
    assert told["initialize"]["agentCapabilities"]["loadSession"] is True
    assert told["modes"]["currentModeId"] == "ask"
    assert [mode["id"] for mode in told["modes"]["availableModes"]] == [
        *("ask", "accept_edits", "plan", "auto"),
    ]


def check_edit(told: dict[str, Any]) -> None:
    assert told["refused"] == {"stopReason": "end_turn", "file": BEFORE}
    assert told["edited"] == {"stopReason": "end_turn", "file": AFTER}
    refused, allowed = told["permissions"][:2]
    assert refused["toolCallId"] != allowed["toolCallId"]
    for asked in (refused, allowed):
        (diff,) = asked["diffs"]
        assert (diff["oldText"], diff["newText"]) == (BEFORE, AFTER)
        assert diff["path"].endswith("/workspace/a.py")
        once, *lasting, refused_once, refused_for_good = asked["kinds"]
        assert (once, refused_once, refused_for_good) == ("allow_once", "reject_once", "reject_always")
        assert lasting == ["allow_always", "allow_always"]  # For the session, for the workspace.
    assert told["statuses"][refused["toolCallId"]] == ["pending", "failed"]
    assert told["statuses"][allowed["toolCallId"]] == ["pending", "in_progress", "completed"]
    assert "read" in told["calls"]
    assert "write" in told["calls"]
    for kind in ("agent_thought_chunk", "agent_message_chunk", "usage_update", "available_commands_update"):
        assert kind in told["kinds"]


def check_commands(told: dict[str, Any], has_terminal: bool) -> None:
    output = f"from the command\n{AFTER}"
    assert told["ran"] == {"stopReason": "end_turn", "terminals": [output] if has_terminal else []}
    used = {name for name in told["calls"] if name not in ("permission", "read", "write")}
    assert used == ({"terminal", "output", "wait", "kill", "release"} if has_terminal else set())
    ran = next(item for item in told["live"] if item["kind"] == "execute")
    assert output in ran["rawOutput"]["text"]
    assert ran["rawOutput"]["exit_code"] == 0
    assert told["cancelledStream"] == "cancelled"
    assert told["cancelledCommand"] == {"stopReason": "cancelled", "isAlive": False}
    assert told["after"] == "end_turn"


def check_return(told: dict[str, Any]) -> None:
    (listed,) = told["listed"]
    assert listed["isOurs"]
    assert listed["title"] == "refuse me"
    assert told["unknown"] == -32002
    assert told["loadedMode"] == "plan"
    assert told["goesOn"] == "end_turn"
    asked = [item["text"] for item in told["replay"] if item["kind"] == "user_message_chunk"]
    assert asked == [
        "refuse me", "edit the file", "run the command", "talk for ever", "sleep for ever", "still there?",
    ]  # fmt: skip
    replayed = [item for item in told["replay"] if item["kind"] != "user_message_chunk"]
    assert replayed == told["live"]
