"""Child agents: their tasks and their records."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from hermes_acp.core.ports.record_ports import Journal
from hermes_acp.core.proposals import Progress, Result
from hermes_acp.core.record.session_record import Record


class DelegatedTask(Struct, frozen=True):
    """A task for a child agent, which sees nothing else of the conversation."""

    title: str
    instructions: str
    context: str = ""


class TaskDelegator(Protocol):
    """Runs child agents within the turn that delegates to them."""

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

    async def begin(self, parent: Record) -> tuple[ChildJournal, Record]:
        """Create the record of a session's new child; a cancel loses no record. Raises StorageError."""
        ...
