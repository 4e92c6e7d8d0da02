"""Child agents in real processes: headless, and killed during delegation."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import (
    SLEEPER,
    WAIT_S,
    agent_environment,
    run_headless,
    wait_for_end,
    watch_process,
)
from tests.e2e.raw_editor import RawEditor, editor, outcome_text, permit
from tests.model_server import Reply, Rule, Script, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]
TASKS = [{"title": "Count", "instructions": "count them"}, {"title": "Name", "instructions": "name them"}]
HAND_OVER = Reply("I delegate.", tool_calls=(ToolCall("delegate", {"tasks": TASKS}),))
RUN = Reply("I run it.", tool_calls=(ToolCall("terminal", {"command": SLEEPER}),))


async def test_a_run_reports_what_its_children_do(tmp_path: Path) -> None:
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    home.mkdir()
    workspace.mkdir()
    rules = [
        Rule("count them", (Reply("There are three."),)),
        Rule("name them", (Reply("A, b and c."),)),
        Rule("begin", (HAND_OVER, Reply("Three: a, b, c.")), pick="step"),
    ]
    async with serve(Script(rules=rules)) as server:
        arguments = ("--output-format", "stream-json", "-p", "begin")
        done = await run_headless(*arguments, environment=agent_environment(home, server), cwd=workspace)
    assert (done.code, done.report["text"], done.report["steps"]) == (0, "Three: a, b, c.", 4)
    changes = [event for event in done.events if event["type"] == "child_changed"]
    assert sorted((event["title"], str(event["reason"])) for event in changes) == [
        ("Count", "None"),
        ("Count", "done"),
        ("Name", "None"),
        ("Name", "done"),
    ]
    (name,) = {event["child_id"] for event in changes if event["title"] == "Name"}
    reported = [e["event"] for e in done.events if e["type"] == "child_reported" and e["child_id"] == name]
    assert "".join(event["text"] for event in reported if event["type"] == "text_said") == "A, b and c."
    assert "prompt_frozen" not in {event["type"] for event in reported}
    assert "child agent 'Count': done" in done.errors
    recorded = next((home / ".hermes" / "sessions").glob("*.jsonl")).read_text()
    assert "child_changed" in recorded
    assert "child_reported" not in recorded


async def test_kill_9_during_a_delegation(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    rules = [
        Rule("count them", (RUN,)),
        Rule("name them", (Reply("A, b and c."),)),
        Rule("begin", (HAND_OVER,)),
        Rule("go on", (Reply("I look first."),)),
    ]

    def board(one: RawEditor) -> str:
        told = json.dumps(one.updates("tool_call_update"))
        # Both are running or done: a child that had not started when everything was killed leaves no record.
        return told if re.search(r"pid \d", told) and "Name: done" in told else ""

    async with serve(Script(rules=rules)) as server:
        environment = agent_environment(tmp_path, server)
        answers = {"session/request_permission": permit("allow_once")}
        async with editor(environment, tmp_path, answers=answers) as one:
            session_id = await one.open_session(workspace)
            await one.begin_prompt(session_id, "begin")
            await one.wait_for(lambda _: bool(board(one)))
            (number,) = set(re.findall(r"pid (\d+)", board(one)))
            sleeper = watch_process(int(number))
            one.process.kill()
            with anyio.fail_after(WAIT_S):
                await one.process.wait()
        await wait_for_end(sleeper)
        async with editor(environment, tmp_path, answers=answers) as two:
            loaded: dict[str, Any] = {"sessionId": session_id, "cwd": str(workspace), "mcpServers": []}
            assert "result" in await two.call("session/load", loaded)
            (card,) = two.updates("tool_call", session_id)[:1]
            end = [u for u in two.updates("tool_call_update") if u["toolCallId"] == card["toolCallId"]][-1]
            assert end["status"] == "failed"
            assert "may have taken effect" in outcome_text(end)
            children = sorted((tmp_path / ".hermes" / "sessions" / session_id).glob("*.jsonl"))
            for child in children:
                last = json.loads(child.read_text().splitlines()[-1])["event"]
                assert (last["type"], last["reason"] in ("cancelled", "done")) == ("turn_ended", True)
            assert len(children) == 2
            assert (await two.prompt(session_id, "go on"))["result"] == {"stopReason": "end_turn"}
            assert await two.leave() == 0
