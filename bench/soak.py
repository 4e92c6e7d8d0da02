"""Soak test of one agent: thousands of tool calls in hundreds of sessions, opened and closed one after another.

The process is measured from outside: open descriptors and memory after each session, compared with those after the
first few sessions (when everything has been loaded); the maximum response time of a trivial request, repeated
throughout (the lag of the event loop and the pipe); and the processes that are left at the end.
Run: python -m bench.soak [CALLS [SESSIONS]]
"""

import math
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
from msgspec import Struct

from tests.attacks.attack_checks import AttackedAgent, attacked_agent, open_descriptors
from tests.model_server import Reply, ToolCall

GOAL_DESCRIPTORS, GOAL_MEMORY_SHARE, GOAL_LAG_MS = 10, 0.2, 250.0
CALLS, SESSIONS = 5_000, 200
CALLS_A_STEP = 5
WARM_SESSIONS = 5
PAUSE_S = 0.02


class Soaked(Struct):
    """The measurements of one process."""

    calls: int
    descriptors: list[int]
    memory_mib: list[float]
    lags_ms: list[float]
    taken_s: float

    @property
    def descriptors_grown(self) -> int:
        """Return the maximum growth of the number of open descriptors after the first sessions."""
        warm = self.descriptors[: max(1, WARM_SESSIONS)]
        return max(self.descriptors) - max(warm)

    @property
    def memory_grown(self) -> float:
        """Return the relative growth of memory from the first to the last sessions."""
        warm = (
            self.memory_mib[WARM_SESSIONS - 1]
            if len(self.memory_mib) >= WARM_SESSIONS
            else self.memory_mib[0]
        )
        return statistics.median(self.memory_mib[-5:]) / warm - 1


def calls_of(number: int) -> tuple[ToolCall, ...]:
    """Return the calls of one step, cycling through all kinds; each step uses its own files."""
    name = f"file-{number}.txt"
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("write_file", {"path": name, "content": f"line {number}\n" * 50}),
        ("edit_file", {"path": name, "old_text": "line", "new_text": "row", "replace_all": True}),
        ("read_file", {"path": name}),
        ("search", {"pattern": f"row {number}$"}),
        ("terminal", {"command": f"cat {name} | head -n 3; sleep 0.01 &"}),
        ("glob", {"pattern": "*.txt"}),
        ("list_files", {}),
        ("git", {"action": "status"}),
        ("apply_patch", {"patch": f"*** Begin Patch\n*** Add File: p{number}\n+x\n*** End Patch"}),
        ("read_file", {"path": "no such file"}),
    )
    start = number * CALLS_A_STEP % len(kinds)
    return tuple(
        ToolCall(name, arguments) for name, arguments in (kinds + kinds)[start : start + CALLS_A_STEP]
    )


def resident_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024


async def feel_the_pulse(siege: AttackedAgent, lags_ms: list[float], waiting: anyio.Lock) -> None:
    """Send trivial requests repeatedly and record the response times."""
    while True:
        async with waiting:
            begun = time.perf_counter()
            await siege.agent.call("no/such/method", {})
            lags_ms.append((time.perf_counter() - begun) * 1000)
        await anyio.sleep(PAUSE_S)


async def live_through(
    siege: AttackedAgent, calls: int, sessions: int, soaked: Soaked, waiting: anyio.Lock
) -> None:
    """Open sessions one after another, make calls in each, and close it."""
    steps = max(1, math.ceil(calls / sessions / CALLS_A_STEP))
    for number in range(sessions):
        session_id = await siege.agent.open_session(siege.workspace)
        replies = [Reply(tool_calls=calls_of(number * steps + step)) for step in range(steps)]
        ends = await siege.turn(*replies, session_id=session_id)
        soaked.calls += len(ends)
        await siege.agent.call("session/close", {"sessionId": session_id})
        async with waiting:  # discard the messages, but not while a caller waits for one
            siege.agent.messages.clear()
        siege.server.requests.clear()
        for path in siege.workspace.glob("*"):
            if path.is_file():
                path.unlink()
        pid = siege.agent.process.pid
        soaked.descriptors.append(open_descriptors(pid))
        soaked.memory_mib.append(resident_mib(pid))


async def soak(place: Path, calls: int, sessions: int) -> Soaked:
    """Run one agent through all sessions. Raises AssertionError if a process is left or a canary was touched."""
    soaked = Soaked(0, [], [], [], 0.0)
    async with attacked_agent(place) as siege:
        await anyio.run_process(["git", "init", "-q", str(siege.workspace)])
        await siege.check_prompt()  # everything that a first turn needs has been loaded
        begun, waiting = time.perf_counter(), anyio.Lock()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(feel_the_pulse, siege, soaked.lags_ms, waiting)
            await live_through(siege, calls, sessions, soaked, waiting)
            tasks.cancel_scope.cancel()
        soaked.taken_s = time.perf_counter() - begun
    return soaked


def main() -> None:
    given = [int(number) for number in sys.argv[1:3]]
    calls, sessions = (*given, *(CALLS, SESSIONS)[len(given) :])
    with tempfile.TemporaryDirectory() as place:
        soaked = anyio.run(soak, Path(place), calls, sessions)
    lags = sorted(soaked.lags_ms)
    held = (
        soaked.descriptors_grown <= GOAL_DESCRIPTORS
        and soaked.memory_grown <= GOAL_MEMORY_SHARE
        and lags[-1] <= GOAL_LAG_MS
    )
    print(
        f"{soaked.calls:,} calls over {sessions} sessions in {soaked.taken_s:.0f} s; nothing was left behind"
    )
    first, last = soaked.descriptors[0], soaked.descriptors[-1]
    grown = f"grew by {soaked.descriptors_grown} at most"
    print(f"descriptors: {first} first, {last} last, {grown}, goal {GOAL_DESCRIPTORS}")
    first_mib, last_mib = soaked.memory_mib[0], soaked.memory_mib[-1]
    share = f"grew by {soaked.memory_grown:.1%}, goal {GOAL_MEMORY_SHARE:.0%}"
    print(f"memory, MiB: {first_mib:.0f} first, {last_mib:.0f} last, {share}")
    p99 = lags[int(0.99 * len(lags))]
    print(
        f"lag, ms: median {statistics.median(lags):.1f}, p99 {p99:.1f}, most {lags[-1]:.1f}, goal {GOAL_LAG_MS:g}"
    )
    print("held" if held else "MISSED")
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
