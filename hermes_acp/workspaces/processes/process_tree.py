"""Run a shell command, and end all its processes when it is stopped.

Uses process groups, the process table and signals, and adopts orphans (prctl(2), PR_SET_CHILD_SUBREAPER).
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from secrets import token_hex
from subprocess import DEVNULL
from threading import Lock

from anyio import (
    CancelScope,
    CapacityLimiter,
    Event,
    create_task_group,
    move_on_after,
    sleep,
    wait_readable,
)
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.telemetry.process_privacy import hide_memory
from hermes_acp.workspaces.processes.orphan_reaper import OrphanReaper
from hermes_acp.workspaces.processes.process_spawn import MARK, Process, ShellCommand, exit_of, start
from hermes_acp.workspaces.processes.process_table import (
    Identity,
    ProcessInfo,
    has_variable,
    list_children,
    list_processes,
)
from hermes_acp.workspaces.processes.rlimit_tags import has_tag, tag_of

TERM_GRACE_S = 0.5
KILL_TIMEOUT_S = 5.0
DRAIN_TIMEOUT_S = 0.2
MIN_POLL_INTERVAL_S = 0.002
MAX_POLL_INTERVAL_S = 0.02
CHUNK_BYTES = 64 * 1024
_PR_SET_CHILD_SUBREAPER = 36


class ProcessExit(Struct, frozen=True):
    """How a command ended; `left_running` says that a process it started still holds its output open."""

    exit_code: int | None
    timed_out: bool
    left_running: bool


class ProcessTree:
    """A command's processes: its group, its session, every process with its mark, and all their descendants."""

    def __init__(self, mark: str, shell: int | None) -> None:
        self._mark = f"{MARK}={mark}".encode()
        self._tag = tag_of(mark)
        self._shell = shell
        self._known: set[Identity] = set()

    def signal(self, number: int) -> bool:
        """Signal every living member, reap adopted dead ones, and return whether any was alive.

        Members are collected before the first signal, because the children of a dead parent can no longer be found.
        """
        own = os.getpid()
        members = self._members(list_processes())
        if self._shell is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._shell, number)
        for process_info in members:
            with suppress(ProcessLookupError, PermissionError):
                if process_info.is_dead and process_info.parent == own and process_info.pid != self._shell:
                    _reap(process_info.pid)
                elif not process_info.is_dead and process_info.group != self._shell:
                    os.kill(process_info.pid, number)
        return any(not process_info.is_dead for process_info in members)

    def _members(self, table: Mapping[int, ProcessInfo]) -> list[ProcessInfo]:
        own = os.getpid()
        found = {process_info.pid for process_info in table.values() if self._belongs(process_info)} - {own}
        growing = True
        while growing:
            children = (
                {process_info.pid for process_info in table.values() if process_info.parent in found}
                - found
                - {own}
            )
            found |= children
            growing = bool(children)
        self._known |= {table[pid].identity() for pid in found}
        return [table[pid] for pid in found]

    def _belongs(self, process_info: ProcessInfo) -> bool:
        if self._shell is not None and self._shell in (process_info.group, process_info.session):
            return True
        if process_info.identity() in self._known or has_tag(process_info.pid, self._tag):
            return True
        return not process_info.is_dead and has_variable(process_info.pid, self._mark)


class OrphanedProcesses:
    """Background processes that outlived commands which ended on their own.

    This process adopts them, so it must reap them once they end and can kill them when the session ends. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._marks: dict[str, int] = {}
        self._known: set[Identity] = set()

    def gather(self, mark: str, shell: int) -> set[int]:
        """Record what a command left running, and reap what has ended since; the shell has been reaped already.

        Returns the shells without remaining processes.
        """
        with self._lock:
            self._marks[mark] = shell
            adopted = list_children()
            self._reap_ended([process_info for process_info in adopted if process_info.is_dead])
            living = [process_info for process_info in adopted if not process_info.is_dead]
            descendants = {
                each: self._find_descendants(each, leader, living) for each, leader in self._marks.items()
            }
            ended = {leader for each, leader in self._marks.items() if not descendants[each]}
            self._marks = {each: leader for each, leader in self._marks.items() if descendants[each]}
            self._known = set().union(*descendants.values())
            return ended

    def _reap_ended(self, ended: Iterable[ProcessInfo]) -> None:
        shells = set(self._marks.values())
        tags = [tag_of(mark) for mark in self._marks]
        for process_info in ended:
            is_orphan = bool(shells & {process_info.group, process_info.session}) or any(
                has_tag(process_info.pid, tag) for tag in tags
            )
            if (is_orphan and process_info.pid not in shells) or process_info.identity() in self._known:
                _reap(process_info.pid)

    def _find_descendants(self, mark: str, leader: int, living: Iterable[ProcessInfo]) -> set[Identity]:
        wanted = f"{MARK}={mark}".encode()
        tag = tag_of(mark)
        return {
            process_info.identity()
            for process_info in living
            if process_info.session == leader
            or has_tag(process_info.pid, tag)
            or has_variable(process_info.pid, wanted)
        }

    def _pop_marks(self) -> tuple[str, ...]:
        with self._lock:
            marks, self._marks = tuple(self._marks), {}
        return marks

    async def end(self, threads: CapacityLimiter) -> None:
        """Kill all processes that are still running."""
        marks = await run_sync(self._pop_marks, limiter=threads)
        async with create_task_group() as group:
            for mark in marks:
                group.start_soon(terminate_tree, ProcessTree(mark, None), threads)


def _reap(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that no daemon escapes. Linux only; may be repeated."""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


