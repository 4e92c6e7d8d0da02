"""Measure memory, throughput and retention for fifty megabytes of command output, in the foreground and background.

The floor reads and discards the same output. Memory is the growth of this process's peak compared with a 1 MB run.
Run: python -m bench.output [MEGABYTES]
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio

from hermes_acp.core.ports.workspace_ports import Command, Workspace
from hermes_acp.workspaces.backends.local import BACKEND
from tests.attacks.sandboxes import Report

GOAL_MB = 8.0
MEGABYTES = 50


def peak_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the kernel reports no peak memory")


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def flood(megabytes: int) -> str:
    return f"yes 'a line of a command that talks a lot' | head -c {megabytes * 1_000_000}; echo; echo last"


class Silent(Report):
    def output(self, text: str) -> None:
        del text


async def run(workspace: Workspace, megabytes: int) -> str:
    end = await workspace.run(Command(flood(megabytes), workspace.cwd, 600), Silent())
    return end.output


async def launch(workspace: Workspace, megabytes: int) -> str:
    process = await workspace.launch(Command(flood(megabytes), workspace.cwd, 600))
    said = ""
    while (sight := await process.read(60)).end is None:
        said = sight.output or said
    return sight.output or said


async def main(megabytes: int) -> None:
    begun = time.perf_counter()
    subprocess.run(["/bin/bash", "-c", flood(megabytes)], stdout=subprocess.DEVNULL, check=True)
    print(f"{'discarded':12} {megabytes / (time.perf_counter() - begun):8.0f} MB/s")
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        folder = str(Path(place).resolve())
        workspace = BACKEND.open(folder, (folder,), {"PATH": os.defpath, "TMPDIR": folder})
        for name, work in (("run", run), ("launched", launch)):
            await work(workspace, 1)
            forget_peak()
            before = peak_mb()
            begun = time.perf_counter()
            text = await work(workspace, megabytes)
            took_s = time.perf_counter() - begun
            path = text.partition("can be read in ")[2].partition(" ")[0]
            kept = os.stat(path).st_size / 1e6 if path else 0.0
            print(
                f"{name:12} {megabytes / took_s:8.0f} MB/s, memory {peak_mb() - before:+5.1f} MB, goal {GOAL_MB:.0f}, "
                f"{len(text) / 1000:.0f} kB shown, {kept:.1f} MB kept, ends with {text.strip()[-4:]!r}"
            )
        await workspace.close()


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else MEGABYTES)
