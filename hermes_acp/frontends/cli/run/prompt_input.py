"""Read the prompt of a run, and the text that is piped in with it.

A terminal is never read. Waiting for an open pipe is limited, unless `-` requests otherwise, because CI systems and
other programs often leave standard input open without sending anything.
"""

import argparse
import os
import select
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio

from hermes_acp.agent.background_tasks import joined_task
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.messages import Part, ResourcePart, TextPart
from hermes_acp.core.untrusted_text import truncate_middle
from hermes_acp.frontends.cli.messages import run_messages

PIECE_BYTES: Final = 65_536
MAX_CONTEXT_BYTES: Final = 256 * 1024
"""The amount of piped text that the model sees: about half of a usual context window."""
MAX_READ_BYTES: Final = 64 * 1024 * 1024
CONTEXT_WAIT_S: Final = 3.0
"""Long enough for a command to start its output, but short if nobody writes to the pipe."""
PROMPT_WAIT_S: Final = 10.0
MAX_UNDECODABLE_SHARE: Final = 0.3
STDIN: Final = "-"
STDIN_URI: Final = "stdin:"

Meanwhile = Callable[[], Coroutine[Any, Any, None]]


class PromptInput:
    """Reads one run's prompt from its arguments and standard input."""

    def __init__(self, in_fd: int, note: Callable[[str], None], meanwhile: Meanwhile) -> None:
        """Prepare without reading; `meanwhile` is run once if the input has not arrived when reading starts."""
        self._in_fd = in_fd
        self._note = note
        self._meanwhile = meanwhile
        self._has_said_waiting = False

    async def read(self, options: argparse.Namespace, *, may_go_on: bool) -> tuple[Part, ...]:
        """Return the prompt; empty if there is none and an interrupted turn may resume instead. Raises BadRequest."""
        words = list(options.words)
        is_awaited = options.prompt == STDIN or words[-1:] == [STDIN]
        if words[-1:] == [STDIN]:
            words.pop()
        if words and options.prompt is not None:
            raise BadRequest(run_messages.two_prompts(words[0]), hint=run_messages.TWO_PROMPTS_HINT)
        text = options.prompt if options.prompt not in (None, STDIN) else " ".join(words)
        if options.prompt is not None and text.startswith("@"):
            text = read_prompt_file(text[1:])
        if text.strip():
            return await self._with_context(text, is_awaited=is_awaited)
        if words or options.prompt not in (None, STDIN):
            raise BadRequest(run_messages.EMPTY_PROMPT, hint=run_messages.PROMPT_HINT)
        return await self._from_input(may_go_on=may_go_on and not is_awaited, is_awaited=is_awaited)

    async def _with_context(self, text: str, *, is_awaited: bool) -> tuple[Part, ...]:
        if os.isatty(self._in_fd):
            return (TextPart(text),)
        content = await self._read_whole(None if is_awaited else CONTEXT_WAIT_S)
        if content is None:
            self._note(run_messages.stdin_silent(CONTEXT_WAIT_S))
            return (TextPart(text),)
        piped = _decoded(content)
        if not piped.strip():
            return (TextPart(text),)
        if len(content) > MAX_CONTEXT_BYTES:
            self._note(run_messages.stdin_cut(len(content), MAX_CONTEXT_BYTES, MAX_READ_BYTES))
        return TextPart(text), ResourcePart(STDIN_URI, truncate_middle(piped, MAX_CONTEXT_BYTES))

    async def _from_input(self, *, may_go_on: bool, is_awaited: bool) -> tuple[Part, ...]:
        if os.isatty(self._in_fd):
            if may_go_on:
                return ()
            raise BadRequest(run_messages.NO_PROMPT, hint=run_messages.PROMPT_HINT)
        wait_s = None if is_awaited else CONTEXT_WAIT_S if may_go_on else PROMPT_WAIT_S
        content = await self._read_whole(wait_s)
        if content is None and not may_go_on:
            raise BadRequest(run_messages.no_prompt_arrived(PROMPT_WAIT_S), hint=run_messages.AWAIT_HINT)
        if content and len(content) >= MAX_READ_BYTES:
            raise BadRequest(
                run_messages.prompt_too_long(MAX_READ_BYTES), hint=run_messages.PROMPT_TOO_LONG_HINT
            )
        text = _decoded(content or b"")
        if text.strip():
            return (TextPart(text),)
        if may_go_on:
            return ()
        raise BadRequest(run_messages.EMPTY_PROMPT, hint=run_messages.PROMPT_HINT)

    async def _read_whole(self, first_wait_s: float | None) -> bytes | None:
        """Read to the end, at most MAX_READ_BYTES; return None if nothing arrives within `first_wait_s`."""
        read = bytearray()
        if not await self._begin(first_wait_s):
            return None
        while piece := os.read(self._in_fd, PIECE_BYTES):
            read += piece
            if b"\0" in piece:
                raise BadRequest(run_messages.STDIN_BINARY, hint=run_messages.STDIN_BINARY_HINT)
            if len(read) >= MAX_READ_BYTES:
                break
            await self._more()
        return bytes(read)

    async def _begin(self, first_wait_s: float | None) -> bool:
        """Wait for the first data or the end of the input; return False on a timeout."""
        if select.select([self._in_fd], [], [], 0)[0]:
            return True
        with anyio.move_on_after(CONTEXT_WAIT_S if first_wait_s is None else first_wait_s) as waiting:
            async with joined_task(self._meanwhile):
                await self._readable()
        if first_wait_s is None and waiting.cancelled_caught:
            await self._more()
            return True
        return not waiting.cancelled_caught

    async def _more(self) -> None:
        """Wait for more data or the end of the input; say so once if that takes long."""
        if not self._has_said_waiting:
            with anyio.move_on_after(CONTEXT_WAIT_S):
                await self._readable()
                return
            self._has_said_waiting = True
            self._note(run_messages.WAITING_FOR_STDIN)
        await self._readable()

    async def _readable(self) -> None:
        """Wait for data before reading; a blocking read would delay a signal that arrives just before it."""
        with suppress(PermissionError):  # reading a regular file never blocks
            await anyio.wait_readable(self._in_fd)


def read_prompt_file(path: str) -> str:
    """Return a file's text. Raises BadRequest."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadRequest(run_messages.prompt_unreadable(path, reason)) from error
    except UnicodeDecodeError as error:
        raise BadRequest(run_messages.prompt_not_utf8(path)) from error


def _decoded(content: bytes) -> str:
    """Decode a piped text, replacing a few bytes in other encodings. Raises BadRequest for binary data."""
    text = content.decode("utf-8", "replace")
    if text.count("\ufffd") > MAX_UNDECODABLE_SHARE * len(text):
        raise BadRequest(run_messages.STDIN_BINARY, hint=run_messages.STDIN_BINARY_HINT)
    return text
