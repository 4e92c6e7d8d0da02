"""Measure checkpoints of a 10,000-file repository: cold, warm and after a change, compared with `git status`.

Run: python -m bench.checkpoints [FILES]
     python -m bench.checkpoints edits [FILES …]   turns with edits only, at several sizes (1,000 to 100,000)
The repository is a real one with everything committed, a `.gitignore` and an ignored `node_modules`. "Warm" is the cost
before a turn's first write if nothing has changed since the last turn. `git status` is the user's own, with its index
refreshed. The time to undo one changed file is shown too. Medians are of 15 alternating rounds.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

from msgspec import Struct

from hermes_acp.core.ports.checkpoint_ports import CheckpointContext
from hermes_acp.storage.checkpoints.checkpoint_store import CheckpointStore, StoreSetup
from hermes_acp.storage.checkpoints.restoration import CheckpointRestorer, RestoreRequest
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits
from hermes_acp.storage.private_files import write_whole

GOAL_WARM_MS = 150.0
ROUNDS = 15
GOAL_EDIT_MS = 100.0
EDIT_ROUNDS = 7
EDIT_ROWS = {
    "plain": "an edit without a checkpoint",
    "first": "first edit of a turn, folder never seen",
    "later": "later edit of the turn",
    "end": "end of the turn",
    "undo": "undo of the turn",
    "whole_cold": "first command of a turn, folder never seen",
    "whole_warm": "first command of a turn, nothing changed",
    "status": "git status",
}


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True, timeout=600)


def make_repository(root: Path, files: int) -> list[Path]:
    made: list[Path] = []
    for number in range(files):
        path = root / "src" / f"part{number // 500}" / f"module{number // 25}" / f"file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# file {number}\n" + f"value = {number}\n" * (number % 200))
        made.append(path)
    for number in range(files // 5):
        path = root / "node_modules" / f"package{number // 20}" / f"index{number}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (root / ".gitignore").write_text("node_modules/\n*.log\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all")
    git(root, "status")
    return made


def timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


class EditTimes(Struct):
    """The times at one size, in ms.

    Every first edit uses a separate home folder that has never stored the workspace.
    """

    plain: list[float] = []
    first: list[float] = []
    later: list[float] = []
    end: list[float] = []
    undo: list[float] = []
    whole_cold: list[float] = []
    whole_warm: list[float] = []
    status: list[float] = []


def measure_edits(files: int) -> EditTimes:
    """Measure turns that edit two files each, compared with edits without checkpoints and with folder snapshots."""
    times = EditTimes()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        root = place / "work"
        root.mkdir()
        made = make_repository(root, files)
        variables = {"PATH": os.environ["PATH"], "HOME": str(place)}
        occasion = CheckpointContext("ses_bench", "turn", "bench", (str(root),))

        def store_in(home: str) -> CheckpointStore:
            setup = StoreSetup(place / home, variables, SnapshotLimits(10 << 20))
            return CheckpointStore(setup, Event(), {})

        for number in range(EDIT_ROUNDS):
            first, second, other = made[3 * number : 3 * number + 3]
            times.plain.append(timed(lambda path=other: write_whole(path, b"plain\n", mode=0o644)))
            store, at = store_in(f"home{number}"), 3.0 * number
            began = time.perf_counter()
            note = store.begin(f"cp_{number}", "turn", occasion, at, [str(first)], is_whole=False)
            write_whole(first, b"first\n", mode=0o644)
            times.first.append((time.perf_counter() - began) * 1000)
            began = time.perf_counter()
            store.amend(note, [str(second)])
            write_whole(second, b"second\n", mode=0o644)
            times.later.append((time.perf_counter() - began) * 1000)
            times.end.append(timed(lambda note=note, store=store: store.finish(note, [])))
            wish = RestoreRequest(f"undo_{number}", at + 1, occasion)
            times.undo.append(
                timed(lambda store=store, wish=wish: CheckpointRestorer(store).undo("ses_bench", 1, wish))
            )
            times.status.append(timed(lambda: git(root, "status", "--porcelain")))
        store = store_in("home_whole")
        times.whole_cold.append(timed(lambda: store.begin("w0", "turn", occasion, 1.0, [])))
        for number in range(1, EDIT_ROUNDS):
            times.whole_warm.append(
                timed(lambda number=number: store.begin(f"w{number}", "turn", occasion, 1.0 + number, []))
            )
    return times


def show_edits(sizes: Sequence[int]) -> int:
    """Print a table of all sizes: each time, and its ratio to an edit without a checkpoint."""
    columns = [measure_edits(size) for size in sizes]
    print(f"{'ms, and ratio to an edit without a checkpoint':48}" + "".join(f"{size:>20,}" for size in sizes))
    for name, label in EDIT_ROWS.items():
        cells: list[str] = []
        for times in columns:
            value, floor = statistics.median(getattr(times, name)), statistics.median(times.plain)
            cells.append(f"{value:10.1f} {value / floor:8.1f}x")
        print(f"{label:48}" + "".join(cells))
    over = [statistics.median(each.first) - statistics.median(each.plain) for each in columns]
    return 0 if max(over) <= GOAL_EDIT_MS else 1


def main() -> int:
    if sys.argv[1:2] == ["edits"]:
        return show_edits([int(size) for size in sys.argv[2:]] or [1_000, 10_000, 100_000])
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        root = place / "work"
        root.mkdir()
        made = make_repository(root, files)
        variables = {"PATH": os.environ["PATH"], "HOME": str(place)}
        store = CheckpointStore(StoreSetup(place / "home", variables, SnapshotLimits(10 << 20)), Event(), {})
        occasion = CheckpointContext("ses_bench", "turn", "bench", (str(root),))
        cold_ms = timed(lambda: store.prepare((str(root),)))
        warm: list[float] = []
        changed: list[float] = []
        after: list[float] = []
        status: list[float] = []
        undone: list[float] = []
        for number in range(ROUNDS):
            status.append(timed(lambda: git(root, "status", "--porcelain")))
            begun: list[float] = []
            note_id = f"cp_{number}"
            began = time.perf_counter()
            note = store.begin(note_id, "turn", occasion, float(2 * number), [])
            begun.append((time.perf_counter() - began) * 1000)
            warm += begun
            made[number].write_text(f"changed {number}\n")
            after.append(timed(lambda note=note: store.finish(note, [])))
            made[-1 - number].write_text("by the user\n")
            changed.append(timed(lambda: store.shadow(str(root)).take()))
            wish = RestoreRequest(f"undo_{number}", 2.0 * number + 1, occasion)
            undone.append(timed(lambda wish=wish: CheckpointRestorer(store).undo("ses_bench", 1, wish)))
            shadow = store.shadow(str(root))  # an undo stores only the files that it restores
            shadow.folder_modes(shadow.take().tree)
    warm_ms, status_ms = statistics.median(warm), statistics.median(status)
    print(f"{files:,} files; medians of {ROUNDS} rounds")
    print(f"  cold, everything read and written   {cold_ms:8.0f} ms")
    print(f"  before a turn, nothing changed      {warm_ms:8.1f} ms  (goal {GOAL_WARM_MS:.0f})")
    print(f"  git status of the same tree         {status_ms:8.1f} ms  ratio {warm_ms / status_ms:.2f}")
    print(f"  a snapshot after one change         {statistics.median(changed):8.1f} ms")
    print(f"  after a turn that changed a file    {statistics.median(after):8.1f} ms")
    print(f"  undo of one file                    {statistics.median(undone):8.1f} ms")
    return 0 if warm_ms <= GOAL_WARM_MS or files > 10_000 else 1


if __name__ == "__main__":
    sys.exit(main())
