"""Child agents in separate processes: asking, restricted, cancelled, killed, and in git worktrees."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agent_process import (
    SLEEPER,
    agent_environment,
    configure,
    run_headless,
    wait_for_end,
    watch_process,
)
from tests.e2e.raw_editor import RawEditor, editor, outcome_text, permit
from tests.model_server import ModelServer, Reply, Rule, Script, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]
ASK = "session/request_permission"
TASK = {"title": "Work", "instructions": "work on it"}
WRITE = Reply("I write.", tool_calls=(ToolCall("write_file", {"path": "made.txt", "content": "new\n"}),))
RUN = Reply("I run it.", tool_calls=(ToolCall("terminal", {"command": SLEEPER}),))


def rules(*child: Reply, before: tuple[Reply, ...] = ()) -> list[Rule]:
    """Have the agent delegate once, after the replies in `before`, and its child send these replies."""
    hand_over = Reply("I delegate.", tool_calls=(ToolCall("delegate", {"tasks": [TASK]}),))
    return [
        Rule("work on it", child, pick="step"),
        Rule("begin", (*before, hand_over, Reply("All in.")), pick="step"),
    ]


def script(*child: Reply) -> Script:
    return Script(rules=rules(*child))


@asynccontextmanager
async def delegating(
    home: Path, workspace: Path, server: ModelServer, answer: str = "allow_once", isolation: str = "process"
) -> AsyncGenerator[tuple[RawEditor, str]]:
    configure(home, f"delegation: {{isolation: {isolation}}}\n")
    answers = {ASK: permit(answer)}
    async with editor(agent_environment(home, server), home / "scratch", answers=answers) as one:
        yield one, await one.open_session(workspace)


def card(one: RawEditor) -> dict[str, Any]:
    """Return the last state of the delegating call."""
    opened = next(u for u in one.updates("tool_call") if u.get("title", "").startswith("Delegate: "))
    return [u for u in one.updates("tool_call_update") if u["toolCallId"] == opened["toolCallId"]][-1]


def children_of(pid: int) -> list[int]:
    """Return the processes of child agents that a process has started."""
    listed = subprocess.run(
        ["ps", "-wweo", "pid,ppid,args"], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    return [int(row[0]) for row in rows if int(row[1]) == pid and row[2].rstrip().endswith(" drive")]


async def sleeping(one: RawEditor) -> int:
    """Wait until a child's command runs; return its process."""

    def shown(message: dict[str, Any]) -> re.Match[str] | None:
        return re.search(r"pid (\d+)", json.dumps(message))

    found = shown(await one.wait_for(lambda m: m.get("method") == "session/update" and bool(shown(m))))
    assert found
    return int(found[1])


def record_of_child(home: Path) -> list[dict[str, Any]]:
    (path,) = (home / ".hermes" / "sessions").glob("*/*.jsonl")
    return events_of(path)


def events_of(record: Path) -> list[dict[str, Any]]:
    lines = record.read_text().splitlines(keepends=True)
    return [json.loads(line)["event"] for line in lines if line.endswith("\n")]


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@b.c", *words],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


async def test_a_childs_question_is_asked_in_the_parents_session_and_its_answer_returned(
    home: Path, workspace: Path
) -> None:
    async with (
        serve(script(WRITE, Reply("I wrote it."))) as server,
        delegating(home, workspace, server) as (one, session),
    ):
        asked = await one.begin_prompt(session, "begin")
        await one.wait_for(lambda m: m.get("method") == ASK)
        (process,) = children_of(one.process.pid)
        ended = watch_process(process)
        await one.wait_for(lambda m: m.get("id") == asked and "result" in m)
        await wait_for_end(ended)
        (question,) = [m["params"] for m in one.messages if m.get("method") == ASK]
        assert (question["sessionId"], question["toolCall"]["title"]) == (session, "Work: Create made.txt")
        own = question["toolCall"]["toolCallId"]
        states = [
            u["status"] for u in one.updates("tool_call_update") if u["toolCallId"] == own and "status" in u
        ]
        assert states == ["in_progress", "completed"]
        assert outcome_text(card(one)) == "## 1. Work\nI wrote it."
        assert (workspace / "made.txt").read_text() == "new\n"
        listed = (await one.call("session/list", {}))["result"]["sessions"]
        assert [each["sessionId"] for each in listed] == [session]
        assert await one.leave() == 0
    assert record_of_child(home)[-1]["type"] == "turn_ended"


