"""Read 50 lines of a file through the tool in a fresh process; print the time, event-loop lag and memory growth.

Run by `bench.growth_rows.files`: probe_read.py FILE FIRST
"""

import json
import os
import sys
import time
from pathlib import Path

import anyio

from hermes_acp.agent.calls.tool_calls import run_tool_calls
from hermes_acp.core.events import StepEnded
from hermes_acp.core.messages import ToolCall
from hermes_acp.workspaces.backends.local import BACKEND
from tests.conversations.scripted_provider import ScriptedProvider
from tests.unit.agent.turns import MemoryJournal, open_turn

TICK_S = 0.001


def peak_mib() -> float:
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM:")).split()[1]) / 1024


async def measure(path: Path, first: int) -> dict[str, float]:
    place = str(path.parent.resolve())
    turn = open_turn(ScriptedProvider(), MemoryJournal(), BACKEND.open(place, (place,), {"PATH": os.defpath}))
    lags: list[float] = []

    async def read(name: str, number: int, first: int) -> None:
        arguments = json.dumps({"path": name, "offset": first, "limit": 50})
        calls = (ToolCall(f"c{number}", "read_file", arguments),)
        turn.emit(StepEnded(f"m{number}", calls))
        (outcome,) = await run_tool_calls(turn, calls, truncated=False)
        if outcome.status != "completed":
            raise RuntimeError(outcome.text)

    async def tick() -> None:
        while True:
            begun = time.perf_counter()
            await anyio.sleep(TICK_S)
            lags.append(time.perf_counter() - begun - TICK_S)

    (path.parent / "small.txt").write_text("a line\n" * 100)
    await read("small.txt", 1, 1)
    Path("/proc/self/clear_refs").write_text("5")
    before_mib = peak_mib()
    took_s = 0.0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        await anyio.sleep(0.05)
        lags.clear()
        begun = time.perf_counter()
        await read(path.name, 2, first)
        took_s = time.perf_counter() - begun
        await anyio.sleep(2 * TICK_S)
        tasks.cancel_scope.cancel()
    return {"s": took_s, "lag_ms": max(lags) * 1000, "grown_mib": peak_mib() - before_mib}


if __name__ == "__main__":
    print(json.dumps(anyio.run(measure, Path(sys.argv[1]), int(sys.argv[2]))))