async def terminate_tree(tree: ProcessTree, threads: CapacityLimiter) -> None:
    """Ask a command's processes to end, then kill them; return once all are dead, or after KILL_TIMEOUT_S seconds.

    The time counts from the first signal. SIGKILL is always sent, no matter how late on a busy machine.
    """
    with CancelScope(shield=True):
        await run_sync(tree.signal, signal.SIGTERM, limiter=threads)
        wait_s = MIN_POLL_INTERVAL_S
        with move_on_after(TERM_GRACE_S):
            while await run_sync(tree.signal, 0, limiter=threads):
                await sleep(wait_s)
                wait_s = min(wait_s * 2, MAX_POLL_INTERVAL_S)
            return
        is_alive = await run_sync(tree.signal, signal.SIGKILL, limiter=threads)
        with move_on_after(KILL_TIMEOUT_S):
            while is_alive:
                await sleep(0.01)
                is_alive = await run_sync(tree.signal, signal.SIGKILL, limiter=threads)


class ProcessRegistry:
    """Tracks everything that commands start, so that nothing survives this process, however it ends."""

    def __init__(self) -> None:
        self._orphans = OrphanedProcesses()
        self._reaper = OrphanReaper(MARK)

    def fresh_mark(self) -> str:
        """Return a new mark for one command."""
        return f"{self._reaper.mark}-{token_hex(8)}"

    def begin(self) -> None:
        """Prepare for a command."""
        adopt_orphans()
        hide_memory()
        self._reaper.begin()

    def register_folder(self, path: str) -> None:
        """Have a folder removed if this process is killed."""
        self._reaper.register_folder(path)

    def note_placeholder(self, path: str) -> None:
        """Have a folder removed if it is empty when this process is killed."""
        self._reaper.note_placeholder(path)

    def register_process(self, leader: int, mark: str) -> None:
        """Register a command's processes."""
        self._reaper.register_process(leader, tag_of(mark))

    def adopt_leftovers(self, mark: str, leader: int) -> None:
        """Track the processes that a command left running when it ended. Blocks while it scans all processes."""
        for ended in self._orphans.gather(mark, leader):
            self._reaper.forget_process(ended)

    def forget_process(self, leader: int) -> None:
        """Unregister a command that has no remaining processes."""
        self._reaper.forget_process(leader)

    async def close(self, threads: CapacityLimiter) -> None:
        """Kill all remaining processes of any command."""
        await self._orphans.end(threads)
        await run_sync(self._reaper.close, limiter=threads)


async def run_shell(
    shell: ShellCommand,
    take: Callable[[bytes], None],
    registry: ProcessRegistry,
    threads: CapacityLimiter,
    *,
    given: int = DEVNULL,
) -> ProcessExit:
    """Run a command until it ends and pass its merged output to `take` as it arrives. `registry` must be started.

    `given` is the descriptor of its input. On timeout or cancellation, none of its processes is left on return.
    Raises OSError if it cannot start.
    """
    reading, writing = os.pipe()
    leader = 0
    try:
        process = await _start(shell, given, writing, threads)
        leader = process.pid
        registry.register_process(leader, shell.mark)
        os.set_blocking(reading, False)
        ending = await _follow(process, reading, shell, take, threads)
        if not ending.timed_out:
            await run_sync(registry.adopt_leftovers, shell.mark, leader, limiter=threads)
            leader = 0
        return ending
    finally:
        os.close(reading)
        if leader:
            registry.forget_process(leader)


async def _start(shell: ShellCommand, reading: int, writing: int, threads: CapacityLimiter) -> Process:
    """Start the shell. Cancellation waits until its process ID is known, because it could not be killed otherwise."""
    started: list[Process] = []
    try:
        with CancelScope(shield=True):
            started.append(await run_sync(start, shell, reading, writing, limiter=threads))
    finally:
        os.close(writing)
    return started[0]


async def _exit(process: Process, threads: CapacityLimiter) -> int:
    """Wait for a process to end and return its exit code."""
    with exit_of(process.pid) as exit_of_it:
        if exit_of_it is None:
            return await run_sync(process.wait, limiter=threads, abandon_on_cancel=True)
        await wait_readable(exit_of_it)
        return process.wait()


async def _follow(
    process: Process,
    reading: int,
    shell: ShellCommand,
    take: Callable[[bytes], None],
    threads: CapacityLimiter,
) -> ProcessExit:
    at_end = Event()
    has_exited = is_settled = False
    async with create_task_group() as group:
        group.start_soon(_pump, reading, take, at_end)
        try:
            with move_on_after(shell.timeout_s):
                await _exit(process, threads)
                has_exited = True
            if has_exited:
                with move_on_after(DRAIN_TIMEOUT_S):
                    await at_end.wait()
                is_settled = True
        finally:
            if not is_settled:
                await terminate_tree(ProcessTree(shell.mark, process.pid), threads)
                with move_on_after(KILL_TIMEOUT_S, shield=True):
                    await _exit(process, threads)
        group.cancel_scope.cancel()
    if not at_end.is_set():
        _read_rest(reading, take)
    if not has_exited:
        return ProcessExit(None, timed_out=True, left_running=False)
    code = process.returncode or 0
    return ProcessExit(128 - code if code < 0 else code, timed_out=False, left_running=not at_end.is_set())


async def _pump(reading: int, take: Callable[[bytes], None], at_end: Event) -> None:
    while True:
        await wait_readable(reading)
        with suppress(BlockingIOError):
            chunk = os.read(reading, CHUNK_BYTES)
            if not chunk:
                break
            take(chunk)
    at_end.set()


def _read_rest(reading: int, take: Callable[[bytes], None]) -> None:
    with suppress(BlockingIOError):
        for _ in range(16):
            if chunk := os.read(reading, CHUNK_BYTES):
                take(chunk)
