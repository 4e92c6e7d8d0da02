"""Measure the file tools: a read and edit round trip, and a search of a large tree compared with ripgrep alone.

The round trip is a `read_file` and an `edit_file`, each parsed, checked by the policy and executed by the agent's own
code, with a record in memory. The floor is the same work done directly: read, replace, write to a temporary file, sync,
rename. The search also goes through the tool; ripgrep alone is started with the same options, and the two alternate.
Run: python -m bench.files [FILES [FOLDER]], where FILES is the number of files in the tree.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from hermes_acp.agent.calls.tool_calls import run_tool_calls
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.core.events import ModeChanged, StepEnded
from hermes_acp.workspaces.backends.local import BACKEND
from hermes_acp.workspaces.ripgrep import find_ripgrep
from tests.conversations.scripted_provider import ScriptedProvider, call
from tests.unit.agent.turns import MemoryJournal, open_turn

GOAL_ROUND_TRIP_MS, GOAL_SEARCH_RATIO = 2.0, 1.3
ROUNDS, SEARCHES = 300, 9
FILES_A_FOLDER = 100
LINE = "    result = compute(value, other)  # a line like any other\n"
NEEDLE = "the needle stands here"


def open_bench(folder: Path) -> Turn:
    """Open a turn in a real folder, in the mode that allows edits without asking."""
    place = str(folder.resolve())
    workspace = BACKEND.open(place, (place,), {"PATH": os.defpath})
    turn = open_turn(ScriptedProvider(), MemoryJournal(), workspace)
    turn.emit(ModeChanged("accept_edits"))
    return turn


class Counter:
    """Generates new IDs for calls and steps."""

    def __init__(self) -> None:
        self.count = 0

    async def make(self, turn: Turn, name: str, **arguments: object) -> None:
        self.count += 1
        calls = (call(name, f"c{self.count}", **arguments),)
        turn.emit(StepEnded(f"m{self.count}", calls))
        (outcome,) = await run_tool_calls(turn, calls, truncated=False)
        if outcome.status != "completed":
            raise RuntimeError(outcome.text)


async def timed_ms(work: Callable[[], Awaitable[None]]) -> float:
    begun = time.perf_counter()
    await work()
    return (time.perf_counter() - begun) * 1000


def by_hand(path: Path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    aside = path.with_suffix(".aside")
    with aside.open("wb") as file:
        file.write(text.replace(old, new).encode())
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


async def bench_round_trip(folder: Path) -> bool:
    ours, plain = folder / "ours.py", folder / "plain.py"
    for path in (ours, plain):
        path.write_text(LINE * 200 + "number = 0\n")
    turn, counter = open_bench(folder), Counter()
    taken: list[float] = []
    cpu_ms: list[float] = []
    floor: list[float] = []
    for number in range(ROUNDS):
        old, new = f"number = {number}", f"number = {number + 1}"

        async def round_trip(old: str = old, new: str = new) -> None:
            await counter.make(turn, "read_file", path="ours.py")
            await counter.make(turn, "edit_file", path="ours.py", old_text=old, new_text=new)

        begun_cpu = time.process_time()
        taken.append(await timed_ms(round_trip))
        cpu_ms.append((time.process_time() - begun_cpu) * 1000)
        begun = time.perf_counter()
        by_hand(plain, old, new)
        floor.append((time.perf_counter() - begun) * 1000)
    median, p95 = statistics.median(taken), sorted(taken)[int(0.95 * ROUNDS)]
    print(
        f"read_file and edit_file, ms: median {median:.2f}, p95 {p95:.2f}, CPU "
        f"{statistics.median(cpu_ms):.2f}; floor {statistics.median(floor):.3f}; "
        f"goal {GOAL_ROUND_TRIP_MS:g}"
    )
    return median <= GOAL_ROUND_TRIP_MS


def make_tree(folder: Path, files: int) -> None:
    for number in range(files):
        place = folder / f"d{number // (FILES_A_FOLDER * 100)}" / f"e{number // FILES_A_FOLDER % 100}"
        if number % FILES_A_FOLDER == 0:
            place.mkdir(parents=True)
        needle = f"# {NEEDLE}\n" if number % 5000 == 0 else ""
        (place / f"f{number}.py").write_text(f"{LINE * 8}{needle}{number}\n")


async def bench_search(folder: Path, files: int) -> bool:
    make_tree(folder, files)
    turn, counter = open_bench(folder), Counter()
    program = find_ripgrep({"PATH": os.defpath}, ())
    plain = [program, "--no-config", "--json", "--hidden", "--no-require-git", NEEDLE, str(folder)]
    ours: list[float] = []
    alone: list[float] = []
    for number in range(SEARCHES):

        async def search(number: int = number) -> None:
            await counter.make(turn, "search", pattern=NEEDLE, context=0, literal=number % 2 == 0)

        begun = time.perf_counter()
        subprocess.run(plain, capture_output=True, check=True)
        alone.append((time.perf_counter() - begun) * 1000)
        ours.append(await timed_ms(search))
    ratio = statistics.median(ours) / statistics.median(alone)
    print(
        f"search of {files:,} files, ms: median {statistics.median(ours):.0f}; ripgrep alone "
        f"{statistics.median(alone):.0f}; ratio {ratio:.2f}; goal {GOAL_SEARCH_RATIO:g}"
    )
    found = await timed_ms(lambda: counter.make(turn, "glob", pattern="f*99.py"))
    print(f"glob over {files:,} files, ms: {found:.0f}")
    return ratio <= GOAL_SEARCH_RATIO


async def run(folder: Path, files: int) -> bool:
    (folder / "small").mkdir()
    (folder / "tree").mkdir()
    held = [await bench_round_trip(folder / "small"), await bench_search(folder / "tree", files)]
    return all(held)


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as place:
        held = anyio.run(run, Path(place), files)
    print("held" if held else "MISSED")
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
