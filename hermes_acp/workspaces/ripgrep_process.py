"""A ripgrep process: its output, its end, and its progress.

Its memory is limited, because it holds whole lines and all their matches.
"""

import os
import resource
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Final

from anyio import EndOfStream, move_on_after, open_process
from anyio.abc import ByteReceiveStream, Process
from msgspec import Struct

from hermes_acp.core.errors import InternalError

MAX_MESSAGE_BYTES = 8 * 1024 * 1024
MAX_MEMORY_BYTES: Final = 2 << 30
KEPT_HEAD_BYTES: Final = 1 << 16
MAX_NAMED_FILES: Final = 2
LEFT_OUT: Final = b"\0left out\0"
"""Marks where the middle of a message was cut out; JSON contains no such bytes."""
_NO_MEMORY: Final = "memory allocation"
_UNREADABLE_CODE: Final = 2


class SearchEnd(Struct, frozen=True):
    """How ripgrep ended on its own: its error message, and why not everything was searched (or empty).

    `has_unreadable` says that it could not read some files, without an error message.
    """

    complaint: str = ""
    broken_off: str = ""
    has_unreadable: bool = False


class RipgrepProcess:
    """A running ripgrep with pipes."""

    def __init__(self, process: Process, output: ByteReceiveStream) -> None:
        self._process = process
        self._output = output

    async def messages(self, end: bytes) -> AsyncIterator[bytes]:
        """Yield each message; of an overlong one, yield only its start and end, joined."""
        held = bytearray()
        head = b""
        while True:
            try:
                chunk = await self._output.receive(65536)
            except EndOfStream:
                return
            *whole, rest = chunk.split(end)
            for piece in whole:
                line = bytes(held) + piece
                held.clear()
                yield head + LEFT_OUT + line[-KEPT_HEAD_BYTES:] if head else line
                head = b""
            held += rest
            if len(held) > MAX_MESSAGE_BYTES:
                head = head or bytes(held[:KEPT_HEAD_BYTES])
                del held[:-KEPT_HEAD_BYTES]

    async def blocks(self, end: bytes) -> AsyncIterator[bytes]:
        """Yield the output in blocks of whole messages, each block without its last separator."""
        held = b""
        while True:
            try:
                held += await self._output.receive(1 << 18)
            except EndOfStream:
                return
            whole, separator, rest = held.rpartition(end)
            if separator:
                held = rest
                yield whole

    async def end(self) -> SearchEnd:
        """Return how ripgrep ended, once all messages have been read."""
        complaint = await self._complaint()
        return read_end(await self._process.wait(), complaint)

    async def _complaint(self) -> str:
        """Return the first part of the error output."""
        try:
            stderr = self._process.stderr
            return (await stderr.receive(4096)).decode("utf-8", "replace") if stderr else ""
        except EndOfStream:
            return ""

    def position(self, folder: str) -> str:
        """Return a note on which files below a folder are being read and how far, if the system reports that."""
        found: list[str] = []
        process = Path("/proc", str(self._process.pid))
        with suppress(OSError):
            for each in (process / "fd").iterdir():
                with suppress(OSError, ValueError, IndexError):
                    path = os.readlink(each)
                    if path.startswith(folder.rstrip("/") + "/") and os.path.isfile(path):
                        passed_bytes = int((process / "fdinfo" / each.name).read_text().split()[1])
                        name = os.path.relpath(path, folder)
                        found.append(f"{name} ({passed_bytes:,} of {os.path.getsize(path):,} bytes)")
        return f" while reading {', '.join(sorted(found)[:MAX_NAMED_FILES])}" if found else ""

    async def kill(self) -> None:
        """Kill and await the process. `Process.kill` would poll first and take the exit code from its awaiting task."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)
        with move_on_after(2, shield=True):
            await self._process.wait()


def read_end(code: int | None, complaint: str) -> SearchEnd:
    """Return how ripgrep ended, from its exit code (negative or above 127 for a signal) and its error output."""
    if _NO_MEMORY in complaint:
        gigabytes = MAX_MEMORY_BYTES >> 30
        return SearchEnd(
            broken_off=f"a line is so long, or has so many matches, that {gigabytes} GB were not enough"
        )
    if code is not None and not 0 <= code < 128:
        return SearchEnd(broken_off=f"ripgrep was killed by signal {-code if code < 0 else code - 128}")
    return SearchEnd(complaint, has_unreadable=code == _UNREADABLE_CODE and not complaint.strip())


@asynccontextmanager
async def run_ripgrep(
    argv: Sequence[str], folder: str, environment: Mapping[str, str]
) -> AsyncGenerator[RipgrepProcess]:
    """Run ripgrep for the duration of the block, after which it has ended."""
    process = await open_process(argv, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, cwd=folder, env=environment)
    if process.stdout is None:
        raise InternalError("The process was started without pipes.")
    _limit_memory(process.pid)
    async with process:
        running = RipgrepProcess(process, process.stdout)
        try:
            yield running
        finally:
            await running.kill()


def _limit_memory(pid: int) -> None:
    """Limit what a process can allocate, on systems that can limit another process."""
    limit = getattr(resource, "prlimit", None)
    if limit is not None:
        with suppress(OSError):
            limit(pid, resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
