"""Read facts about runs from session records: questions, answers and usage."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from hermes_acp.core.errors import SessionNotFound
from hermes_acp.core.ports.run_ports import RunView

if TYPE_CHECKING:
    from hermes_acp.core.events import Event
    from hermes_acp.runs.open_questions import OpenQuestion
    from hermes_acp.runs.run_history import RunHistory


class RunRecords:
    """Reads the sessions of runs. A session that does not exist yet counts as empty."""

    def __init__(self, find_record: Callable[[str], Awaitable[Path]]) -> None:
        """Store the function that finds a session's record."""
        self._find_record = find_record

    async def answer_of(self, run: RunView) -> str:
        """Return the agent's last message in a run. Raises StorageError."""
        from hermes_acp.runs.run_history import answer_of

        return answer_of(await self._events_of(run), run.order.id)

    async def history_of(self, run: RunView) -> "RunHistory":
        """Return a run's history and usage so far. Raises StorageError."""
        from hermes_acp.runs.run_history import history_of

        return history_of(await self._events_of(run), run.order.id)

    async def questions_of(self, run: RunView) -> "tuple[OpenQuestion, ...]":
        """Return the open questions of a run. Raises StorageError."""
        from hermes_acp.runs.open_questions import questions_about

        return questions_about(await self._events_of(run), run.waits_for) if run.waits_for else ()

    async def _events_of(self, run: RunView) -> "Sequence[Event]":
        """Return the events in the record of a run's session; empty if it does not exist. Raises StorageError."""
        from hermes_acp.storage.private_files import storage_error
        from hermes_acp.storage.transcript import Transcript

        try:
            path = await self._find_record(run.order.session_id)
        except SessionNotFound:
            return ()
        try:
            return await run_sync(Transcript.read_events, path)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise storage_error("read the run's session", path, error) from error