async def test_a_rejection_is_reported_to_the_child(home: Path, workspace: Path) -> None:
    async with (
        serve(script(WRITE, Reply("I was not allowed."))) as server,
        delegating(home, workspace, server, "reject_once") as (one, session),
    ):
        await one.prompt(session, "begin")
        assert outcome_text(card(one)) == "## 1. Work\nI was not allowed."
        assert not (workspace / "made.txt").exists()


async def test_a_killed_child_is_an_outcome_that_says_so(home: Path, workspace: Path) -> None:
    async with serve(script(RUN)) as server, delegating(home, workspace, server) as (one, session):
        asked = await one.begin_prompt(session, "begin")
        sleeper = watch_process(await sleeping(one))
        (process,) = children_of(one.process.pid)
        os.kill(process, signal.SIGKILL)
        await one.wait_for(lambda m: m.get("id") == asked and "result" in m)
        await wait_for_end(sleeper)
        end = card(one)
        assert end["status"] == "failed"
        assert "its process was killed" in outcome_text(end)
        assert one.said(session).endswith("All in.")
    last = record_of_child(home)[-1]
    assert (last["type"], last["reason"]) == ("turn_ended", "cancelled")


async def test_a_cancel_ends_the_child_with_its_commands(home: Path, workspace: Path) -> None:
    async with serve(script(RUN)) as server, delegating(home, workspace, server) as (one, session):
        asked = await one.begin_prompt(session, "begin")
        sleeper = watch_process(await sleeping(one))
        (process,) = children_of(one.process.pid)
        ended = watch_process(process)
        await one.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
        reply = await one.wait_for(lambda m: m.get("id") == asked and "result" in m)
        assert reply["result"]["stopReason"] == "cancelled"
        await wait_for_end(ended)
        await wait_for_end(sleeper)
    assert record_of_child(home)[-1]["reason"] == "cancelled"


async def test_a_child_ends_with_its_killed_parent(home: Path, workspace: Path) -> None:
    async with serve(script(RUN)) as server, delegating(home, workspace, server) as (one, session):
        await one.begin_prompt(session, "begin")
        sleeper = watch_process(await sleeping(one))
        (process,) = children_of(one.process.pid)
        ended = watch_process(process)
        one.process.kill()
        await wait_for_end(ended)
        await wait_for_end(sleeper)
    assert session


async def test_a_child_has_fewer_tools_and_inherits_the_sources(home: Path, workspace: Path) -> None:
    library = workspace / "node_modules" / "lib"
    library.mkdir(parents=True)
    (library / "a.md").write_text("Foreign text.\n")
    look = Reply("I read.", tool_calls=(ToolCall("read_file", {"path": "node_modules/lib/a.md"}),))
    nested = {"tasks": [{"title": "Deeper", "instructions": "go deeper"}]}
    child = (Reply("I delegate too.", tool_calls=(ToolCall("delegate", nested),)), Reply("Top."))
    played = [Rule("go deeper", (Reply("Deep."),)), *rules(*child, before=(look,))]
    async with serve(Script(rules=played)) as server, delegating(home, workspace, server) as (one, session):
        await one.prompt(session, "begin")
        assert outcome_text(card(one)) == "## 1. Work\nTop."
        offered = [tools_of(each.body) for each in server.requests]
    top, below, lowest = offered[0], offered[2], offered[3]
    assert "delegate" in below
    assert below == top - {"ask_user", "memory", "skill_manage", "tool_manage"}
    assert lowest == below - {"delegate"}
    records = [events_of(path) for path in (home / ".hermes" / "sessions").glob("*/*.jsonl")]
    assert len(records) == 2
    for events in records:
        sources = [event["sources"] for event in events if event["type"] == "sources_read"]
        assert sources == [[{"label": "untrusted", "name": "node_modules/lib"}]]


