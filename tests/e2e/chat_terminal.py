"""A real terminal that runs `hermes-acp chat`: tests press keys and read the screen as a user sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.abc
import pyte

from tests.e2e.agent_process import COMMAND, WAIT_S

ENTER, CTRL_C, CTRL_D, ESCAPE, TAB = "\r", "\x03", "\x04", "\x1b", "\t"
ROWS, COLUMNS = 40, 100


class _Emulator(pyte.HistoryScreen):
    """A terminal that also reports its cursor position, as real ones do."""

    answer: Callable[[str], None]

    def write_process_input(self, data: str) -> None:
        self.answer(data)


class Terminal:
    """One running chat."""

    def __init__(self, master: int, process: anyio.abc.Process, rows: int, columns: int) -> None:
        self.process = process
        self.raw = b""
        self._master = master
        self._screen = _Emulator(columns, rows, history=2000)
        self._screen.answer = self.type
        self._stream = pyte.ByteStream(self._screen)
        self._changed = anyio.Event()
        self.has_ended = False

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Resize the window, as a window manager does."""
        self._screen.resize(rows, columns)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.killpg(os.getpgid(self.process.pid), 28)

    @property
    def lines(self) -> list[str]:
        """Return the text on the screen, without trailing spaces."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def past(self) -> list[str]:
        """Return the text that scrolled off the screen."""
        rows = cast("list[Any]", list(self._screen.history.top))
        return ["".join(row[x].data for x in range(self._screen.columns)).rstrip() for row in rows]

    @property
    def text(self) -> str:
        """Return all text, including what scrolled off the screen."""
        return "\n".join([*self.past, *self.lines]).rstrip()

    def colours_of(self, words: str) -> set[str]:
        """Return the colours in which a line with these words is drawn."""
        for y, line in enumerate(self._screen.display):
            if words in line:
                start = line.index(words)
                cells = [self._screen.buffer[y][x] for x in range(start, start + len(words))]
                return {cell.fg for cell in cells}
        raise AssertionError(f"{words!r} is not on the screen:\n{self.text}")

    async def see(self, words: str, *, gone: bool = False) -> None:
        """Wait until some words are on the screen or above it; with `gone`, until they are not on the screen."""
        await self.until(lambda: words not in "\n".join(self.lines) if gone else words in self.text, words)

    async def until(self, is_true: Callable[[], bool], what: str) -> None:
        """Wait until a condition on the screen holds. A read may end in the middle of a redraw."""
        try:
            with anyio.fail_after(WAIT_S):
                while not is_true():
                    assert not self.has_ended, f"the chat ended before: {what!r}\n{self.text}"
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"never seen: {what!r}\n{self.text}") from None

    async def end(self) -> int:
        """Wait for the chat to end; return its exit code."""
        with anyio.fail_after(WAIT_S):
            return await self.process.wait()

    async def read(self) -> None:
        """Feed the terminal emulator until the chat ends."""
        while True:
            await anyio.wait_readable(self._master)
            try:
                data = os.read(self._master, 65536)
            except OSError:  # Linux reports this when the other end is closed.
                data = b""
            self.raw += data
            self.has_ended = not data
            self._stream.feed(data)
            self._changed.set()
            self._changed = anyio.Event()
            if not data:
                return


@asynccontextmanager
async def chat_on_terminal(
    *arguments: str,
    environment: Mapping[str, str],
    cwd: Path,
    rows: int = ROWS,
    columns: int = COLUMNS,
    command: Sequence[str] = (COMMAND, "chat"),
) -> AsyncGenerator[Terminal]:
    """Run the chat, or another command, in its own terminal for the block; then hang up."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    variables = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment}
    try:
        process = await anyio.open_process(
            [*command, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=subprocess.STDOUT,
            env=variables,
            cwd=cwd,
            start_new_session=True,
        )
    finally:
        os.close(slave)
    terminal = Terminal(master, process, rows, columns)
    try:
        async with process, anyio.create_task_group() as tasks:
            tasks.start_soon(terminal.read)
            try:
                yield terminal
            finally:
                if process.returncode is None:
                    process.terminate()
                    with anyio.move_on_after(5):
                        await process.wait()
                    if process.returncode is None:
                        process.kill()
                tasks.cancel_scope.cancel()
    finally:
        os.close(master)
