"""Measure the cost of the sandbox: `true` run in the sandbox, without it, and directly, in turn.

The workspaces have few or many files and are writable or read-only.

Run: python -m bench.sandbox [RUNS]
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import anyio

from hermes_acp.app.confinement import guarded_names
from hermes_acp.core.ports.workspace_ports import Command, Workspace
from hermes_acp.core.proposals import Confinement
from hermes_acp.workspaces.backends.local import BACKEND, SandboxSetup
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import (
    SandboxDetector,
    detect_landlock,
    detect_sandbox,
)
from hermes_acp.workspaces.sandbox_setup import sandbox_bounds
from tests.attacks.sandboxes import Report

GOAL_MS = 15.0
RUNS = 100
MANY_FILES = 30_000
FILES_A_FOLDER = 10


def opened(folder: Path, find: SandboxDetector) -> Workspace:
    surroundings = {"PATH": os.defpath, "HOME": str(folder / "home")}
    chosen = SandboxSetup(lambda: sandbox_bounds(None, guarded_names()), find=find)
    return BACKEND.open(str(folder), (str(folder),), surroundings, "", chosen)


def runner(workspace: Workspace, confinement: Confinement) -> Callable[[], Awaitable[object]]:
    command = Command("true", workspace.cwd, 30, confinement)
    return lambda: workspace.run(command, Report())


async def plainly() -> None:
    await anyio.run_process(["/bin/bash", "-c", "true"])


def fill(folder: Path, count: int) -> None:
    """Create files in folders, including one secret."""
    for number in range(count):
        place = folder / "src" / str(number // 300) / str(number // FILES_A_FOLDER)
        if number % FILES_A_FOLDER == 0:
            place.mkdir(parents=True)
        (place / f"{number}.py").touch()
    (folder / ".env").write_text("KEY=x")


async def main(runs: int) -> None:
    for count in (0, MANY_FILES):
        await in_workspace(count, runs)


async def in_workspace(files: int, runs: int) -> None:
    """Measure in a workspace with the given number of files."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        folder = Path(place).resolve()
        fill(folder, files)
        (folder / "home").mkdir()
        subprocess.run(["git", "init", "-q", place], check=True)
        environment = {"PATH": os.defpath}
        ways = {way.way: way for way in (detect_sandbox(environment, ()), detect_landlock(environment, ()))}
        usual = opened(folder, detect_sandbox)
        boxes = {
            name: opened(folder, detect_landlock if name == "landlock" else detect_sandbox)
            for name in ways
            if name != "none"
        }
        works: Mapping[str, Callable[[], Awaitable[object]]] = {
            "plainly": plainly,
            "unsandboxed": runner(usual, "never"),
            **{name: runner(box, "must") for name, box in boxes.items()},
            **{f"{name}, read-only": runner(box, "read_only") for name, box in boxes.items()},
        }
        taken = await measure(works, runs)
        for box in (usual, *boxes.values()):
            await box.close()
    print(f"{files} files")
    report(taken)


async def measure(works: Mapping[str, Callable[[], Awaitable[object]]], runs: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in works}
    for number in range(runs + 3):
        for name, work in works.items():
            begun = time.perf_counter()
            await work()
            if number >= 3:
                taken[name].append((time.perf_counter() - begun) * 1000)
    return taken


def report(taken: Mapping[str, list[float]]) -> None:
    floor = statistics.median(taken["unsandboxed"])
    for name, values in taken.items():
        median = statistics.median(values)
        over = "" if name in ("plainly", "unsandboxed") else f", {median - floor:+.1f} ms, goal {GOAL_MS:.0f}"
        best = statistics.quantiles(values, n=10)[0]
        print(
            f"{name:22} median {median:6.1f} ms, best decile {best:6.1f} ms, {median / floor:4.2f} times{over}"
        )


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
