"""Child agents: their tasks and their records."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from hermes_acp.core.ports.record_ports import Journal
from hermes_acp.core.proposals import Progress, Result
from hermes_acp.core.record.session_record import Record


class DelegatedTask(Struct, frozen=True):
    """One task for a child agent, which sees nothing else of the conversation."""

    title: str
    instructions: str
    context: str = ""


class TaskDelegator(Protocol):
    """Child agents that work within the turn that calls for them."""

    async def run_tasks(
        self, delegated_tasks: Sequence[DelegatedTask], tools: Sequence[str] | None, progress: Progress
    ) -> Sequence[Result]:
        """Let a child agent of its own carry out each errand, and give what each answered.

        `tools` are the only ones they may use; None is all that a child may have. Raises BadRequest.
        """
        ...


class ChildJournal(Journal, Protocol):
    """A journal that is given up when its child agent is done."""

    def close(self) -> None:
        """Let go of it."""
        ...


class ChildRecords(Protocol):
    """Where child agents keep their records."""

    async def begin(self, parent: Record) -> tuple[ChildJournal, Record]:
        """Begin the record of a session's new child; a cancel loses nothing that was begun. Raises StorageError."""
        ...
