"""Measure the checkpoints of one repository in a fresh process; print the times.

Run by `bench.growth_rows.checkpoints`: probe_checkpoints.py FOLDER FILES
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

from bench.checkpoints import git, make_repository
from hermes_acp.core.ports.checkpoint_ports import CheckpointContext
from hermes_acp.storage.checkpoints.checkpoint_store import CheckpointStore, StoreSetup
from hermes_acp.storage.checkpoints.restoration import CheckpointRestorer, RestoreRequest
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits
from hermes_acp.storage.private_files import write_whole

ROUNDS = 5


def cpu_s() -> float:
    """Return the CPU time of this process and its ended children."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def timed(act: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    begun = clock()
    act()
    return clock() - begun


def add_all(root: Path, place: Path) -> None:
    """Store all files in an empty repository, as the floor for a first snapshot."""
    bare = place / "floor.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    command = ["git", "--git-dir", str(bare), "--work-tree", str(root), "add", "-A"]
    subprocess.run(command, check=True, capture_output=True)


def main(place: Path, files: int) -> dict[str, float]:
    root = place / "work"
    root.mkdir()
    made = make_repository(root, files)
    setup = StoreSetup(
        place / "home", {"PATH": os.environ["PATH"], "HOME": str(place)}, SnapshotLimits(10 << 20)
    )
    store = CheckpointStore(setup, Event(), {})
    occasion = CheckpointContext("ses_bench", "turn", "bench", (str(root),))
    git(root, "status")
    plain = [timed(lambda path=path: write_whole(path, b"plain\n", mode=0o644)) for path in made[:ROUNDS]]
    first: list[float] = []
    for number in range(ROUNDS):
        path = made[ROUNDS + number]
        begun = time.perf_counter()
        note = store.begin(f"e{number}", "turn", occasion, float(number), [str(path)], is_whole=False)
        write_whole(path, b"edited\n", mode=0o644)
        first.append(time.perf_counter() - begun)
        store.finish(note, [])
    git(root, "status")
    figures = {
        "plain_s": statistics.median(plain),
        "first_edit_s": statistics.median(first),
        "cold_cpu_s": timed(lambda: store.prepare((str(root),)), cpu_s),
        "add_cpu_s": timed(lambda: add_all(root, place), cpu_s),
    }
    if copy := getattr(store, "copy_borrowed", None):
        figures["copy_cpu_s"] = timed(lambda: copy((str(root),)), cpu_s)
    store.prepare((str(root),))
    times: dict[str, list[float]] = {"status_s": [], "warm_s": [], "undo_s": []}
    for number in range(ROUNDS):
        times["status_s"].append(timed(lambda: git(root, "status", "--porcelain")))
        begun = time.perf_counter()
        note = store.begin(f"w{number}", "turn", occasion, 100.0 + 2 * number, [])
        times["warm_s"].append(time.perf_counter() - begun)
        made[-1 - number].write_text("changed\n")
        store.finish(note, [])
        wish = RestoreRequest(f"u{number}", 101.0 + 2 * number, occasion)
        times["undo_s"].append(timed(lambda wish=wish: CheckpointRestorer(store).undo("ses_bench", 1, wish)))
    return figures | {name: statistics.median(each) for name, each in times.items()}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]).resolve(), int(sys.argv[2]))))
