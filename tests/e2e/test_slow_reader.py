"""An editor that stops reading while the model streams: nothing is lost, and the agent's memory does not grow."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import agent_environment
from tests.e2e.raw_editor import RawEditor, editor
from tests.model_server import Hold, Reply, Rule, Script, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
]

DELTAS = 6000
DELTA_CHARACTERS = 8192
STALL_S = 1.0
FLAT_MIB = 16
"""A third of what streams; an agent that buffered it all, as JSON or as text, would use more."""


def words() -> tuple[str, ...]:
    return tuple(f"{number:06} ".ljust(DELTA_CHARACTERS, "x") for number in range(DELTAS))


def memory_mib(one: RawEditor) -> float:
    status = Path(f"/proc/{one.process.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


async def test_an_editor_that_stops_reading_loses_nothing(tmp_path: Path) -> None:
    near_the_end, go_on = anyio.Event(), anyio.Event()
    go_on.set()
    streamed = Reply(words(), holds=(Hold(go_on, after=DELTAS - 1, reached=near_the_end),))
    rules = [Rule("talk", (streamed,)), Rule("hello", (Reply("Hello."),), pick="cycle")]
    async with (
        serve(Script(rules=rules)) as server,
        editor(agent_environment(tmp_path, server), tmp_path) as one,
    ):
        session_id = await one.open_session(tmp_path)
        await one.prompt(session_id, "hello")
        before_mib = memory_mib(one)
        turn = await one.begin_prompt(session_id, "talk")
        await one.wait_for_update(lambda u: "000000 " in str(u.get("content")))
        one.may_read = anyio.Event()
        await anyio.sleep(STALL_S)
        assert not near_the_end.is_set(), "the model waits for the editor, so this reply is long enough"
        assert memory_mib(one) - before_mib < FLAT_MIB
        one.may_read.set()
        end = await one.wait_for(lambda message: "method" not in message and message.get("id") == turn)
        assert end["result"] == {"stopReason": "end_turn"}
        assert one.said(session_id) == "Hello." + "".join(words())
        await one.prompt(session_id, "hello")
        assert one.said(session_id).endswith("xHello.")
        assert await one.leave() == 0
        assert one.errors == ""
