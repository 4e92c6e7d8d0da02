"""The clock, the dice and the dustman.

Knows: the real time, where fresh ids come from, when garbage is collected, how a process ends. Does not know: who needs
them; tests bring their own.
"""

import gc
import os
import sys
import time
from contextlib import suppress
from typing import NoReturn


def start_collecting() -> None:
    """Let garbage be collected from now on; what start-up has made is here to stay and is not looked at again."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


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
