"""Break updates at random points; check that one complete version always starts and that an open session continues.

python -m bench.update_faults [--rounds 500] [--minutes N] [--seed N] [--small-disk] [--preload LIBRARY]

Each round starts an update from a local package index and breaks it by hanging up the terminal, killing the whole
process group, cutting off the network, or filling the disk. Afterwards, the command must start one of the two versions,
which must carry out a turn. `--preload` names a library that fails writes below FAULT_PREFIX with "no space left" after
FAULT_AFTER bytes (`bench/failing_writes.c`); `--small-disk` puts the installation on an in-memory file system that
becomes full at a random moment (needs root).
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import anyio
from msgspec import Struct

from tests.e2e.agent_process import agent_environment
from tests.e2e.raw_editor import RawEditor, editor
from tests.e2e.update_stage import FIRST, build_wheel, install, other_version, served, write_index
from tests.model_server import Reply, Rule, Script, serve

SECOND: Final = "0.2.0"
ROUND_TIMEOUT_S: Final = 600.0
DISK_BYTES: Final = 1 << 30
PROMPT: Final = "hello"
DEAD: Final = "http://127.0.0.1:9"


class Stage(Struct):
    """One installation, and everything needed to update it."""

    root: Path
    command: Path
    index: str
    variables: dict[str, str]
    preload: str
    disk: Path | None
    usual_s: float = 10.0


class Outcome(Struct, frozen=True):
    """The outcome of one round: its fault, and the version that starts afterwards."""

    fault: str
    code: int
    version: str


def started(stage: Stage, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run the command until it ends."""
    return subprocess.run(
        [str(stage.command), *words],
        capture_output=True,
        text=True,
        check=False,
        env=stage.variables | variables,
        timeout=ROUND_TIMEOUT_S,
    )


def version_that_starts(stage: Stage) -> str:
    """Return the version that starts and carries out a turn. Raises AssertionError if none does."""
    shown = started(stage, "--version")
    assert shown.returncode == 0, f"it does not start: {shown.stderr}"
    tried = started(stage, "update", "--trial")
    assert tried.returncode == 0, f"{shown.stdout.strip()} does not work: {tried.stderr}"
    return shown.stdout.split()[-1]


def prepare(stage: Stage, version: str, dice: random.Random) -> None:
    """Switch back to the first version; sometimes keep what was already installed of the second."""
    if version == SECOND:
        back = started(stage, "update", "--back")
        assert back.returncode == 0, back.stderr
    if dice.random() < 0.8:
        for left in (stage.root / "versions").glob(f"{SECOND}-*"):
            shutil.rmtree(left)


def resize(disk: Path, size: int) -> bool:
    """Resize an in-memory file system; return whether its content fits."""
    words = ["mount", "-o", f"remount,size={size}", str(disk)]
    return subprocess.run(words, check=False, capture_output=True, timeout=60).returncode == 0


def break_once(stage: Stage, fault: str, dice: random.Random) -> tuple[int, bool]:
    """Start an update, break it, and wait for all its processes to end.

    Returns the exit code, and whether the update had started when it was broken.
    """
    variables, index = dict(stage.variables), stage.index
    moment = dice.uniform(0, stage.usual_s)
    if fault == "no index":
        index = DEAD
    if fault == "no network":
        variables |= {
            "UV_CACHE_DIR": str(stage.root.parent / "empty-cache"),
            "HTTPS_PROXY": DEAD,
            "UV_OFFLINE": "1",
        }
    if fault == "failing writes":
        after = str(round(2 ** dice.uniform(0, 23)))
        variables |= {"LD_PRELOAD": stage.preload, "FAULT_PREFIX": str(stage.root), "FAULT_AFTER": after}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [str(stage.command), "update", "--index", index],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(moment)
        has_begun = _hit(stage, fault, process)
        code = process.wait(ROUND_TIMEOUT_S)
        wait_for_worker(stage)
    if stage.disk:
        assert resize(stage.disk, DISK_BYTES)
    return code, has_begun


def _hit(stage: Stage, fault: str, process: "subprocess.Popen[bytes]") -> bool:
    """Break the update; return whether its own process had started or already ended by then."""
    workers = worker_groups(stage)
    has_begun = bool(workers) or process.poll() is not None
    if fault == "full disk" and stage.disk:
        usage = shutil.disk_usage(stage.disk)
        resize(stage.disk, usage.used + (1 << 16))
    if fault in ("hang up", "kill"):
        number = signal.SIGHUP if fault == "hang up" else signal.SIGKILL
        for group in workers:
            with suppress(ProcessLookupError):
                os.killpg(group, number)
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGHUP if fault == "hang up" else signal.SIGTERM)
    if fault == "terminate":
        for group in workers:
            with suppress(ProcessLookupError):
                os.kill(group, signal.SIGTERM)
    return has_begun


def worker_groups(stage: Stage) -> list[int]:
    """Return the process groups of running updates; each is led by the process that carries the update out."""
    groups: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                words = Path("/proc", name, "cmdline").read_bytes().split(b"\0")
                if b"--detached" in words and words[0].startswith(os.fsencode(stage.root)):
                    groups.append(int(name))
    return groups


