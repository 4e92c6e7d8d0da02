"""The process of one run: it gets a run from its worker, drives it, and ends when the worker ends."""

import os
import select
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

import anyio
import msgspec

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports.run_ports import DriveOutcome, Driver, Failed, RunMessage
from hermes_acp.runs.processes.process_messages import (
    Assignment,
    Confirm,
    Confirmed,
    ForProcess,
    ForWorker,
    Progress,
    Settled,
    Stop,
)

PROGRESS_INTERVAL_S: Final = 0.25
READ_BYTES: Final = 1 << 16
WORKER_GONE: Final = 1
_PR_SET_PDEATHSIG: Final = 1
_SIGKILL: Final = 9
DECODER: Final[msgspec.json.Decoder[ForProcess]] = msgspec.json.Decoder(ForProcess)
OpenDriver = Callable[[], AbstractAsyncContextManager[Driver]]


def claim_streams() -> tuple[int, int]:
    """Return descriptors for standard input and output, and replace these with /dev/null and standard error. If the
    worker ends, this process ends at once, even if it hangs or is stopped; its commands end with it.
    """
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    _die_with_worker(reading)
    return reading, writing


def _die_with_worker(reading: int) -> None:
    import _thread

    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    _thread.start_new_thread(_watch, (reading,))


def _watch(reading: int) -> None:
    """End this process when the other end is closed; input is read elsewhere."""
    poller = select.poll()
    poller.register(reading, 0)
    poller.poll()
    os._exit(WORKER_GONE)


async def serve_run(reading: int, writing: int, open_driver: OpenDriver) -> None:
    """Drive the run that the worker names, and report how that ended."""
    await _RunProcess(reading, writing).run(open_driver)


class _RunProcess:
    """The lease of a run in the run's process: the worker holds the actual lease and answers requests."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._unread = b""
        self._assignment: Assignment | None = None
        self._confirmed: bool | None = None
        self._answered = anyio.Event()
        self._advanced = anyio.Event()
        self._confirming = anyio.Lock()
        self._scope = anyio.CancelScope()

    @property
    def epoch(self) -> int:
        """The number of this claim."""
        return self._assignment.epoch if self._assignment else 0

    @property
    def messages(self) -> Sequence[RunMessage]:
        """The answers that the run has received so far, oldest first."""
        return self._assignment.messages if self._assignment else ()

    def note_progress(self) -> None:
        """Report that the work has advanced, soon."""
        self._advanced.set()

    async def confirm(self) -> bool:
        """Return whether the run is still the worker's."""
        async with self._confirming:
            self._answered, self._confirmed = anyio.Event(), None
            self._tell(Confirm())
            await self._answered.wait()
            return bool(self._confirmed)

    async def run(self, open_driver: OpenDriver) -> None:
        """Take the run and drive it until it ends, is suspended, or the worker wants it to stop."""
        first = await self._receive()
        assert isinstance(first, Assignment), "a worker assigns first"
        self._assignment = first
        outcome: DriveOutcome | None = None
        async with background_tasks(self._listen, self._report):
            with self._scope:
                try:
                    async with open_driver() as driver:
                        outcome = await driver.drive(first.order, self)
                except HermesError as error:
                    outcome = Failed("usage", error.sentence())
        if outcome:
            self._tell(Settled(outcome))

    async def _listen(self) -> None:
        while True:
            match await self._receive():
                case Confirmed(is_held):
                    self._confirmed = is_held
                    self._answered.set()
                case Stop():
                    self._scope.cancel()
                case Assignment():
                    continue

    async def _report(self) -> None:
        while True:
            await self._advanced.wait()
            self._advanced = anyio.Event()
            self._tell(Progress())
            await anyio.sleep(PROGRESS_INTERVAL_S)

    async def _receive(self) -> ForProcess:
        while b"\n" not in self._unread:
            await anyio.wait_readable(self._reading)
            if not (read := os.read(self._reading, READ_BYTES)):
                os._exit(WORKER_GONE)
            self._unread += read
        line, _, self._unread = self._unread.partition(b"\n")
        return DECODER.decode(line)

    def _tell(self, message: ForWorker) -> None:
        """Write a line; the worker reads continuously, so this does not block for long."""
        line = msgspec.json.encode(message) + b"\n"
        while line:
            line = line[os.write(self._writing, line) :]
