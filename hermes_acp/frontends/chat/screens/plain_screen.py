"""A terminal that can do nothing but take lines, or no terminal at all.

Knows: lines in, lines out, that without a person nobody is asked. Does not know: colours, what is said.
"""

import os
import stat
from collections.abc import Sequence
from typing import Final

import anyio
import anyio.to_thread

from hermes_acp.frontends.chat.screens.screen import CALLED_AWAY, INTERRUPTED, LEFT, Gesture

CHUNK_BYTES: Final = 65536


class PlainScreen:
    """Standard input and output as they are."""

    def __init__(self, given_fd: int, output_fd: int) -> None:
        self._given_fd = given_fd
        self._output_fd = output_fd
        self._typed = b""
        self._is_at_end = False
        self._reading: anyio.CancelScope | None = None
        self._why: Gesture = CALLED_AWAY
        mode = os.fstat(given_fd).st_mode
        self._writing, self._threads = anyio.CapacityLimiter(1), anyio.CapacityLimiter(1)
        self._is_file = not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(given_fd))

    @property
    def can_ask(self) -> bool:
        """Whether a person is there."""
        return os.isatty(self._given_fd)

    async def write(self, text: str) -> None:
        """Write lines."""
        await anyio.to_thread.run_sync(
            _write_all, self._output_fd, text.encode("utf-8", "replace"), limiter=self._writing
        )

    def refresh(self) -> None:
        """Nothing moves here."""

    async def read_prompt(self) -> str | Gesture:
        """Read one line; empty ones are passed over."""
        while True:
            line = await self._ask("> ")
            if isinstance(line, Gesture) or line.strip():
                return line

    async def read_key(self, question: str, keys: Sequence[str]) -> str | Gesture:
        """Read a line until it is one of the keys."""
        while True:
            line = await self._ask(f"{question} [{'/'.join(keys)}] ")
            if isinstance(line, Gesture) or line.strip().lower() in keys:
                return line if isinstance(line, Gesture) else line.strip().lower()

    async def read_line(self, question: str, *, is_secret: bool = False, given: str = "") -> str | Gesture:
        """Read one line; a terminal shows no secret."""
        if not (is_secret and self.can_ask):
            return await self._ask(f"{question} ")
        with _Silence(self._given_fd):
            line = await self._ask(f"{question} ")
        await self.write("\n")
        return line

    @property
    def can_edit(self) -> bool:
        """Whether there is an editor: none that lines alone would do for."""
        return False

    async def edit(self, text: str, name: str) -> str | None:
        """Return nothing."""
        return None

    def cancel_read(self) -> None:
        """End the wait."""
        self._end_wait(CALLED_AWAY)

    def interrupt(self) -> None:
        """End the wait for Ctrl+C."""
        self._end_wait(INTERRUPTED)

    def _end_wait(self, why: Gesture) -> None:
        if self._reading is not None:
            self._why = why
            self._reading.cancel()

    async def _ask(self, question: str) -> str | Gesture:
        if self.can_ask:
            await self.write(question)
        with anyio.CancelScope() as self._reading:
            line = await self._line()
            return LEFT if line is None else line
        return self._why

    async def _line(self) -> str | None:
        while b"\n" not in self._typed and not self._is_at_end:
            data = await self._read()
            self._is_at_end = not data
            self._typed += data
        if not self._typed and self._is_at_end:
            return None
        line, _, self._typed = self._typed.partition(b"\n")
        return line.removesuffix(b"\r").decode("utf-8", "replace")

    async def _read(self) -> bytes:
        if self._is_file:  # always ready, and nothing the event loop could wait for
            return await anyio.to_thread.run_sync(os.read, self._given_fd, CHUNK_BYTES, limiter=self._threads)
        await anyio.wait_readable(self._given_fd)
        return os.read(self._given_fd, CHUNK_BYTES)


class _Silence:
    """A terminal that does not show what is typed, for the length of a block."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> None:
        import termios

        self._before = termios.tcgetattr(self._fd)
        silent = termios.tcgetattr(self._fd)
        silent[3] &= ~termios.ECHO
        termios.tcsetattr(self._fd, termios.TCSADRAIN, silent)

    def __exit__(self, *_: object) -> None:
        import termios

        termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
