"""Ignored and blocked signals that an agent inherits and its commands must not get."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path
from typing import Final

import anyio
import pytest

from tests.attacks.attack_checks import attacked_agent, result_of
from tests.e2e.agent_process import COMMAND, SLEEPER
from tests.model_server import Reply, ToolCall

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc"),
]
CARELESS: Final = f"""
import os, signal
for name in "INT HUP PIPE QUIT TSTP CHLD USR1 ALRM".split():
    signal.signal(getattr(signal, "SIG" + name), signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT, signal.SIGUSR2])
os.execv({COMMAND!r}, [{COMMAND!r}])
"""

PROGRAMS_OWN: Final = sum(1 << number - 1 for number in signal.valid_signals())
"""Two more belong to the C library, which starts programs with these ignored at times (`make` does)."""


async def test_commands_start_with_no_signal_ignored_and_their_ends_are_reported(tmp_path: Path) -> None:
    command = (sys.executable, "-c", CARELESS)
    async with attacked_agent(tmp_path, command=command) as siege:
        look = "grep -E 'Sig(Ign|Blk)' /proc/self/status"
        trap = "bash -c 'trap \"echo trapped\" INT; kill -INT $$'"
        line = f"{look}; {trap}; exit 3"
        said = result_of(await siege.call("terminal", {"command": line}))
        masks = [int(mask, 16) for mask in re.findall(r"Sig(?:Ign|Blk):\s+([0-9a-f]+)", said)]
        assert [mask & PROGRAMS_OWN for mask in masks] == [0, 0], said
        assert "trapped" in said
        assert "[exit code: 3]" in said


async def test_signals_ignored_by_its_parent_do_not_end_the_agent(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path, command=("sh", "-c", f"trap '' HUP; exec {COMMAND}")) as siege:
        siege.agent.process.send_signal(signal.SIGHUP)
        assert "still there" in result_of(await siege.call("terminal", {"command": "echo still there"}))


async def test_a_cancelled_command_gets_a_signal_first(tmp_path: Path) -> None:
    command = (sys.executable, "-c", CARELESS)
    async with attacked_agent(tmp_path, command=command) as siege:
        noted = siege.workspace / "noted"
        line = f"trap 'echo told > {noted}; exit' TERM; echo ready > {noted}; {SLEEPER.replace('exec ', '')} & wait"
        siege.model.learn("go on.", Reply(tool_calls=(ToolCall("terminal", {"command": line}),)))
        session_id = await siege.agent.open_session(siege.workspace)
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(siege.agent.prompt, session_id, "go on.")
                while not noted.exists():
                    await anyio.sleep(0.02)
                await siege.agent.send(
                    {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}}
                )
            while noted.read_text() != "told\n":
                await anyio.sleep(0.02)
