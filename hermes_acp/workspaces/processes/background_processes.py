"""Commands that run in the background, with a thread that drains the output of each.

Threads are used because the task that launches a process ends long before the process does, and a process blocks if its
pipe is not drained. For terminals, see pty(7).
"""

import errno
import fcntl
import os
import select
import struct
import subprocess
import termios
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from time import monotonic
from types import MappingProxyType
from typing import Final

from anyio import CancelScope, CapacityLimiter, create_task_group
from anyio.to_thread import run_sync
from msgspec import Struct, structs

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import CommandResult, OutputSnapshot
from hermes_acp.workspaces.command_output import BoundedOutput, WordJoiner
from hermes_acp.workspaces.output_files import OutputFile
from hermes_acp.workspaces.processes.process_spawn import Process, ShellCommand, exit_of, start
from hermes_acp.workspaces.processes.process_tree import (
    KILL_TIMEOUT_S,
    ProcessRegistry,
    ProcessTree,
    terminate_tree,
)

MAX_RUNNING: Final = 16
MAX_ENDED_KEPT: Final = 64
ROWS: Final = 40
COLUMNS: Final = 120
KEPT_BYTES: Final = 16 * 1024
CHUNK_BYTES: Final = 64 * 1024
FLOOD_BYTES: Final = 1 << 20
FLOOD_PAUSE_S: Final = 0.005
QUIET_PERIOD_S: Final = 0.15
DRAIN_TIMEOUT_S: Final = 0.2
POLL_INTERVAL_MS: Final = 50
WRITE_TIMEOUT_S: Final = 5.0
MAX_WAIT_S: Final = 600.0
END_OF_INPUT: Final = "\x04"
# When a session leader without a terminal opens one, that becomes its controlling terminal (tty_ioctl(4)).
ADOPT_TERMINAL: Final = 'terminal=$1; shift; exec "$@" <>"$terminal" >&0 2>&1'


OnFinish = Callable[[str, int, bool], str]
"""A function that cleans up after a process, given its last output, its exit code and whether it left processes."""


class Pipes(Struct, frozen=True):
    """Our ends of a command's input and output.

    For a terminal, they include the terminal's own end, which must stay open until the command opens it.
    """

    writing: int
    reading: int
    child_end: int | None = None


class LocalProcess:
    """A process on this machine, with its input and output."""

    def __init__(
        self,
        name: str,
        line: str,
        shell: ShellCommand,
        started: tuple[Process, Pipes],
        registry: ProcessRegistry,
        log: OutputFile | None,
        finish: OnFinish,
    ) -> None:
        """Take over a newly started process and start draining it; `log` stores all of its output."""
        self.name = name
        self.line = line
        self._process, self._pipes = started
        self.is_confined = shell.gate is not None
        self._mark = shell.mark
        self._registry = registry
        self._finish = finish
        self._changed = threading.Condition()
        self._input = self._pipes.writing
        self._input_lock = threading.Lock()
        self._window = BoundedOutput(KEPT_BYTES)
        self._words = WordJoiner()
        self._has_news = False
        self._is_drained = False
        self._end: CommandResult | None = None
        self._log = log
        self._threads = CapacityLimiter(4)
        self._drain = threading.Thread(target=self._follow, name=f"drain-{name}", daemon=True)
        self._drain.start()

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._end is not None

    async def read(self, wait_s: float) -> OutputSnapshot:
        """Return the output since the last read; wait for some output, then for a brief pause in it or its end."""
        wait_s = min(max(wait_s, 0.0), MAX_WAIT_S)
        await run_sync(self._wait_for_output, wait_s, limiter=self._threads, abandon_on_cancel=True)
        with self._changed:
            window, self._window = self._window, BoundedOutput(KEPT_BYTES)
            self._has_news = False
            return OutputSnapshot(self._words.join(window.text(self._log)), self._end)

    def _wait_for_output(self, wait_s: float) -> None:
        until = monotonic() + wait_s
        with self._changed:
            self._changed.wait_for(lambda: self._has_news or self.has_ended, wait_s)
            while not self.has_ended and (left_s := min(QUIET_PERIOD_S, until - monotonic())) > 0:
                if not self._changed.wait(left_s):
                    return

    async def write(self, text: str) -> None:
        """Send input; a final U+0004 ends the input. Raises WorkspaceError if the process no longer accepts any."""
        await run_sync(self._write, text, limiter=self._threads)

    def _write(self, text: str) -> None:
        ends = text.endswith(END_OF_INPUT) and self._pipes.child_end is None
        rest = memoryview(text.removesuffix(END_OF_INPUT if ends else "").encode("utf-8", "replace"))
        until = monotonic() + WRITE_TIMEOUT_S
        with self._input_lock:
            while rest:
                if self._input < 0 or self.has_ended:
                    raise WorkspaceError(
                        f"{self.name} accepts no more input.", hint="Read its output to see how it ended."
                    )
                rest = rest[self._write_piece(rest) :]
                if rest and monotonic() > until:
                    told = f"{self.name} does not read its input; {len(rest):,} bytes were not written."
                    raise WorkspaceError(told, hint="Read its output first.")
            if ends:
                self._close_input()

    def _write_piece(self, piece: memoryview) -> int:
        waiting = select.poll()
        waiting.register(self._input, select.POLLOUT)
        waiting.poll(POLL_INTERVAL_MS)
        try:
            return os.write(self._input, piece[:CHUNK_BYTES])
        except BlockingIOError:
            return 0
        except OSError as error:
            told = f"{self.name} accepts no more input: {error.strerror}."
            raise WorkspaceError(told, hint="Read its output to see how it ended.") from error

    def _close_input(self) -> None:
        if self._input >= 0:
            os.close(self._input)
        self._input = -1

    async def kill(self) -> None:
        """Kill the process and everything it started; on return, no such process is left."""
        with CancelScope(shield=True):
            leader = None if self.has_ended else self._process.pid
            await terminate_tree(ProcessTree(self._mark, leader), self._threads)
            await run_sync(self._drain.join, KILL_TIMEOUT_S, limiter=self._threads)

    def _follow(self) -> None:
        """Drain the output until the process has ended; the process registry handles any processes that it left."""
        pieces = 0
        for chunk in self._chunks():
            with self._changed:
                self._window.take(chunk)
                self._has_news = True
                self._changed.notify_all()
            if self._log is not None:
                self._log.write(chunk)
            pieces += len(chunk)
            if pieces > FLOOD_BYTES:
                pieces = 0
                threading.Event().wait(FLOOD_PAUSE_S)
        code = self._process.wait()
        code = 128 - code if code < 0 else code
        self._registry.adopt_leftovers(self._mark, self._process.pid)
        os.close(self._pipes.reading)
        if self._log is not None:
            self._log.close()
        with self._changed:
            last = self._finish(self._window.text(), code, not self._is_drained)
            self._window.take(last.encode())
            self._end = CommandResult("", code)
            self._changed.notify_all()
        with self._input_lock:
            self._close_input()

    def _chunks(self) -> Iterator[bytes]:
        waiting = select.poll()
        waiting.register(self._pipes.reading, select.POLLIN)
        until: float | None = None
        with exit_of(self._process.pid) as exit_of_it:
            if exit_of_it is not None:
                waiting.register(exit_of_it, select.POLLIN)
            while until is None or monotonic() < until:
                ready = [place for place, _ in waiting.poll(POLL_INTERVAL_MS)]
                if self._pipes.reading in ready:
                    chunk = _read_chunk(self._pipes.reading)
                    if chunk == b"":
                        self._is_drained = True
                        return
                    if chunk:
                        yield chunk
                if until is None and self._process.poll() is not None:
                    until = monotonic() + DRAIN_TIMEOUT_S
                    if exit_of_it is not None:
                        waiting.unregister(exit_of_it)
                    if self._pipes.child_end is not None:
                        os.close(self._pipes.child_end)


