"""The clock, the dice and the dustman.

Knows: the real time, where fresh ids come from, when garbage is collected, how a process begins and ends. Does not
know: who needs them; tests bring their own.
"""

import gc
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


def enable_garbage_collection() -> None:
    """Let garbage be collected from now on; what start-up has made is here to stay and is not looked at again."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def reset_inherited_signals() -> None:
    """Take back what whoever started this process had ignored or held up, before it could hand that on.

    Where a child's end is ignored, the kernel forgets how each child ended. Who ignores what asks to stop, as `nohup`
    does, means this process: it goes on passing that by, and its commands do not.
    """
    import signal

    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    of_python = {signal.SIGPIPE, signal.SIGXFSZ}
    for number in signal.valid_signals() - of_python:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _ignore_caught if number in _asking_to_stop() else signal.SIG_DFL)


def stop_signals() -> "tuple[Signals, ...]":
    """Return the signals that end this process: what asks to stop, but for what its starter wants passed by."""
    import signal

    return tuple(number for number in _asking_to_stop() if signal.getsignal(number) is not _ignore_caught)


def _asking_to_stop() -> "tuple[Signals, ...]":
    import signal

    return (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def _ignore_caught(number: int, frame: "FrameType | None") -> None:
    """Do nothing; unlike an ignored signal, one that is caught is not handed on to commands."""


class ShutdownGuard:
    """Ends this process when it was asked to end and does not get there by itself.

    It waits in a thread of its own, so neither a blocked event loop nor hanging worker threads keep it from its work.
    What is in the records by then stays: every event is written before it is shown. Commands and servers are ended by
    the shells that watch over this process. One per process; use it from the main thread.
    """

    def __init__(self, in_fd: int | None = None) -> None:
        """Prepare; with `in_fd`, the other end closing it asks for the end too."""
        self._signals: frozenset[int] = frozenset()
        self._in_fd = None if in_fd is None else os.dup(in_fd)  # its owner closes it when it likes
        self._asked, self._asking = os.pipe()
        self._heard, self._telling = os.pipe()
        os.set_blocking(self._asking, False)

    def start(self) -> None:
        """Watch the other end from now on."""
        import _thread

        _thread.start_new_thread(self._watch, ())

    def watch_signals(self) -> None:
        """Be told of the signals that ask to stop from now on, instead of dying of them at once."""
        import signal

        self._signals = frozenset(stop_signals())
        signal.set_wakeup_fd(self._asking, warn_on_full_buffer=False)
        for number in self._signals:
            signal.signal(number, _ignore_handled)

    async def stopped(self) -> int:
        """Wait for a signal that asks to stop; return its number."""
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
                if ready == self._asked:
                    number = os.read(self._asked, 1)[0]
                    if number not in self._signals:
                        continue
                    code = 128 + number
                    os.write(self._telling, bytes((number,)))
                else:
                    poller.unregister(ready)
                deadline = deadline or time.monotonic() + SHUTDOWN_GRACE_S
            before, unread = unread, self._unread_bytes()
            if unread < before and not code:  # what came before the input was closed is still being read
                deadline = time.monotonic() + SHUTDOWN_GRACE_S
            if deadline and time.monotonic() >= deadline:
                _exit_now(code)

    def _unread_bytes(self) -> int:
        """Count what the other end sent before it closed and nobody has read yet."""
        if self._in_fd is None:
            return 0
        import fcntl
        import termios

        try:
            return int.from_bytes(fcntl.ioctl(self._in_fd, termios.FIONREAD, bytes(4)), sys.byteorder)
        except OSError:
            return 0


def _exit_now(code: int) -> NoReturn:
    """End this process at once, and say so where that takes no waiting."""
    errors = select.poll()
    errors.register(2, select.POLLOUT)
    if any(events & select.POLLOUT for _, events in errors.poll(0)):
        with suppress(OSError):
            os.write(2, b"hermes-acp: Ended without waiting any longer for work that does not end.\n")
    os._exit(code)


def _ignore_handled(number: int, frame: "FrameType | None") -> None:
    """Do nothing: the signal's number is on its way to the guard."""


def exit_process(code: int) -> NoReturn:
    """End this process at once, when all it had open is closed: the kernel takes it apart faster than the interpreter.

    What was printed is written out; threads that still wait for something are not waited for.
    """
    for stream in filter(None, (sys.stdout, sys.stderr)):  # there is none for a descriptor that came closed
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


class SystemClock:
    """The machine's clocks."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that never jump."""
        return time.monotonic()


class RandomIds:
    """Ids nobody can guess."""

    def fresh(self, kind: str) -> str:
        """Return `kind_` and 16 random hexadecimal digits."""
        return f"{kind}_{os.urandom(8).hex()}"


def random_fraction() -> float:
    """Throw the dice: any number from 0 up to 1."""
    return int.from_bytes(os.urandom(6)) / 2**48
