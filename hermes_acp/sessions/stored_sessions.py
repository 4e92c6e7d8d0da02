"""Changes to sessions that are stored and not open in this process; each takes the record's lock meanwhile."""

from pathlib import Path

import anyio.to_thread

from hermes_acp.core.errors import BadRequest, SessionNotFound
from hermes_acp.core.events import ArchiveChanged, TitleChanged
from hermes_acp.core.record.session_record import fold_events
from hermes_acp.sessions.child_sessions import read_only
from hermes_acp.storage.session_store import SESSION_ID, SessionStore, is_child
from hermes_acp.storage.transcript import Transcript

MAX_NAMED = 3


class StoredSessions:
    """The stored sessions of one home folder."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store

    def path(self, session_id: str) -> Path:
        """Return the path of a session's record. Raises SessionNotFound."""
        path = self._store.path_of(session_id)
        if not path.is_file():
            raise _not_found(session_id)
        return path

    def find(self, named: str) -> str:
        """Return the ID of the session with this ID, or the only one whose ID begins so.

        Raises SessionNotFound, and BadRequest if there are several.
        """
        if not SESSION_ID.fullmatch(named):
            raise _not_found(named)
        if is_child(named) or self._store.path_of(named).is_file():
            self.path(named)
            return named
        found = sorted(path.stem for path in self._store.folder.glob(f"{named}*.jsonl"))
        if len(found) > 1:
            shown = ", ".join(found[:MAX_NAMED])
            raise BadRequest(f"{len(found)} sessions begin with {named!r}.", hint=f"Among them: {shown}.")
        if not found:
            raise _not_found(named)
        return found[0]

    async def add(self, session_id: str, event: TitleChanged | ArchiveChanged) -> None:
        """Add an event to a session's record, and bring the list up to date.

        Raises SessionNotFound, Busy while a process has the session open, StorageError.
        """
        path = self.path(session_id)
        if is_child(session_id):
            raise read_only(session_id)
        await anyio.to_thread.run_sync(_append, path, event)
        await self._store.amend(session_id)


def _not_found(session_id: str) -> SessionNotFound:
    return SessionNotFound(
        f"There is no session {session_id[:80]!r}.",
        session_id=session_id,
        hint="List the sessions to see which exist.",
    )


def _append(path: Path, event: TitleChanged | ArchiveChanged) -> None:
    transcript, events, _ = Transcript.reopen(path)
    try:
        record = fold_events(events)
        if isinstance(event, TitleChanged):
            is_news = event.title != record.title
        else:
            is_news = event.is_archived != record.is_archived
        if is_news:
            transcript.append(event)
    finally:
        transcript.close()
