"""A headless run that outgrows the endpoint's window: the real wire, a real process, and each vendor's own error."""

import json
import sys
from pathlib import Path

import pytest

from tests.e2e.agent_process import VENDORS, agent_environment, run_headless
from tests.model_server import Fault, Reply, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]

LOOK = Reply("I look.", tool_calls=(ToolCall("read_file", {"path": "a.py"}),))
LOOK_AGAIN = Reply("Again.", tool_calls=(ToolCall("read_file", {"path": "b.py"}),))
FULL = Reply(fault=Fault(status=400, kind="context_full"))
SUMMARY = Reply("a.py sets x three hundred times.", deltas=3)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_run_compacts_its_history_says_so_and_continues(tmp_path: Path, vendor: str) -> None:
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    home.mkdir()
    workspace.mkdir()
    for name in ("a.py", "b.py"):
        (workspace / name).write_text("x = 1\n" * 300)
    async with serve([LOOK, LOOK_AGAIN, FULL, SUMMARY, Reply("Both set x.")]) as server:
        arguments = ("--output-format", "stream-json", "-p", "What do they set?")
        done = await run_headless(
            *arguments, environment=agent_environment(home, server, vendor), cwd=workspace
        )
    assert (done.code, done.report["text"]) == (0, "Both set x.")
    kinds = [event["type"] for event in done.events]
    assert kinds.index("compaction_started") < kinds.index("summary_said") < kinds.index("history_compacted")
    (compacted,) = [event for event in done.events if event["type"] == "history_compacted"]
    assert compacted["summary"] == "a.py sets x three hundred times."
    assert compacted["tokens_after"] < compacted["tokens_before"]
    assert "The older part of the conversation was summarised" in done.errors
    assert done.report["steps"] == 3
    assert done.report["usage"]["input_tokens"] == 4 * 11
    first, _, full, asked, last = (json.dumps(request.body) for request in server.requests)
    assert "x = 1" in full
    assert '"tools"' not in asked
    assert "What do they set?" in asked
    assert "a.py sets x three hundred times." in last
    assert "What do they set?" in last
    assert len(last) < len(full)
    assert '"tools"' in first