def wait_for_worker(stage: Stage) -> None:
    """Wait until no process of an update is left."""
    deadline = time.monotonic() + ROUND_TIMEOUT_S
    while worker_groups(stage):
        assert time.monotonic() < deadline, "an update did not end"
        time.sleep(0.05)


async def break_all(options: argparse.Namespace, stage: Stage, live: "LiveSession") -> list[Outcome]:
    """Run all rounds. Raises AssertionError at the first broken one."""
    dice = random.Random(options.seed)
    faults = ["none", "hang up", "hang up", "kill", "kill", "kill", "terminate", "no index", "no network"]
    faults += ["failing writes"] * 3 if stage.preload else []
    faults += ["full disk"] * 3 if stage.disk else []
    outcomes: list[Outcome] = []
    version = FIRST
    begun = time.monotonic()
    for number in range(options.rounds):
        if time.monotonic() - begun > options.minutes * 60:
            break
        await anyio.to_thread.run_sync(prepare, stage, version, dice)
        fault = dice.choice(faults)
        code, has_begun = await anyio.to_thread.run_sync(break_once, stage, fault, dice)
        version = await anyio.to_thread.run_sync(version_that_starts, stage)
        assert version in (FIRST, SECOND), version
        if fault == "none" or (fault == "hang up" and has_begun):
            log = (stage.root / "versions" / "update.log").read_text(errors="replace")
            assert version == SECOND, f"round {number}: {fault} left {version} (code {code})\n{log[-2000:]}"
        await live.prompt()
        outcomes.append(Outcome(fault, code, version))
        if (number + 1) % 10 == 0:
            print(f"{number + 1} rounds, {live.prompts} prompts answered", flush=True)
    return outcomes


class LiveSession:
    """A session that an editor keeps open in a process of the first version."""

    def __init__(self, one: RawEditor, session_id: str) -> None:
        self._one = one
        self._session_id = session_id
        self.prompts = 0

    async def prompt(self) -> None:
        """Send a prompt and check that it is answered."""
        answer: dict[str, Any] = await self._one.prompt(self._session_id, PROMPT)
        assert answer.get("result") == {"stopReason": "end_turn"}, answer
        self.prompts += 1


@asynccontextmanager
async def live_session(stage: Stage, folder: Path) -> AsyncGenerator[LiveSession]:
    """Open a session with a process of the installed version."""
    workspace = folder / "workspace"
    workspace.mkdir()
    rule = Rule(PROMPT, (Reply("Hello back."),), pick="cycle")
    async with serve(Script(rules=[rule])) as server:
        variables = agent_environment(folder / "editor-home", server)
        async with editor(variables, folder, command=(str(stage.command),)) as one:
            yield LiveSession(one, await one.open_session(workspace))


def set_stage(folder: Path, options: argparse.Namespace) -> tuple[Stage, Path]:
    """Build two versions and install the first; return the stage and the folder of the index."""
    first = build_wheel(folder / "first")
    second = other_version(first, folder / "second", SECOND)
    index = folder / "index"
    write_index(index, first, second)
    disk = None
    root = folder / "place" / "app"
    root.parent.mkdir()
    if options.small_disk:
        disk = root.parent
        words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(disk)]
        subprocess.run(words, check=True, timeout=60)
    home = folder / "home"
    home.mkdir()
    command = install(root, first)
    kept: Mapping[str, str] = os.environ
    cache = kept.get("UV_CACHE_DIR") or str(Path(kept.get("HOME", "/root"), ".cache", "uv"))
    passed = {name: kept[name] for name in kept if name.startswith(("PIP_", "SSL_", "UV_"))}
    path = f"{Path(sys.executable).parent}:{kept.get('PATH', os.defpath)}"
    variables = {**passed, "PATH": path, "HOME": str(home), "UV_CACHE_DIR": cache, "UV_LINK_MODE": "copy"}
    return Stage(root, command, "", variables, options.preload, disk), index


async def main(options: argparse.Namespace, folder: Path) -> None:
    """Run the rounds and print the findings."""
    stage, index = await anyio.to_thread.run_sync(set_stage, folder, options)
    try:
        with served(index) as address:
            stage.index = address
            begun = time.perf_counter()
            code, _ = break_once(stage, "none", random.Random(0))
            assert code == 0, "an undisturbed update failed"
            stage.usual_s = time.perf_counter() - begun
            prepare(stage, SECOND, random.Random(1))
            async with live_session(stage, folder) as live:
                begun = time.perf_counter()
                outcomes = await break_all(options, stage, live)
                took_s = time.perf_counter() - begun
        print(
            f"an undisturbed update takes {stage.usual_s:.1f} s; {len(outcomes)} rounds took {took_s:.0f} s"
        )
        for (fault, version), times in sorted(
            Counter((each.fault, each.version) for each in outcomes).items()
        ):
            print(f"{fault:15} {version} installed afterwards: {times}")
        print(f"broken starts: 0; prompts answered by the open session: {live.prompts}")
    finally:
        if stage.disk:
            subprocess.run(["umount", "-l", str(stage.disk)], check=False, timeout=60)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--small-disk", action="store_true")
    parser.add_argument("--preload", default="")
    with tempfile.TemporaryDirectory(prefix="update-faults-", ignore_cleanup_errors=True) as made:
        anyio.run(main, parser.parse_args(), Path(made))
