"""The permissions of a child agent in a separate process: those of its parent at that moment, within its budget."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import WAIT_S, agent_environment, configure, run_headless
from tests.e2e.test_child_processes import ASK, WRITE, delegating, events_of, record_of_child
from tests.model_server import Hold, Recorded, Reply, Script, ToolCall, Usage, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]


def by_prompt(**played: Sequence[Reply]) -> Script:
    """Choose by the first word of a session's prompt and by the number of its model's answers.

    Mode notes are sent as user messages, so rules that check the last of these do not match.
    """

    def choose(request: Recorded) -> Reply | None:
        messages = request.body["messages"]
        prompt = next(str(each["content"]) for each in messages if each["role"] == "user")
        steps = sum(each["role"] == "assistant" for each in messages)
        return next((replies[steps] for word, replies in played.items() if word in prompt), None)

    return Script(choose=choose)


def hand_over(*tasks: str) -> Reply:
    """Delegate tasks whose instructions are one word each."""
    named = [{"title": each.title(), "instructions": each} for each in tasks]
    return Reply("I delegate.", tool_calls=(ToolCall("delegate", {"tasks": named}),))


def records_of_children(home: Path) -> list[list[dict[str, Any]]]:
    return [events_of(path) for path in (home / ".hermes" / "sessions").glob("*/*.jsonl")]


async def recorded_by_children(home: Path, kind: str, value: str, count: int = 1) -> None:
    """Wait until children have recorded this many events of a kind that contain a value."""
    with anyio.fail_after(WAIT_S):
        while count > sum(
            event["type"] == kind and value in event.values()
            for events in records_of_children(home)
            for event in events
        ):
            await anyio.sleep(0.02)


async def test_a_change_of_the_parents_mode_reaches_a_running_child(home: Path, workspace: Path) -> None:
    """A parent that switches to `plan` removes its child's permission to write, and later restores it."""
    planned, freed, first_asked, second_asked = (anyio.Event() for _ in range(4))

    def write(name: str, gate: anyio.Event, reached: anyio.Event) -> Reply:
        call = ToolCall("write_file", {"path": name, "content": "new\n"})
        return Reply(tool_calls=(call,), holds=(Hold(gate, reached=reached),))

    child = (write("one.txt", planned, first_asked), write("two.txt", freed, second_asked), Reply("I tried."))
    played = by_prompt(begin=(hand_over("scribble"), Reply("All in.")), scribble=child)
    async with serve(played) as server, delegating(home, workspace, server) as (one, session):
        await one.call("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
        asked = await one.begin_prompt(session, "begin")
        await first_asked.wait()
        await one.call("session/set_mode", {"sessionId": session, "modeId": "plan"})
        await recorded_by_children(home, "mode_changed", "plan")
        planned.set()
        await second_asked.wait()
        assert not (workspace / "one.txt").exists()
        await one.call("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
        await recorded_by_children(home, "mode_changed", "accept_edits", count=2)
        freed.set()
        await one.wait_for(lambda m: m.get("id") == asked and "result" in m)
        assert not any(message.get("method") == ASK for message in one.messages)
        told = json.dumps(server.requests[-2].body)
    assert "Mode is now plan: read only" in told
    assert "Mode is now accept_edits" in told
    assert [path.name for path in workspace.glob("*.txt")] == ["two.txt"]


async def test_a_mode_change_reaches_the_child_of_a_child(home: Path, workspace: Path) -> None:
    go, reached = anyio.Event(), anyio.Event()
    write = Reply(tool_calls=WRITE.tool_calls, holds=(Hold(go, reached=reached),))
    played = by_prompt(
        begin=(hand_over("between"), Reply("All in.")),
        between=(hand_over("lowest"), Reply("Top.")),
        lowest=(write, Reply("I tried.")),
    )
    async with serve(played) as server, delegating(home, workspace, server) as (one, session):
        await one.call("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
        asked = await one.begin_prompt(session, "begin")
        await reached.wait()
        await one.call("session/set_mode", {"sessionId": session, "modeId": "plan"})
        await recorded_by_children(home, "mode_changed", "plan", count=2)
        go.set()
        await one.wait_for(lambda m: m.get("id") == asked and "result" in m)
    assert not (workspace / "made.txt").exists()


async def test_an_answer_for_the_session_applies_to_a_running_child(home: Path, workspace: Path) -> None:
    """One child's question is answered for the whole session while another child's model is still working."""
    go, reached = anyio.Event(), anyio.Event()
    later = Reply(tool_calls=WRITE.tool_calls, holds=(Hold(go, reached=reached),))
    played = by_prompt(
        begin=(hand_over("early", "late"), Reply("All in.")),
        early=(Reply(tool_calls=WRITE.tool_calls), Reply("Early.")),
        late=(later, Reply("Late.")),
    )
    async with serve(played) as server, delegating(home, workspace, server, "allow_always") as (one, session):
        asked = await one.begin_prompt(session, "begin")
        await reached.wait()
        await recorded_by_children(home, "permission_answered", "allow_always", count=2)
        go.set()
        await one.wait_for(lambda m: m.get("id") == asked and "result" in m)
        assert len([m for m in one.messages if m.get("method") == ASK]) == 1


async def test_a_childs_budget_ends_it_and_counts_for_its_parent(home: Path, workspace: Path) -> None:
    looks = [
        Reply(tool_calls=(ToolCall("glob", {"pattern": f"*.{number}"}),), usage=Usage(400, 100))
        for number in range(20)
    ]
    played = by_prompt(begin=(hand_over("search"), Reply("All in.")), search=looks)
    configure(home, "delegation: {isolation: process}\n")
    async with serve(played) as server:
        flags = ("--max-tokens", "4000", "--output-format", "json", "-p", "begin")
        done = await run_headless(*flags, environment=agent_environment(home, server), cwd=workspace)
    (last,) = [event for event in record_of_child(home) if event["type"] == "turn_ended"]
    assert last["reason"] == "out_of_tokens"
    assert 3 <= last["steps"] <= 5
    assert done.report["steps"] == last["steps"] + 2
    assert (done.code, done.report["text"]) == (0, "All in.")