async def test_a_child_works_in_the_mode_of_its_parent(home: Path, workspace: Path) -> None:
    hand_over = Reply("I delegate.", tool_calls=(ToolCall("delegate", {"tasks": [TASK]}),))
    played = [hand_over, WRITE, Reply("I wrote it."), Reply("All in.")]
    async with serve(played) as server, delegating(home, workspace, server) as (one, session):
        await one.call("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
        await one.prompt(session, "begin")
        assert outcome_text(card(one)) == "## 1. Work\nI wrote it."
        assert not any(message.get("method") == ASK for message in one.messages)
    assert (workspace / "made.txt").exists()


def tools_of(body: Any) -> set[str]:
    tools: Sequence[dict[str, Any]] = body.get("tools", [])
    return {tool["function"]["name"] for tool in tools}


async def test_undo_reverts_the_changes_of_a_child(home: Path, workspace: Path) -> None:
    change = ToolCall("write_file", {"path": "a.py", "content": "z = 3\n"})
    look = ToolCall("read_file", {"path": "a.py"})
    played = (
        Reply("I look.", tool_calls=(look,)),
        Reply("I write.", tool_calls=(change,)),
        Reply("Changed."),
    )
    async with serve(script(*played)) as server, delegating(home, workspace, server) as (one, session):
        await one.prompt(session, "begin")
        assert (workspace / "a.py").read_text() == "z = 3\n"
        await one.prompt(session, "/undo")
    assert (workspace / "a.py").read_text() == "x = 1\ny = 2\n"


async def test_a_childs_work_in_a_worktree_stays_on_a_branch(home: Path, workspace: Path) -> None:
    make_repository(workspace)
    async with (
        serve(script(WRITE, Reply("I wrote it."))) as server,
        delegating(home, workspace, server, isolation="worktree") as (one, session),
    ):
        await one.prompt(session, "begin")
        told = outcome_text(card(one))
    found = re.search(r"on the git branch (\S+)\. It is not merged", told)
    assert found, told
    assert not (workspace / "made.txt").exists()
    assert git(workspace, "show", f"{found[1]}:made.txt") == "new\n"
    assert len(worktrees_of(workspace)) == 1


async def test_a_worktree_left_by_a_killed_process_is_removed_later(home: Path, workspace: Path) -> None:
    make_repository(workspace)
    async with (
        serve(script(RUN)) as server,
        delegating(home, workspace, server, isolation="worktree") as (one, session),
    ):
        await one.begin_prompt(session, "begin")
        sleeper = watch_process(await sleeping(one))
        one.process.kill()
        await wait_for_end(sleeper)
    assert len(worktrees_of(workspace)) == 2
    async with (
        serve(script(Reply("Nothing to do."))) as server,
        delegating(home, workspace, server, isolation="worktree") as (one, session),
    ):
        await one.prompt(session, "begin")
        assert "Nothing was changed in the git worktree" in outcome_text(card(one))
    assert len(worktrees_of(workspace)) == 1


def make_repository(folder: Path) -> None:
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")


def worktrees_of(folder: Path) -> list[str]:
    return git(folder, "worktree", "list").splitlines()


async def test_a_headless_run_counts_the_childs_usage(home: Path, workspace: Path) -> None:
    configure(home, "delegation: {isolation: process}\n")
    async with serve(script(Reply("Found it."))) as server:
        environment = agent_environment(home, server)
        done = await run_headless(
            "--output-format", "json", "-p", "begin", environment=environment, cwd=workspace
        )
    assert (done.code, done.report["text"], done.report["steps"]) == (0, "All in.", 3)
