"""A checkpoint of a 10,000-file repository: cold, warm, after a change; each beside `git status` of the same tree.

Run: python -m bench.checkpoints [FILES]
The repository is a real one with everything committed, a `.gitignore` and an ignored `node_modules`. Warm is what a
turn pays before its first write when nothing changed since the last one; `git status` is the user's own, with its index
refreshed. What an undo of one changed file takes is shown too. The medians are of 15 rounds, taken in turns.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

from hermes_acp.core.ports.checkpoint_ports import CheckpointContext
from hermes_acp.storage.checkpoints.checkpoint_store import CheckpointStore, StoreSetup
from hermes_acp.storage.checkpoints.restoration import CheckpointRestorer, RestoreRequest
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits

GOAL_WARM_MS = 150.0
ROUNDS = 15


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True, timeout=120)


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


def main() -> int:
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
    warm_ms, status_ms = statistics.median(warm), statistics.median(status)
    print(f"{files:,} files; medians of {ROUNDS} rounds")
    print(f"  cold, everything read and written   {cold_ms:8.0f} ms")
    print(f"  before a turn, nothing changed      {warm_ms:8.1f} ms  (goal {GOAL_WARM_MS:.0f})")
    print(f"  git status of the same tree         {status_ms:8.1f} ms  ratio {warm_ms / status_ms:.2f}")
    print(f"  a snapshot after one change         {statistics.median(changed):8.1f} ms")
    print(f"  after a turn that changed a file    {statistics.median(after):8.1f} ms")
    print(f"  undo of one file, its own snapshots {statistics.median(undone):8.1f} ms")
    return 0 if warm_ms <= GOAL_WARM_MS or files > 10_000 else 1


if __name__ == "__main__":
    sys.exit(main())
