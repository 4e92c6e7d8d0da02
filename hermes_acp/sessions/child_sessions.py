"""The records of child agents, which are stored next to those of their sessions.

The records of all agents below a session, at any depth, are in one folder, which is deleted with the session. This
module also closes the turns, calls and questions that a killed process left open in them.
"""

from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread

from hermes_acp.agent.children.child_answer import child_result, last_answer
from hermes_acp.core.errors import Busy, SessionNotFound, StorageError
from hermes_acp.core.events import Event, SessionOpened
from hermes_acp.core.ports.runtime_ports import Clock, Ids
from hermes_acp.core.record.child_outcomes import ChildOutcome
from hermes_acp.core.record.session_record import CUT_OFF, Record, fold_events
from hermes_acp.storage.record_lines import decode_lines
from hermes_acp.storage.session_store import SessionStore, child_record_path
from hermes_acp.storage.transcript import Transcript


class ChildSessions:
    """Create the records of child agents in one home folder."""

    def __init__(self, store: SessionStore, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    async def begin(self, parent: Record, folder: str = "") -> tuple[Transcript, Record]:
        """Create the record of a session's new child; cancellation never loses the record. Raises StorageError.

        The child works in the folders of its parent, or only in `folder`.
        """
        first = parent.session_id.partition(".")[0]
        opened = SessionOpened(
            f"{first}.{self._ids.fresh('child')}",
            folder or parent.cwd,
            (folder,) if folder else parent.roots,
            self._clock.now(),
            parent_id=parent.session_id,
        )
        record = Record()
        record.apply(opened)
        begun: list[Transcript] = []
        with anyio.CancelScope(shield=True):
            begun.append(await anyio.to_thread.run_sync(self._create, opened))
            self._store.sharing.share(begun[0])
        return begun[0], record

    async def read_from(self, child_id: str, start: int) -> tuple[list[Event], int]:
        """Return the events that another process has recorded from byte `start` on, and where they end."""
        return await anyio.to_thread.run_sync(_read_from, self._store.path_of(child_id), start)

    async def close_killed(self, child_id: str) -> None:
        """Close what a killed process left open in a child's record."""
        await anyio.to_thread.run_sync(close_child, self._store.path_of(child_id))

    def _create(self, opened: SessionOpened) -> Transcript:
        transcript = self._store.create(opened.session_id)
        try:
            transcript.append(opened)
        except BaseException:
            transcript.close()
            raise
        return transcript


def _read_from(path: Path, start: int) -> tuple[list[Event], int]:
    with path.open("rb") as record:
        record.seek(start)
        lines = list(decode_lines(record.read(), None))
    return [event for event, _ in lines], start + (lines[-1][1] if lines else 0)


def events_to_close(record: Record, path: Path, *, keeps_questions: bool = False) -> list[Event]:
    """Return the events that close what a killed process left open in the record at `path`.

    The records of its children are closed first. With `keeps_questions`, open questions stay open and are asked again
    later.
    """
    accounts: dict[str, ChildOutcome] = {}
    for child_id in record.calls.children():
        if account := close_child(child_record_path(path, child_id)):
            accounts[child_id] = account
    return record.closing_events(accounts, keeps_questions=keeps_questions)


def close_child(path: Path) -> ChildOutcome | None:
    """Close what a killed process left open in the records of a child and its descendants; return the child's outcome.

    Return None if the record is missing or in use. A record that cannot be written stays as it is.
    """
    try:
        transcript, events, _ = Transcript.reopen(path)
    except (SessionNotFound, Busy, StorageError):
        return None
    try:
        record = fold_events(events)
        with suppress(StorageError):
            for end in events_to_close(record, path):
                record.apply(end)
                transcript.append(end)
    finally:
        transcript.close()
    ended = record.last_end
    if ended is None or ended.error_code == CUT_OFF:
        return ChildOutcome(last_answer(record))
    return ChildOutcome(child_result(record, ended).text, ended)


def read_only(session_id: str) -> StorageError:
    """Return the error that explains why a child's session cannot be continued."""
    return StorageError(
        f"Session {session_id!r} is the record of a child agent: it can be read but not continued.",
        hint=f"Continue {session_id.partition('.')[0]!r}.",
    )
