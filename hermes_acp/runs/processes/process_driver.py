"""Drive runs in separate processes: one that is killed, hangs or runs out of memory does not affect the others."""

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from subprocess import PIPE
from typing import Final

import anyio
import msgspec
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from hermes_acp.core.ports.run_ports import Crashed, DriveOutcome, Failed, Lease, RunOrder
from hermes_acp.runs.processes.process_messages import (
    MAX_LINE_BYTES,
    Assignment,
    Confirm,
    Confirmed,
    ForProcess,
    ForWorker,
    Progress,
    Settled,
    Stop,
)
from hermes_acp.storage.private_files import private_folder

SHUTDOWN_GRACE_S: Final = 5.0
"""How long a process may take to close its session; no claim is renewed meanwhile, so it is well below a lease."""
LOG: Final = "run-processes.log"
DECODER: Final[msgspec.json.Decoder[ForWorker]] = msgspec.json.Decoder(ForWorker)
CLOSED: Final = (
    anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError,
)  # fmt: skip


class ProcessDriver:
    """Starts `command` for each drive and connects it with the lease; if the worker ends, so does the process."""

    def __init__(
        self,
        command: Sequence[str],
        home: Path,
        started: Callable[[str, int], None] | None = None,
        *,
        grace_s: float = SHUTDOWN_GRACE_S,
    ) -> None:
        """Prepare; `started` is called with the run and the process ID of each drive."""
        self._command = tuple(command)
        self._log = home / "logs" / LOG
        self._started = started
        self._grace_s = grace_s

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        """Work on a run until it ends or is suspended. A process that ends without an outcome was killed."""
        try:
            async with self._process() as process:
                if self._started:
                    self._started(order.id, process.pid)
                outcome = await _converse(process, order, lease)
        except OSError:
            return Failed("busy")
        return outcome or Crashed()

    @asynccontextmanager
    async def _process(self) -> AsyncGenerator[Process]:
        """Start a process; on leaving the block, wait for its end, and kill it after a time limit. Raises OSError."""
        private_folder(self._log.parent)
        descriptor = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            process = await anyio.open_process(
                self._command, stdin=PIPE, stdout=PIPE, stderr=descriptor, start_new_session=True
            )
        finally:
            os.close(descriptor)
        try:
            yield process
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process, self._grace_s)


async def _converse(process: Process, order: RunOrder, lease: Lease) -> DriveOutcome | None:
    """Give the process its assignment and answer its requests; return its outcome, or None if it ended without one."""
    assert process.stdout, "a process started with pipes has them"
    lines = BufferedByteReceiveStream(process.stdout)
    with suppress(*CLOSED):
        await _tell(process, Assignment(order, lease.epoch, tuple(lease.messages)))
        while True:
            line = await lines.receive_until(b"\n", MAX_LINE_BYTES)
            match DECODER.decode(line):
                case Progress():
                    lease.note_progress()
                case Confirm():
                    await _tell(process, Confirmed(await lease.confirm()))
                case Settled(outcome):
                    return outcome
    return None


async def _tell(process: Process, message: ForProcess) -> None:
    assert process.stdin, "a process started with pipes has them"
    await process.stdin.send(msgspec.json.encode(message) + b"\n")


async def _end(process: Process, grace_s: float) -> None:
    """Ask a process to close its session and exit; kill it if it does not."""
    with anyio.move_on_after(grace_s):
        with suppress(*CLOSED):
            await _tell(process, Stop())
        await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
    await process.aclose()
