"""The process of one run: it gets the run from its worker, works on it, and exits when the worker does."""

import os
import select
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Final

import anyio
import msgspec

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import HermesError
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.child_ports import InheritedRights
from hermes_acp.core.ports.gate_ports import PermissionResponse, PermissionScope
from hermes_acp.core.ports.run_ports import DriveOutcome, Driver, Failed, RunMessage
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.runs.processes.process_messages import (
    Answered,
    Ask,
    Assignment,
    Confirm,
    Confirmed,
    ForProcess,
    ForWorker,
    Progress,
    RightsChanged,
    Settled,
    Stop,
)

PROGRESS_INTERVAL_S: Final = 0.25
READ_BYTES: Final = 1 << 16
WORKER_GONE: Final = 1
_PR_SET_PDEATHSIG: Final = 1
_SIGKILL: Final = 9
DECODER: Final[msgspec.json.Decoder[ForProcess]] = msgspec.json.Decoder(ForProcess)
OpenDriver = Callable[[Assignment, "RemoteParent"], AbstractAsyncContextManager[Driver]]


def claim_streams() -> tuple[int, int]:
    """Return descriptors for standard input and output, and replace them with /dev/null and standard error.

    If the worker ends, this process and its commands end at once, even if this process hangs or is stopped.
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
    """End this process when the other end is closed. Input is read elsewhere."""
    poller = select.poll()
    poller.register(reading, 0)
    poller.poll()
    os._exit(WORKER_GONE)


async def serve_run(reading: int, writing: int, open_driver: OpenDriver) -> None:
    """Work on the run that the worker names, and report the outcome."""
    await _RunProcess(reading, writing).run(open_driver)


class RemoteParent:
    """A child agent's parent, as seen in the child's process; implements `ParentAgent`.

    Questions go to the parent's process, one at a time.
    """

    def __init__(self, tell: Callable[[ForWorker], None]) -> None:
        self._tell = tell
        self._asking = anyio.Lock()
        self._message: RunMessage | None = None
        self._has_answer = anyio.Event()
        self._rights: InheritedRights | None = None
        self._changed: Callable[[InheritedRights], None] | None = None

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Ask the parent's user about a call, and wait for the answer."""
        async with self._asking:
            self._has_answer, self._message = anyio.Event(), None
            self._tell(Ask(call, permission_scope))
            await self._has_answer.wait()
            message = self._message
        if message is None:
            return "unavailable"
        return PermissionResponse(
            message.answer, message.text, message.texts, message.left_out, by=message.by
        )

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Return None: a child only asks for permission."""
        return None

    @contextmanager
    def follow(self, changed: Callable[[InheritedRights], None]) -> Generator[None]:
        """Report the parent's permissions now, if known, and whenever they change, until the block ends."""
        self._changed = changed
        try:
            if self._rights:
                changed(self._rights)
            yield
        finally:
            self._changed = None

    def note_rights(self, rights: InheritedRights) -> None:
        """Adopt the parent's current permissions."""
        self._rights = rights
        if self._changed:
            self._changed(rights)

    def answer(self, message: RunMessage) -> None:
        """Accept the answer to the open question."""
        self._message = message
        self._has_answer.set()


class _RunProcess:
    """The lease of a run, as seen in its process. The worker holds the actual lease and answers requests."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._unread = b""
        self._assignment: Assignment | None = None
        self._confirmed: bool | None = None
        self._answered = anyio.Event()
        self._advanced = anyio.Event()
        self._confirming = anyio.Lock()
        self._parent = RemoteParent(self._tell)
        self._scope = anyio.CancelScope()

    @property
    def epoch(self) -> int:
        """The number of this claim."""
        return self._assignment.epoch if self._assignment else 0

    @property
    def messages(self) -> Sequence[RunMessage]:
        """The answers that the run has received so far, the oldest first."""
        return self._assignment.messages if self._assignment else ()

    def note_progress(self) -> None:
        """Report soon that the work has advanced."""
        self._advanced.set()

    async def confirm(self) -> bool:
        """Return whether the worker still holds the run."""
        async with self._confirming:
            self._answered, self._confirmed = anyio.Event(), None
            self._tell(Confirm())
            await self._answered.wait()
            return bool(self._confirmed)

    async def run(self, open_driver: OpenDriver) -> None:
        """Take the assigned run and work on it until it ends, is suspended, or the worker wants it to stop."""
        first = await self._receive()
        assert isinstance(first, Assignment), "the worker sends the assignment first"
        self._assignment = first
        outcome: DriveOutcome | None = None
        async with background_tasks(self._listen, self._report):
            with self._scope:
                try:
                    async with open_driver(first, self._parent) as driver:
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
                case Answered(message):
                    self._parent.answer(message)
                case RightsChanged(rights):
                    self._parent.note_rights(rights)
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
        """Write a line. The worker reads continuously, so this does not block for long."""
        line = msgspec.json.encode(message) + b"\n"
        while line:
            line = line[os.write(self._writing, line) :]
