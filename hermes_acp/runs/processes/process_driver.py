"""Work on each run in a separate process, so that one that is killed, hangs or runs out of memory affects no other."""

import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from subprocess import PIPE
from typing import Any, Final

import anyio
import msgspec
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from msgspec import Struct, structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.ports.child_ports import DelegatedWork, InheritedRights, ParentAgent
from hermes_acp.core.ports.gate_ports import PermissionResponse
from hermes_acp.core.ports.run_ports import Crashed, DriveOutcome, Failed, Lease, RunMessage, RunOrder
from hermes_acp.runs.processes.process_messages import (
    MAX_LINE_BYTES,
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
from hermes_acp.storage.private_files import private_folder

SHUTDOWN_GRACE_S: Final = 5.0
"""How many seconds a process may take to close its session.

The claim is not renewed during this time, so it is well below the length of a lease.
"""
LOG: Final = "run-processes.log"
DRIVE: Final = "drive"
ALLOW_BYPASS: Final = "--allow-bypass"
DECODER: Final[msgspec.json.Decoder[ForWorker]] = msgspec.json.Decoder(ForWorker)
CLOSED: Final = (
    anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError,
)  # fmt: skip


class Delegated(Struct, frozen=True):
    """The work of a child agent's process, its parent, and how the process is started.

    `overrides` are the settings that the parent's flags override; `variables` is the process's environment.
    """

    work: DelegatedWork
    parent: ParentAgent
    overrides: Mapping[str, Any]
    variables: Mapping[str, str]


class ProcessDriver:
    """Starts `command` for each attempt and connects it to the lease. If the worker ends, so does the process."""

    def __init__(
        self,
        command: Sequence[str],
        home: Path,
        started: Callable[[str, int], None] | None = None,
        *,
        grace_s: float = SHUTDOWN_GRACE_S,
        delegated: Delegated | None = None,
    ) -> None:
        """Create the driver; `started` is called with the run and the process ID for each attempt.

        With `delegated`, the process is that of a child agent.
        """
        self._command = tuple(command)
        self._log = home / "logs" / LOG
        self._started = started
        self._grace_s = grace_s
        self._delegated = delegated

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        """Work on a run until it ends or is suspended. A process that exits without an outcome was killed."""
        try:
            async with self._process() as process:
                if self._started:
                    self._started(order.id, process.pid)
                outcome = await _Conversation(process, lease, self._delegated).run(order)
        except OSError:
            return Failed("busy")
        return outcome or Crashed()

    @asynccontextmanager
    async def _process(self) -> AsyncGenerator[Process]:
        """Start a process; when the block ends, wait for it to exit, and kill it after a time limit. Raises OSError."""
        private_folder(self._log.parent)
        descriptor = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            process = await anyio.open_process(
                self._command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=descriptor,
                start_new_session=True,
                env=self._delegated.variables if self._delegated else None,
            )
        finally:
            os.close(descriptor)
        try:
            yield process
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process, self._grace_s)


class _Conversation:
    """The exchange of messages between a worker and the process of one run."""

    def __init__(self, process: Process, lease: Lease, delegated: Delegated | None) -> None:
        self._process = process
        self._lease = lease
        self._delegated = delegated
        self._asked: Ask | None = None
        self._has_question = anyio.Event()
        self._rights: InheritedRights | None = None
        self._has_rights = anyio.Event()

    async def run(self, order: RunOrder) -> DriveOutcome | None:
        """Give the process its assignment and answer its requests.

        Returns its outcome, or None if it exited without one.
        """
        lease, delegated = self._lease, self._delegated
        assignment = Assignment(order, lease.epoch, tuple(lease.messages))
        if delegated:
            assignment = structs.replace(assignment, work=delegated.work, overrides=dict(delegated.overrides))
        with suppress(*CLOSED):
            await _tell(self._process, assignment)
            if delegated is None:
                return await self._listen()
            parent = delegated.parent
            with parent.follow(self._note_rights):
                async with background_tasks(lambda: self._answer_questions(parent), self._pass_rights_on):
                    return await self._listen()
        return None

    def _note_rights(self, rights: InheritedRights) -> None:
        self._rights = rights
        self._has_rights.set()

    async def _pass_rights_on(self) -> None:
        """Tell the process about each change to its parent's permissions."""
        while True:
            await self._has_rights.wait()
            self._has_rights = anyio.Event()
            if rights := self._rights:
                await _tell(self._process, RightsChanged(rights))

    async def _listen(self) -> DriveOutcome:
        """Read messages up to the outcome. Raises one of CLOSED if the process exits without one."""
        assert self._process.stdout, "the process was started with pipes"
        lines = BufferedByteReceiveStream(self._process.stdout)
        while True:
            line = await lines.receive_until(b"\n", MAX_LINE_BYTES)
            match DECODER.decode(line):
                case Progress():
                    self._lease.note_progress()
                case Confirm():
                    await _tell(self._process, Confirmed(await self._lease.confirm()))
                case Ask() as asked:
                    self._asked = asked
                    self._has_question.set()
                case Settled(outcome):
                    return outcome

    async def _answer_questions(self, parent: ParentAgent) -> None:
        """Pass on a child agent's questions, one at a time, while reading from the process continues."""
        while True:
            await self._has_question.wait()
            self._has_question = anyio.Event()
            if asked := self._asked:
                await _tell(self._process, Answered(await _answer_of(parent, asked)))


async def _answer_of(parent: ParentAgent, asked: Ask) -> RunMessage:
    answer = await parent.ask(asked.call, permission_scope=asked.permission_scope)
    given = PermissionResponse(answer) if isinstance(answer, str) else answer
    return RunMessage(
        asked.call.call_id,
        given.answer,
        given.comment,
        given.by,
        texts=dict(given.texts),
        left_out=dict(given.left_out),
    )


async def _tell(process: Process, message: ForProcess) -> None:
    assert process.stdin, "the process was started with pipes"
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


def drive_line(profile: str, *, allows_bypass: bool) -> Sequence[str]:
    """Return the command line of the process for one run of a profile."""
    command = [sys.executable, "-m", "hermes_acp", "--profile", profile, DRIVE]
    return [*command, ALLOW_BYPASS] if allows_bypass else command
