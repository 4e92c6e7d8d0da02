"""Child agents: their tasks, their records and their processes."""

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
    """Runs child agents for the turn that delegates to them."""

    @property
    def about(self) -> str:
        """What the model must know about where child agents work; empty if it is the folders of the session."""
        ...

    async def run_tasks(
        self, delegated_tasks: Sequence[DelegatedTask], tools: Sequence[str] | None, progress: Progress
    ) -> Sequence[Result]:
        """Have a child agent carry out each task, and return their answers.

        `tools` are the only tools they may use; None allows all tools that a child may have. Raises BadRequest.
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
        """Create the record of a session's new child; a cancel loses no record. Raises StorageError.

        The child works in the folders of its parent, or only in `folder`.
        """
        ...

    async def read_from(self, child_id: str, start: int) -> tuple[Sequence[Event], int]:
        """Return the events that another process has recorded after `start` bytes, and where they end."""
        ...

    async def close_killed(self, child_id: str) -> None:
        """Close what a killed process left open in a child's record."""
        ...


class DelegatedWork(Struct, frozen=True):
    """The task of a child agent in its own process.

    `tools` are the only tools that it may use; `agents_above` is how many agents are above it.
    """

    prompt: str
    tools: tuple[str, ...]
    agents_above: int


class InheritedRights(Struct, frozen=True):
    """What a child agent may do because its parent may: the permission mode, and the standing answers."""

    mode: Mode
    grants: tuple[Grant, ...] = ()


class ParentAgent(Gate, Protocol):
    """The parent of a child agent in another process: its user answers questions, and its rights apply to the child."""

    def follow(self, changed: Callable[[InheritedRights], None]) -> AbstractContextManager[None]:
        """Report the parent's rights now, if they are known, and whenever they change, until the block ends.

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
        """Start a process that carries out the work in the session of `order`, and wait for its end.

        The record of the session must be closed. `parent` answers the process's questions, and changes of its rights
        reach the process. If cancelled, the process has ended when this returns.
        """
        ...

    async def open_worktree(self, name: str, folder: str) -> str:
        """Create a git worktree for a folder's repository and return the folder in it.

        Outside repositories, return the folder itself. Raises WorkspaceError or StorageError.
        """
        ...

    async def close_worktree(self, name: str) -> str:
        """Remove a worktree; return the branch that has its work, or an empty string if there is none.

        Raises WorkspaceError or StorageError.
        """
        ...


class ChildServices(Struct, frozen=True):
    """What child agents need from their process.

    `processes` returns what runs them in processes, with worktrees if its argument is True, or None if they can only
    run here.
    """

    records: ChildRecords
    processes: Callable[[bool], ChildProcesses | None]
