"""The clock, the dice and the dustman.

Knows: the real time, where fresh ids come from, when garbage is collected, how a process begins and ends. Does not
know: who needs them; tests bring their own.
"""

import gc
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from signal import Signals
    from types import FrameType


def start_collecting() -> None:
    """Let garbage be collected from now on; what start-up has made is here to stay and is not looked at again."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def forget_inherited_signals() -> None:
    """Take back what whoever started this process had ignored or held up, before it could hand that on.

    Where a child's end is ignored, the kernel forgets how each child ended. Who ignores what asks to stop, as `nohup`
    does, means this process: it goes on passing that by, and its commands do not.
    """
    import signal

    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    of_python = {signal.SIGPIPE, signal.SIGXFSZ}
    for number in signal.valid_signals() - of_python:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _pass_by if number in _asking_to_stop() else signal.SIG_DFL)


def stop_signals() -> "tuple[Signals, ...]":
    """Give the signals that end this process: what asks to stop, but for what its starter wants passed by."""
    import signal

    return tuple(number for number in _asking_to_stop() if signal.getsignal(number) is not _pass_by)


def _asking_to_stop() -> "tuple[Signals, ...]":
    import signal

    return (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def _pass_by(number: int, frame: "FrameType | None") -> None:
    """Do nothing; unlike an ignored signal, one that is caught is not handed on to commands."""


def leave(code: int) -> NoReturn:
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
        """Give seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Give seconds that never jump."""
        return time.monotonic()


class RandomIds:
    """Ids nobody can guess."""

    def fresh(self, kind: str) -> str:
        """Give `kind_` and 16 random hexadecimal digits."""
        return f"{kind}_{os.urandom(8).hex()}"


def roll() -> float:
    """Throw the dice: any number from 0 up to 1."""
    return int.from_bytes(os.urandom(6)) / 2**48
