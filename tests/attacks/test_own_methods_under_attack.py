"""The agent's own methods, called by a hostile or confused client: wrong sessions, paths, numbers and queries."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from tests.attacks.attack_checks import AttackedAgent, attacked_agent
from tests.e2e.raw_editor import Message
from tests.model_server import Reply, ToolCall

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]
REFUSALS: Final = {-32602, -32002}
BOUND_S: Final = 30
REVIEWED: Final[Message] = {
    "protocolVersion": 1,
    "clientCapabilities": {"_meta": {"hermes": {"reviews": True}}},
}
HUGE: Final = 10**400
OWN: Final = "_hermes"


async def changed(siege: AttackedAgent) -> tuple[str, str, str]:
    """Have one session change a file without approval; return it, a session in another folder, and the checkpoint."""
    session_id = await siege.agent.open_session(siege.workspace)
    mode = {"sessionId": session_id, "modeId": "accept_edits"}
    await siege.agent.call("session/set_mode", mode)
    await siege.check_prompt(
        session_id
    )  # The note about the new mode reaches the model here, before the turn under test.
    call = ToolCall("write_file", {"path": "a.txt", "content": "by the agent\n"})
    await siege.turn(Reply(tool_calls=(call,)), session_id=session_id)
    elsewhere = siege.home / "elsewhere"
    elsewhere.mkdir()
    other = await siege.agent.open_session(elsewhere)
    listed = await siege.agent.call(f"{OWN}/checkpoints/list", {"sessionId": session_id})
    return session_id, other, str(listed["result"]["checkpoints"][0]["id"])


async def refused(siege: AttackedAgent, method: str, params: Message) -> None:
    with anyio.fail_after(BOUND_S):
        reply = await siege.agent.call(f"{OWN}/{method}", params)
    assert reply.get("error", {}).get("code") in REFUSALS, (method, str(params)[:300], str(reply)[:500])


async def test_no_method_accepts_another_or_an_invalid_session(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, greeting=REVIEWED) as siege:
        session_id, other, checkpoint = await changed(siege)
        strange: list[Any] = [
            *("", "../x", "\0", "x" * 100_000, "\ud800", f"{session_id}/", f"../sessions/{session_id}"),
            *(session_id.upper(), str(siege.canary), None, 5, HUGE, {}, [], True),
        ]
        for each in strange:
            for method, more in (
                ("checkpoints/list", {}),
                ("checkpoints/diff", {"id": checkpoint}),
                ("checkpoints/restore", {"id": checkpoint, "force": True}),
                ("edits/list", {}),
                ("edits/judge", {"verdict": "rejected"}),
            ):
                await refused(siege, method, {"sessionId": each, **more})
        for method in ("checkpoints/diff", "checkpoints/restore"):
            await refused(siege, method, {"sessionId": other, "id": checkpoint, "force": True})
        listed = await siege.agent.call(f"{OWN}/checkpoints/list", {"sessionId": other})
        assert listed["result"] == {"checkpoints": []}
        assert (siege.workspace / "a.txt").read_text() == "by the agent\n"


async def test_no_argument_leads_outside(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, greeting=REVIEWED) as siege:
        session_id, _, checkpoint = await changed(siege)
        strange: list[Any] = ["", f"../{checkpoint}", "x" * 100_000, "\ud800", None, 5, HUGE, {}, []]
        for each in strange:
            for method in ("checkpoints/diff", "checkpoints/restore"):
                await refused(siege, method, {"sessionId": session_id, "id": each})
        no_paths: list[Any] = ["a.txt", [5], {}, [None], HUGE]
        for paths in no_paths:
            params: Message = {"sessionId": session_id, "id": checkpoint, "paths": paths, "force": True}
            await refused(siege, "checkpoints/restore", params)
        outside = ["../secrets/canary.txt", str(siege.canary), "\0", "x" * 100_000, "/", ".."]
        params = {"sessionId": session_id, "id": checkpoint, "paths": outside, "force": True}
        await siege.agent.call(f"{OWN}/checkpoints/restore", params)
        for path in outside:
            for hunks in ([0], [-1], [10**18], [HUGE], ["a"], [1] * 100_000, None, 5):
                params = {"sessionId": session_id, "path": path, "verdict": "rejected", "hunks": hunks}
                with anyio.fail_after(BOUND_S):
                    reply = await siege.agent.call(f"{OWN}/edits/judge", params)
                assert reply.get("error", {}).get("code") in REFUSALS | {None}, (path[:80], reply)
        assert (siege.workspace / "a.txt").read_text() == "by the agent\n"


async def test_no_query_is_more_than_words(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        await siege.check_prompt()
        queries = (
            "",
            "*",
            '"',
            "a AND (",
            "NEAR(",
            "\0",
            "col:x",
            "-",
            "^",
            "a* OR " * 2000,
            "%_",
            "\ud800",
            "a" * 10**6,
        )
        for query in queries:
            for limit in (0, -1, 10**18, 100):
                with anyio.fail_after(BOUND_S):
                    params = {"query": query, "limit": limit, "cwd": "../x"}
                    reply = await siege.agent.call(f"{OWN}/sessions/search", params)
                assert reply.get("error", {}).get("code") in REFUSALS | {None}, (query[:80], reply)
        no_limits: list[Any] = [None, "x", 1.5, []]
        for limit in no_limits:
            await refused(siege, "sessions/search", {"query": "words", "limit": limit})
