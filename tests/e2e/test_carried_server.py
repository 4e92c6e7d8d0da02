"""An MCP server inside the editor, with the official TypeScript SDKs of both protocols on the other side."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agent_process import COMMAND, agent_environment, run_command
from tests.e2e.foreign_clients import CLIENTS, node_for
from tests.model_server import Reply, Rule, Script, ToolCall, serve

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX"),
]
CALLS = (
    ToolCall("mcp__carried__echo", {"text": "hello out there"}, id="c1"),
    ToolCall("list_mcp_resources", {}, id="c2"),
    ToolCall("read_mcp_resource", {"server": "carried", "uri": "memo://today"}, id="c3"),
)
SCRIPT = Script(
    rules=[
        Rule("call them", (Reply("I call.", tool_calls=CALLS), Reply("Called.")), pick="step"),
        Rule("Review a.py with care.", (Reply("Reviewed."),), pick="step"),
        Rule(
            "wait for ever", (Reply(tool_calls=(ToolCall("mcp__carried__wait", {}, id="c4"),)),), pick="step"
        ),
        Rule(
            "call it again",
            (Reply(tool_calls=(ToolCall("mcp__carried__echo", {"text": "x"}, id="c5"),)), Reply("Gone.")),
            pick="step",
        ),
    ]
)


@pytest.mark.slow
async def test_a_server_inside_the_editor(tmp_path: Path, require_all: bool) -> None:
    node = node_for("@modelcontextprotocol/server", is_required=require_all)
    async with serve(SCRIPT) as model:
        environment = agent_environment(tmp_path, model) | {"HERMES_ACP_UNSTABLE": "1"}
        options = {"command": COMMAND, "env": environment, "workspace": str(tmp_path)}
        done = await run_command(
            str(CLIENTS / "carried_server.mjs"), json.dumps(options),
            environment=environment, cwd=tmp_path, command=node,
        )  # fmt: skip
    assert done.code == 0, done.errors
    told: dict[str, Any] = json.loads(done.output)
    assert told["capabilities"]["acp"] is True
    assert [told[turn] for turn in ("called", "reviewed", "waited", "gone")] == [
        "end_turn", "end_turn", "cancelled", "end_turn",
    ]  # fmt: skip
    echo, listing, memo, waiting, again = told["cards"].values()
    assert echo["title"] == "echo (carried)"
    assert "echo hello out there" in echo["texts"][-1]
    assert "memo://today: today" in listing["texts"][-1]
    assert "Buy milk." in memo["texts"][-1]
    assert [card["status"] for card in (echo, listing, memo)] == ["completed"] * 3
    assert [card["status"] for card in (waiting, again)] == ["failed"] * 2
    review = next(one for one in told["commands"][-1] if one["name"] == "carried:review")
    assert review["input"]["hint"] == "<path>"
    assert told["permissions"][:2] == ["echo (carried)", "Read memo://today (carried)"]
    assert (told["aborted"], told["exit"]) == (True, 0)
