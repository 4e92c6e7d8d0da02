"""Make one tool call in a fresh process, after a warm-up call; print its wall time, CPU time and result.

Run by `bench.growth_rows.files`: probe_tool.py FOLDER TOOL ARGUMENTS
"""

import json
import os
import resource
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


def cpu_s() -> float:
    """Return the CPU time of this process and its ended children."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


async def measure(folder: str, tool: str, arguments: str) -> dict[str, object]:
    turn = open_turn(
        ScriptedProvider(), MemoryJournal(), BACKEND.open(folder, (folder,), {"PATH": os.defpath})
    )
    empty = Path(folder, "empty")
    empty.mkdir(exist_ok=True)
    warm_up = ToolCall("c0", tool, json.dumps({"pattern": "nothing*-matches", "path": str(empty)}))
    results: list[dict[str, object]] = []
    for number, call in enumerate((warm_up, ToolCall("c1", tool, arguments))):
        turn.emit(StepEnded(f"m{number}", (call,)))
        begun, begun_cpu = time.perf_counter(), cpu_s()
        (outcome,) = await run_tool_calls(turn, (call,), truncated=False)
        taken = {"s": time.perf_counter() - begun, "cpu_s": cpu_s() - begun_cpu}
        results.append({**taken, "text": f"{outcome.status}: {outcome.text}"})
    return results[-1]


if __name__ == "__main__":
    print(json.dumps(anyio.run(measure, os.path.realpath(sys.argv[1]), sys.argv[2], sys.argv[3])))
