"""At the limit of open files, new sessions are rejected with a clear error; open ones continue and can be closed."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import COMMAND, agent_environment
from tests.e2e.raw_editor import Message, RawEditor, editor, permit
from tests.model_server import Reply, Rule, Script, ToolCall, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="limits are POSIX"),
]
LIMIT = 100
ALLOW = {"session/request_permission": permit("allow_once")}


def limited(flags: str, number: int) -> Sequence[str]:
    return ("/bin/sh", "-c", f'ulimit {flags} {number}; exec "$0"', COMMAND)


def script() -> Script:
    run = Reply(tool_calls=(ToolCall("terminal", {"command": "echo soft $(ulimit -Sn)"}),))
    return Script([Reply("Still here.")], rules=[Rule("run it", (run, Reply("Done.")))], pick="cycle")


async def fill(one: RawEditor, cwd: Path) -> tuple[list[str], Message]:
    """Open sessions until one is rejected; return them and the error."""
    sessions: list[str] = []
    while True:
        reply = await one.call("session/new", {"cwd": str(cwd), "mcpServers": []})
        if "error" in reply:
            return sessions, reply["error"]
        sessions.append(reply["result"]["sessionId"])
        assert len(sessions) < LIMIT


async def test_new_sessions_are_rejected_before_open_ones_are_harmed(tmp_path: Path) -> None:
    async with (
        serve(script()) as server,
        editor(
            agent_environment(tmp_path, server), tmp_path, answers=ALLOW, command=limited("-n", LIMIT)
        ) as one,
    ):
        sessions, refusal = await fill(one, tmp_path)
        assert refusal["data"] == {"code": "descriptor_limit", "retryable": True}
        assert f"{LIMIT} files open" in refusal["message"]
        assert len(sessions) > LIMIT // 3
        for session_id in sessions:
            assert (await one.prompt(session_id, "Are you there?")).get("result") == {
                "stopReason": "end_turn"
            }
            assert one.said(session_id) == "Still here."
        assert "result" in await one.prompt(sessions[0], "run it")
        assert "soft 100" in json.dumps(one.updates(session_id=sessions[0]))
        loaded: Message = {"sessionId": sessions[1], "cwd": str(tmp_path), "mcpServers": []}
        for session_id in sessions[1 : len(sessions) // 2]:
            assert "result" in await one.call("session/close", {"sessionId": session_id})
        assert "result" in await one.call("session/load", loaded)
        assert await one.leave() == 0


async def test_concurrent_prompts_in_all_sessions_end_with_a_reason_and_harm_none(tmp_path: Path) -> None:
    replies: dict[str, Message] = {}
    async with (
        serve(script()) as server,
        editor(agent_environment(tmp_path, server), tmp_path, command=limited("-n", LIMIT)) as one,
    ):
        sessions, _ = await fill(one, tmp_path)

        async def ask(session_id: str) -> None:
            replies[session_id] = await one.prompt(session_id, "Are you there?")

        async with anyio.create_task_group() as tasks:
            for session_id in sessions:
                tasks.start_soon(ask, session_id)
        codes = {reply.get("error", {}).get("data", {}).get("code") for reply in replies.values()}
        assert "bug" not in codes, replies
        for session_id in sessions:
            said = one.said(session_id)
            assert "result" in await one.prompt(session_id, "And now?")
            assert one.said(session_id) == f"{said}Still here."
        assert not (tmp_path / ".hermes" / "logs" / "bugs.log").exists()


async def test_the_soft_limit_is_raised_for_the_agent_and_not_for_its_commands(tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard <= LIMIT:
        pytest.skip("the hard limit is as low")
    async with (
        serve(script()) as server,
        editor(
            agent_environment(tmp_path, server), tmp_path, answers=ALLOW, command=limited("-Sn", LIMIT)
        ) as one,
    ):
        limits = Path(f"/proc/{one.process.pid}/limits").read_text().splitlines()
        soft = next(line.split()[3] for line in limits if line.startswith("Max open files"))
        assert int(soft) > LIMIT
        session_id = await one.open_session(tmp_path)
        await one.prompt(session_id, "Are you there?")
        assert "result" in await one.prompt(session_id, "run it")
        assert f"soft {LIMIT}" in json.dumps(one.updates(session_id=session_id))
