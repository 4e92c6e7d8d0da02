"""End the process: on signals, and by a guard if an orderly shutdown does not complete."""

import math
import os
import select
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from signal import Signals
    from types import FrameType

SHUTDOWN_GRACE_S: Final = 2.5
PROGRESS_INTERVAL_MS: Final = 250
END_OF_DRAIN: Final = 0
"""Written to the guard's pipe in place of a signal number."""


def reset_inherited_signals() -> None:
    """Reset signals that the parent process ignored or blocked, so that child processes do not inherit that.

    While SIGCHLD is ignored, the kernel discards the exit statuses of children. If the parent ignores stop signals, as
    `nohup` does, this process keeps ignoring them, but its commands do not.
    """
    import atexit
    import signal

    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    of_python = {signal.SIGPIPE, signal.SIGXFSZ}
    for number in signal.valid_signals() - of_python:
        if signal.getsignal(number) is not signal.SIG_IGN:
            continue
        if number in _asking_to_stop():
            signal.signal(number, _ignore_caught)
            # On exit, Python resets caught signals to their default, which would kill the process.
            atexit.register(signal.signal, number, signal.SIG_IGN)
        else:
            signal.signal(number, signal.SIG_DFL)


def code_after(number: int) -> int:
    """Return the exit code for a long-running command that a signal ended: 0 for SIGTERM, as services expect."""
    import signal

    return 0 if number == signal.SIGTERM else 128 + number


def stop_signals() -> "tuple[Signals, ...]":
    """Return the signals that stop this process: the usual ones, except those that its parent ignores."""
    import signal

    return tuple(number for number in _asking_to_stop() if signal.getsignal(number) is not _ignore_caught)


def _asking_to_stop() -> "tuple[Signals, ...]":
    import signal

    return (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def _ignore_caught(number: int, frame: "FrameType | None") -> None:
    """Do nothing; unlike an ignored signal, a caught one is not inherited by commands."""


class ShutdownGuard:
    """Ends this process if it was asked to stop and does not exit on its own.

    The guard waits in a separate thread, so neither a blocked event loop nor hanging worker threads can stop it.
    Records stay intact: every event is written before it is shown. Commands and servers are ended by the shells that
    watch this process. Create only one per process, and use it from the main thread.
    """

    def __init__(self, in_fd: int | None = None, drain_s: float = 0.0) -> None:
        """With `in_fd`, closing the other end also requests a stop.

        After the first SIGTERM, the process has another `drain_s` seconds to exit; any further signal cuts that short.
        """
        self._drain_s = drain_s
        self._signals: frozenset[int] = frozenset()
        self._in_fd = None if in_fd is None else os.dup(in_fd)  # the caller may close its own
        self._asked, self._asking = os.pipe()
        self._heard, self._telling = os.pipe()
        os.set_blocking(self._asking, False)

    def start(self) -> None:
        """Start watching the other end."""
        import _thread

        _thread.start_new_thread(self._watch, ())

    def watch_signals(self) -> None:
        """Start catching stop signals, which would otherwise end the process at once."""
        import signal

        self._signals = frozenset(stop_signals())
        signal.set_wakeup_fd(self._asking, warn_on_full_buffer=False)
        for number in self._signals:
            signal.signal(number, _ignore_handled)

    def end_drain(self) -> None:
        """From now on, allow the process only the usual time to exit."""
        os.write(self._asking, bytes((END_OF_DRAIN,)))

    async def stopped(self) -> int:
        """Wait for the next stop signal and return its number."""
        import anyio

        await anyio.wait_readable(self._heard)
        return os.read(self._heard, 1)[0]

    def _watch(self) -> None:
        poller = select.poll()
        poller.register(self._asked, select.POLLIN)
        if self._in_fd is not None:
            poller.register(self._in_fd, getattr(select, "POLLRDHUP", 0))
        code, deadline, unread = 0, 0.0, 0
        while True:
            for ready, _ in poller.poll(PROGRESS_INTERVAL_MS if deadline else None):
                grace_s = SHUTDOWN_GRACE_S
                if ready == self._asked:
                    number = os.read(self._asked, 1)[0]
                    if number in self._signals:
                        grace_s += 0.0 if code else self._drain_time_s(number)
                        code = 128 + number
                        os.write(self._telling, bytes((number,)))
                    elif number != END_OF_DRAIN:
                        continue
                else:
                    poller.unregister(ready)
                deadline = min(deadline or math.inf, time.monotonic() + grace_s)
            before, unread = unread, self._unread_bytes()
            if unread < before and not code:  # input from before the close is still being read
                deadline = time.monotonic() + SHUTDOWN_GRACE_S
            if deadline and time.monotonic() >= deadline:
                _exit_now(code)

    def _drain_time_s(self, number: int) -> float:
        import signal

        return self._drain_s if number == signal.SIGTERM else 0.0

    def _unread_bytes(self) -> int:
        """Count the bytes that the other end sent before closing and that have not been read yet."""
        if self._in_fd is None:
            return 0
        import fcntl
        import termios

        try:
            return int.from_bytes(fcntl.ioctl(self._in_fd, termios.FIONREAD, bytes(4)), sys.byteorder)
        except OSError:
            return 0


def _exit_now(code: int) -> NoReturn:
    """End this process at once; report it, unless that would block."""
    errors = select.poll()
    errors.register(2, select.POLLOUT)
    if any(events & select.POLLOUT for _, events in errors.poll(0)):
        with suppress(OSError):
            os.write(2, b"hermes-acp: Ended without waiting any longer for work that does not end.\n")
    os._exit(code)


def _ignore_handled(number: int, frame: "FrameType | None") -> None:
    """Do nothing: the guard receives the signal's number separately."""


def exit_process(code: int) -> NoReturn:
    """End this process at once, after everything is closed: the kernel cleans up faster than the interpreter.

    Flushes standard output and error; does not wait for threads.
    """
    for stream in filter(
        None, (sys.stdout, sys.stderr)
    ):  # a stream is None if its descriptor was closed at start
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
