"""Start one command, with all of this process's rights or fewer.

Each thread has its own rights, which its child processes inherit (landlock(7), seccomp(2)). A thread that dropped
rights is used for a single start and exits before the command does anything, because a command with the same
restrictions could signal the thread, as a task of this process.
"""

import errno
import os
import subprocess
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from threading import Event, get_native_id
from typing import Final

from msgspec import Struct

from hermes_acp.storage.descriptor_limit import restore_limit

MARK: Final = "HERMES_CALL_ID"
MAX_POLLS: Final = 2000
POLL_INTERVAL_S: Final = 0.0005

Process = subprocess.Popen[bytes]


class SandboxEntry(Struct, frozen=True):
    """How a command enters its sandbox.

    `words` start a shell that waits until its standard error closes, redirects it to its output, and
    becomes the command that follows. `give_up` is called in the starting thread to drop its rights, except on the
    command's own terminal, if it has one; `receive` is called with the process ID before the shell continues;
    `descriptors` are passed on under the same numbers.
    """

    words: tuple[str, ...]
    receive: Callable[[int], None]
    give_up: Callable[[str], None] | None = None
    descriptors: tuple[int, ...] = ()


class ShellCommand(Struct, frozen=True):
    """A command line ready to run: program and arguments, folder, variables, mark, timeout and sandbox entry.

    `descriptors` are passed on under the same numbers; `terminal` is the path of its own terminal.
    """

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]
    mark: str
    timeout_s: float
    gate: SandboxEntry | None = None
    descriptors: tuple[int, ...] = ()
    terminal: str = ""

    def variables(self) -> dict[str, str]:
        """Return the command's variables, including its mark."""
        return {**self.environment, MARK: self.mark}


def start(shell: ShellCommand, reading: int, writing: int) -> Process:
    """Start a command in a new session, with the given input and merged output. Blocks.

    Raises OSError if it cannot start or its rights cannot be dropped.
    """
    gate = shell.gate
    if gate is None:
        return _spawn(shell, shell.argv, reading, writing, writing)
    waiting, opening = os.pipe()
    try:
        argv = (*gate.words, *shell.argv)
        give_up = partial(gate.give_up, shell.terminal) if gate.give_up else None
        process = _in_own_thread(give_up, lambda: _spawn(shell, argv, reading, writing, waiting))
        restore_limit(process.pid)  # here, because the thread that started it may have dropped that right
        gate.receive(process.pid)
    finally:
        os.close(waiting)
        os.close(opening)
    return process


def _spawn(shell: ShellCommand, argv: tuple[str, ...], reading: int, writing: int, errors: int) -> Process:
    return subprocess.Popen(
        argv,
        stdin=reading,
        stdout=writing,
        stderr=errors,
        cwd=shell.cwd,
        env=shell.variables(),
        start_new_session=True,
        pass_fds=(*shell.descriptors, *(shell.gate.descriptors if shell.gate else ())),
    )


def _in_own_thread(give_up: Callable[[], None] | None, spawn: Callable[[], Process]) -> Process:
    """Start a process from a thread that first drops its rights and has exited on return."""
    if give_up is None:
        return spawn()

    def work() -> tuple[int, Process]:
        give_up()
        return get_native_id(), spawn()

    with ThreadPoolExecutor(1) as apart:
        task, process = apart.submit(work).result()
    if not _is_gone(task):
        process.kill()
        process.wait()
        raise OSError(errno.EAGAIN, "the thread that started it did not end")
    return process


def _is_gone(task: int) -> bool:
    """Wait until the kernel has released a thread; Python considers it finished slightly earlier."""
    pause = Event()
    for _ in range(MAX_POLLS):
        if not os.path.exists(f"/proc/self/task/{task}"):
            return True
        pause.wait(POLL_INTERVAL_S)
    return False


@contextmanager
def exit_of(pid: int) -> Generator[int | None, None, None]:
    """Yield a descriptor that becomes readable once a process has ended, if supported (pidfd_open(2))."""
    opener = getattr(os, "pidfd_open", None)
    opened: int | None = None
    with suppress(OSError):
        opened = opener(pid) if opener else None
    try:
        yield opened
    finally:
        if opened is not None:
            os.close(opened)
