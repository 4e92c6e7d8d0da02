"""Ports for child agents: their tasks, records and processes."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Grant, Mode
from hermes_acp.core.events import Event
from hermes_acp.core.ports.gate_ports import Gate
from hermes_acp.core.ports.record_ports import Journal
from hermes_acp.core.ports.run_ports import DriveOutcome, RunOrder
from hermes_acp.core.proposals import Progress, Result
from hermes_acp.core.record.session_record import Record


class DelegatedTask(Struct, frozen=True):
    """A task for a child agent, which sees nothing else of the conversation."""

    title: str
    instructions: str
    context: str = ""


class TaskDelegator(Protocol):
    """Runs child agents for the turn that delegates tasks to them."""

    @property
    def about(self) -> str:
        """What the model needs to know about where child agents work; empty if they work in the session's folders."""
        ...

    async def run_tasks(
        self, delegated_tasks: Sequence[DelegatedTask], tools: Sequence[str] | None, progress: Progress
    ) -> Sequence[Result]:
        """Have child agents carry out the tasks, one child per task, and return their answers.

        The children may use only `tools`; None allows all tools available to children. Raises BadRequest.
        """
        ...


class ChildJournal(Journal, Protocol):
    """A journal that is closed when its child agent has finished."""

    def close(self) -> None:
        """Close the journal."""
        ...


class ChildRecords(Protocol):
    """The store of child agents' records."""

    async def begin(self, parent: Record, folder: str = "") -> tuple[ChildJournal, Record]:
        """Create the record for a new child of a session; it is not lost if the call is cancelled. Raises StorageError.

        The child works in its parent's folders or, if `folder` is given, only in that folder.
        """
        ...

    async def read_from(self, child_id: str, start: int) -> tuple[Sequence[Event], int]:
        """Return the events that another process has recorded from offset `start` on, and the offset where they end."""
        ...

    async def close_killed(self, child_id: str) -> None:
        """Close whatever a killed process left open in a child's record."""
        ...


class DelegatedWork(Struct, frozen=True):
    """The task of a child agent in its own process.

    The child may use only `tools`; `agents_above` counts its ancestors.
    """

    prompt: str
    tools: tuple[str, ...]
    agents_above: int


class InheritedRights(Struct, frozen=True):
    """What a child agent may do because its parent may: the permission mode and the "always" answers."""

    mode: Mode
    grants: tuple[Grant, ...] = ()


class ParentAgent(Gate, Protocol):
    """The parent of a child agent in another process, whose user answers questions and whose permissions apply."""

    def follow(self, changed: Callable[[InheritedRights], None]) -> AbstractContextManager[None]:
        """Report the parent's permissions now, if known, and whenever they change, until the block ends.

        `changed` must not block.
        """
        ...


class ChildProcesses(Protocol):
    """Runs child agents in separate processes."""

    @property
    def uses_worktrees(self) -> bool:
        """Whether each child works in its own git worktree."""
        ...

    async def run(
        self, order: RunOrder, work: DelegatedWork, parent: ParentAgent, note_progress: Callable[[], None]
    ) -> DriveOutcome:
        """Start a process that carries out the work in the session of `order`, and wait for it to exit.

        The session's record must be closed. `parent` answers the process's questions, and changes to its permissions
        are passed on to the process. If cancelled, the process has exited by the time this returns.
        """
        ...

    async def open_worktree(self, name: str, folder: str) -> str:
        """Create a git worktree of a folder's repository, and return the corresponding folder in it.

        Outside repositories, returns the folder itself. Raises WorkspaceError or StorageError.
        """
        ...

    async def close_worktree(self, name: str) -> str:
        """Remove a worktree; return the branch that contains its work, or an empty string if there is none.

        Raises WorkspaceError or StorageError.
        """
        ...


class ChildServices(Struct, frozen=True):
    """What child agents need from their process.

    `processes` returns the runner for child processes (with worktrees if its argument is True), or None if children can
    only run in this process.
    """

    records: ChildRecords
    processes: Callable[[bool], ChildProcesses | None]