def _read_chunk(reading: int) -> bytes | None:
    """Return the available bytes: empty at the end, or None if there is nothing to read yet."""
    try:
        return os.read(reading, CHUNK_BYTES)
    except BlockingIOError:
        return None
    except OSError as error:
        if error.errno == errno.EIO:  # no process has the terminal open any more
            return b""
        raise


def start_process(shell: ShellCommand, *, in_terminal: bool) -> tuple[Process, Pipes]:
    """Start a command with its own input and output. Blocks. Raises OSError if it cannot start."""
    return _start_in_terminal(shell) if in_terminal else _start_at_pipes(shell)


def _start_at_pipes(shell: ShellCommand) -> tuple[Process, Pipes]:
    theirs_in, writing = os.pipe()
    reading, theirs_out = os.pipe()
    try:
        process = start(shell, theirs_in, theirs_out)
    except OSError:
        os.close(writing)
        os.close(reading)
        raise
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
    return process, _without_blocking(Pipes(writing, reading))


def _start_in_terminal(shell: ShellCommand) -> tuple[Process, Pipes]:
    ours, child_end = os.openpty()
    try:
        fcntl.ioctl(child_end, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        process = start(_adopting(shell, os.ttyname(child_end)), subprocess.DEVNULL, subprocess.DEVNULL)
        writing = os.dup(ours)
    except OSError:
        os.close(ours)
        os.close(child_end)
        raise
    return process, _without_blocking(Pipes(writing, ours, child_end))


def _adopting(shell: ShellCommand, terminal: str) -> ShellCommand:
    shown = {"TERM": "xterm-256color", "LINES": str(ROWS), "COLUMNS": str(COLUMNS)}
    argv = ("/bin/sh", "-c", ADOPT_TERMINAL, "sh", terminal, *shell.argv)
    return structs.replace(shell, argv=argv, environment={**shell.environment, **shown}, terminal=terminal)


def _without_blocking(pipes: Pipes) -> Pipes:
    os.set_blocking(pipes.writing, False)
    os.set_blocking(pipes.reading, False)
    return pipes


class BackgroundProcesses:
    """The launched processes of one workspace, by short names that are never reused."""

    def __init__(self) -> None:
        self._count = 0
        self._by_name: dict[str, LocalProcess] = {}

    @property
    def by_name(self) -> Mapping[str, LocalProcess]:
        """The running processes, and the latest ones that ended."""
        return MappingProxyType(self._by_name)

    def next_name(self) -> str:
        """Return a name for the next process. Raises WorkspaceError if too many are running."""
        running = [process.name for process in self._by_name.values() if not process.has_ended]
        if len(running) >= MAX_RUNNING:
            raise WorkspaceError(
                f"{len(running)} processes are running: {', '.join(running)}.", hint="Kill one of them first."
            )
        self._count += 1
        return f"p{self._count}"

    def add(self, process: LocalProcess) -> None:
        """Add a process; the oldest ended ones are forgotten."""
        self._by_name[process.name] = process
        ended = [name for name, each in self._by_name.items() if each.has_ended]
        for name in ended[: max(0, len(self._by_name) - MAX_ENDED_KEPT)]:
            with suppress(KeyError):
                del self._by_name[name]

    async def end(self) -> None:
        """Kill all processes."""
        async with create_task_group() as group:
            for process in self._by_name.values():
                group.start_soon(process.kill)
