"""Run one shell command and leave nothing of it behind when it is stopped.

Knows: process groups, /proc, signals, adopting orphans (prctl(2), PR_SET_CHILD_SUBREAPER).
Does not know: workspaces, folders, which variables are secret.
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
from hermes_acp.workspaces.deathwatch import Deathwatch
from hermes_acp.workspaces.limit_tags import has_tag, tag_of
from hermes_acp.workspaces.starts import MARK, Process, Shell, exit_of, start

GRACE_S = 0.5
ENDING_S = 5.0
DRAIN_S = 0.2
FIRST_LOOK_S = 0.002
LONGEST_LOOK_S = 0.02
CHUNK_BYTES = 64 * 1024
_PR_SET_CHILD_SUBREAPER = 36

Identity = tuple[int, int]


class Row(Struct, frozen=True):
    """One process as the kernel lists it; `started` in clock ticks tells a reused number apart."""

    pid: int
    parent: int
    group: int
    session: int
    started: int
    is_dead: bool

    def identity(self) -> Identity:
        """Give what no later process will share."""
        return self.pid, self.started


class Ending(Struct, frozen=True):
    """How a command ended; `left_running` when something it started still holds its output."""

    exit_code: int | None
    timed_out: bool
    left_running: bool


class Family:
    """A command's processes: its group, its session, whoever carries its mark, and all their descendants."""

    def __init__(self, mark: str, shell: int | None) -> None:
        self._mark = f"{MARK}={mark}".encode()
        self._tag = tag_of(mark)
        self._shell = shell
        self._known: set[Identity] = set()

    def signal(self, number: int) -> bool:
        """Signal every living member, reap adopted dead ones, and tell whether any was alive.

        Members are noted before the first signal: once a parent is dead, nothing leads to its children.
        """
        own = os.getpid()
        members = self._members(list_processes())
        if self._shell is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._shell, number)
        for row in members:
            with suppress(ProcessLookupError, PermissionError):
                if row.is_dead and row.parent == own and row.pid != self._shell:
                    _reap(row.pid)
                elif not row.is_dead and row.group != self._shell:
                    os.kill(row.pid, number)
        if not sys.platform.startswith("linux"):
            return self._group_lives()
        return any(not row.is_dead for row in members)

    def _members(self, table: Mapping[int, Row]) -> list[Row]:
        own = os.getpid()
        found = {row.pid for row in table.values() if self._is_kin(row)} - {own}
        growing = True
        while growing:
            children = {row.pid for row in table.values() if row.parent in found} - found - {own}
            found |= children
            growing = bool(children)
        self._known |= {table[pid].identity() for pid in found}
        return [table[pid] for pid in found]

    def _is_kin(self, row: Row) -> bool:
        if self._shell is not None and self._shell in (row.group, row.session):
            return True
        if row.identity() in self._known or has_tag(row.pid, self._tag):
            return True
        return not row.is_dead and _carries(row.pid, self._mark)

    def _group_lives(self) -> bool:
        if self._shell is None:
            return False
        try:
            os.killpg(self._shell, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True


class Leftovers:
    """Background processes that outlived commands which ended by themselves.

    This process adopts them, so it must reap them once they end, and can end them when the session does.
    Several worker threads may come at once.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._marks: dict[str, int] = {}
        self._known: set[Identity] = set()

    def gather(self, mark: str, shell: int) -> set[int]:
        """Note what a command left running, and reap what has ended since. The shell is reaped by now.

        Give the shells of which nothing is left any more.
        """
        with self._lock:
            self._marks[mark] = shell
            own = os.getpid()
            adopted = [row for row in list_processes().values() if row.parent == own]
            self._reap_ended([row for row in adopted if row.is_dead])
            living = [row for row in adopted if not row.is_dead]
            kin = {each: self._find_kin(each, leader, living) for each, leader in self._marks.items()}
            ended = {leader for each, leader in self._marks.items() if not kin[each]}
            self._marks = {each: leader for each, leader in self._marks.items() if kin[each]}
            self._known = set().union(*kin.values())
            return ended

    def _reap_ended(self, ended: Iterable[Row]) -> None:
        shells = set(self._marks.values())
        tags = [tag_of(mark) for mark in self._marks]
        for row in ended:
            is_orphan = bool(shells & {row.group, row.session}) or any(has_tag(row.pid, tag) for tag in tags)
            if (is_orphan and row.pid not in shells) or row.identity() in self._known:
                _reap(row.pid)

    def _find_kin(self, mark: str, leader: int, living: Iterable[Row]) -> set[Identity]:
        wanted = f"{MARK}={mark}".encode()
        tag = tag_of(mark)
        return {
            row.identity()
            for row in living
            if row.session == leader or has_tag(row.pid, tag) or _carries(row.pid, wanted)
        }

    def _take_marks(self) -> tuple[str, ...]:
        with self._lock:
            marks, self._marks = tuple(self._marks), {}
        return marks

    async def end(self, threads: CapacityLimiter) -> None:
        """End all that is still running."""
        marks = await run_sync(self._take_marks, limiter=threads)
        async with create_task_group() as group:
            for mark in marks:
                group.start_soon(end_family, Family(mark, None), threads)


def list_processes() -> dict[int, Row]:
    """Give every process the kernel shows, by number; none where there is no /proc."""
    rows: dict[int, Row] = {}
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError, ValueError, IndexError):
                    rows[int(name)] = _read_row(int(name))
    return rows


def _read_row(pid: int) -> Row:
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    parent, group, session, started = (int(fields[place]) for place in (1, 2, 3, 19))
    return Row(pid, parent, group, session, started, fields[0] in (b"Z", b"X"))


def _carries(pid: int, variable: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return variable in file.read().split(b"\0")
    except OSError:
        return False


def _reap(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that no daemon slips away. Linux only; repeatable."""
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


async def end_family(family: Family, threads: CapacityLimiter) -> None:
    """Ask a command's processes to end, then make them; done when none lives, or ENDING_S seconds after the first blow.

    However late that comes on a busy machine, it comes.
    """
    with CancelScope(shield=True):
        await run_sync(family.signal, signal.SIGTERM, limiter=threads)
        wait_s = FIRST_LOOK_S
        with move_on_after(GRACE_S):
            while await run_sync(family.signal, 0, limiter=threads):
                await sleep(wait_s)
                wait_s = min(wait_s * 2, LONGEST_LOOK_S)
            return
        is_alive = await run_sync(family.signal, signal.SIGKILL, limiter=threads)
        with move_on_after(ENDING_S):
            while is_alive:
                await sleep(0.01)
                is_alive = await run_sync(family.signal, signal.SIGKILL, limiter=threads)


class Caretaker:
    """Looks after what commands started: from the first of them on nothing slips away, however this process ends."""

    def __init__(self) -> None:
        self._leftovers = Leftovers()
        self._watch = Deathwatch(MARK)

    def fresh_mark(self) -> str:
        """Give a mark for one command."""
        return f"{self._watch.mark}-{token_hex(8)}"

    def begin(self) -> None:
        """Be ready for a command."""
        adopt_orphans()
        hide_memory()
        self._watch.begin()

    def note_folder(self, path: str) -> None:
        """Have a folder removed should this process be killed."""
        self._watch.note_folder(path)

    def note_stand_in(self, path: str) -> None:
        """Have a folder removed, if it is empty then, should this process be killed."""
        self._watch.note_stand_in(path)

    def note_begun(self, leader: int, mark: str) -> None:
        """Take a command's processes into care."""
        self._watch.note_begun(leader, tag_of(mark))

    def look_after(self, mark: str, leader: int) -> None:
        """Keep what a command left running that ended by itself. Blocks for a look at all processes."""
        for ended in self._leftovers.gather(mark, leader):
            self._watch.note_ended(ended)

    def note_ended(self, leader: int) -> None:
        """Nothing of a command is left."""
        self._watch.note_ended(leader)

    async def close(self, threads: CapacityLimiter) -> None:
        """End all that is left of any command."""
        await self._leftovers.end(threads)
        await run_sync(self._watch.close, limiter=threads)


async def run_shell(
    shell: Shell, take: Callable[[bytes], None], care: Caretaker, threads: CapacityLimiter
) -> Ending:
    """Run a command to its end and hand its merged output to `take` as it comes.

    `care` was begun. When its time is up, or this is cancelled, no process of it is left on return. Raises
    OSError where it cannot start.
    """
    reading, writing = os.pipe()
    leader = 0
    try:
        process = await _start(shell, writing, threads)
        leader = process.pid
        care.note_begun(leader, shell.mark)
        os.set_blocking(reading, False)
        ending = await _follow(process, reading, shell, take, threads)
        if not ending.timed_out:
            await run_sync(care.look_after, shell.mark, leader, limiter=threads)
            leader = 0
        return ending
    finally:
        os.close(reading)
        if leader:
            care.note_ended(leader)


async def _start(shell: Shell, writing: int, threads: CapacityLimiter) -> Process:
    """Start the shell; a cancellation waits until its number is known, or it could not be ended."""
    started: list[Process] = []
    try:
        with CancelScope(shield=True):
            started.append(await run_sync(start, shell, DEVNULL, writing, limiter=threads))
    finally:
        os.close(writing)
    return started[0]


async def _exit(process: Process, threads: CapacityLimiter) -> int:
    """Wait for a process's end and give its code."""
    with exit_of(process.pid) as exit_of_it:
        if exit_of_it is None:
            return await run_sync(process.wait, limiter=threads, abandon_on_cancel=True)
        await wait_readable(exit_of_it)
        return process.wait()


async def _follow(
    process: Process, reading: int, shell: Shell, take: Callable[[bytes], None], threads: CapacityLimiter
) -> Ending:
    at_end = Event()
    has_exited = is_settled = False
    async with create_task_group() as group:
        group.start_soon(_pump, reading, take, at_end)
        try:
            with move_on_after(shell.timeout_s):
                await _exit(process, threads)
                has_exited = True
            if has_exited:
                with move_on_after(DRAIN_S):
                    await at_end.wait()
                is_settled = True
        finally:
            if not is_settled:
                await end_family(Family(shell.mark, process.pid), threads)
                with move_on_after(ENDING_S, shield=True):
                    await _exit(process, threads)
        group.cancel_scope.cancel()
    if not at_end.is_set():
        _read_rest(reading, take)
    if not has_exited:
        return Ending(None, timed_out=True, left_running=False)
    code = process.returncode or 0
    return Ending(128 - code if code < 0 else code, timed_out=False, left_running=not at_end.is_set())


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
