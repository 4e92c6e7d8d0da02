"""A terminal without cursor control, or no terminal at all: it reads and writes lines."""

import os
import select
import stat
from collections import deque
from collections.abc import Sequence
from typing import Final

import anyio
import anyio.to_thread

from hermes_acp.frontends.chat.screens.screen import CALLED_AWAY, INTERRUPTED, LEFT, Asking, Choice, Gesture

CHUNK_BYTES: Final = 65536


class PlainScreen:
    """Reads lines from standard input and writes lines to standard output."""

    def __init__(self, input_fd: int, output_fd: int) -> None:
        self._input_fd = input_fd
        self._output_fd = output_fd
        self._typed = b""
        self._typed_ahead: deque[str] = deque()
        self._is_at_end = False
        self._reading: anyio.CancelScope | None = None
        self._why: Gesture = CALLED_AWAY
        mode = os.fstat(input_fd).st_mode
        self._writing, self._threads = anyio.CapacityLimiter(1), anyio.CapacityLimiter(1)
        self._is_file = not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(input_fd))

    @property
    def can_ask(self) -> bool:
        """Whether a person is present."""
        return os.isatty(self._input_fd)

    async def write(self, text: str) -> None:
        """Write lines."""
        await anyio.to_thread.run_sync(
            _write_all, self._output_fd, text.encode("utf-8", "replace"), limiter=self._writing
        )

    def refresh(self) -> None:
        """Do nothing: a plain screen is never redrawn."""

    async def read_prompt(self) -> str | Gesture:
        """Read one line; skip empty ones."""
        if self._typed_ahead:
            return self._typed_ahead.popleft()
        while True:
            line = await self._ask("> ")
            if isinstance(line, Gesture) or line.strip():
                return line

    async def read_key(
        self, question: str, choices: Sequence[Choice], asking: Asking = "unexpected"
    ) -> str | Gesture:
        """Read lines until one is among the keys."""
        if asking == "unexpected":
            self._set_typed_lines_aside()
        keys = [choice.key for choice in choices]
        while True:
            line = await self._ask(f"{question} [{'/'.join(keys)}] ")
            if isinstance(line, Gesture) or line.strip().lower() in keys:
                return line if isinstance(line, Gesture) else line.strip().lower()

    async def read_line(
        self, question: str, *, is_secret: bool = False, is_expected: bool = False
    ) -> str | Gesture:
        """Read one line; on a terminal, a secret is not echoed."""
        if not is_expected:
            self._set_typed_lines_aside()
        if not (is_secret and self.can_ask):
            return await self._ask(f"{question} ")
        with _EchoOff(self._input_fd):
            line = await self._ask(f"{question} ")
        await self.write("\n")
        return line

    def put_back(self, text: str) -> None:
        """Do nothing: a plain screen has no line to put text into."""

    def insert(self, text: str) -> None:
        """Do nothing: a plain screen has no line to put text into."""

    def without_pasted(self, text: str) -> str:
        """Return the text unchanged, because pasted and typed text cannot be told apart here."""
        return text

    def copy(self, text: str) -> bool:
        """Return False, because a plain screen writes no escape codes."""
        return False

    @property
    def can_edit(self) -> bool:
        """Whether text can be edited in an editor: never on a plain screen."""
        return False

    async def edit(self, text: str, name: str) -> str | None:
        """Return None, because a plain screen starts no editor."""
        return None

    def cancel_read(self) -> None:
        """Make the pending read return."""
        self._end_wait(CALLED_AWAY)

    def interrupt(self) -> None:
        """Make the pending read return because of Ctrl+C."""
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

    def _set_typed_lines_aside(self) -> None:
        """Queue lines that were typed before a question was shown as the next prompts."""
        if not self.can_ask:
            return
        while not self._is_at_end and select.select([self._input_fd], [], [], 0)[0]:
            data = os.read(self._input_fd, CHUNK_BYTES)
            self._is_at_end = not data
            self._typed += data
        *lines, self._typed = self._typed.split(b"\n")
        self._typed_ahead += (text for line in lines if (text := _decoded(line)).strip())

    async def _line(self) -> str | None:
        while b"\n" not in self._typed and not self._is_at_end:
            data = await self._read()
            self._is_at_end = not data
            self._typed += data
        if not self._typed and self._is_at_end:
            return None
        line, _, self._typed = self._typed.partition(b"\n")
        return _decoded(line)

    async def _read(self) -> bytes:
        if self._is_file:  # the event loop cannot wait for a regular file
            return await anyio.to_thread.run_sync(os.read, self._input_fd, CHUNK_BYTES, limiter=self._threads)
        await anyio.wait_readable(self._input_fd)
        return os.read(self._input_fd, CHUNK_BYTES)


class _EchoOff:
    """Turns the terminal's echo off for the length of a block."""

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


def _decoded(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
