"""Change stored sessions that are not open in this process, under the lock of each record."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio.to_thread

from hermes_acp.core.errors import BadRequest, SessionNotFound
from hermes_acp.core.events import ArchiveChanged, TitleChanged, UserSaid
from hermes_acp.core.messages import words_in
from hermes_acp.core.record.session_record import Record, fold_events
from hermes_acp.core.record.titles import title_of
from hermes_acp.sessions.child_sessions import read_only
from hermes_acp.storage.record_lines import decode_lines
from hermes_acp.storage.session_store import SESSION_ID, SessionStore, is_child

MAX_NAMED = 3


MAX_HEAD_BYTES = 256 << 10
"""The number of bytes of a record that are searched for its first prompt."""


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
        """Return the full ID of the session with the given ID or unambiguous ID prefix.

        Raises SessionNotFound, or BadRequest if several sessions match.
        """
        if not SESSION_ID.fullmatch(named):
            raise _not_found(named)
        if is_child(named) or self._store.path_of(named).is_file():
            self.path(named)
            return named
        found = sorted(path.stem for path in self._store.folder.glob(f"{named}*.jsonl"))
        if len(found) > 1:
            shown = ", ".join(found[:MAX_NAMED])
            raise BadRequest(f"{len(found)} session IDs start with {named!r}.", hint=f"Among them: {shown}.")
        if not found:
            raise _not_found(named)
        return found[0]

    def all_ids(self) -> list[str]:
        """Return the IDs of all sessions except those of child agents, sorted."""
        found = (path.stem for path in self._store.folder.glob("*.jsonl"))
        return sorted(each for each in found if SESSION_ID.fullmatch(each))

    def first_prompts(self, session_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the first line of each session's first prompt, if it is near the start of the record. Blocks."""
        found = ((each, _first_prompt(self._store.path_of(each))) for each in session_ids)
        return {session_id: prompt for session_id, prompt in found if prompt}

    async def add(self, session_id: str, event: TitleChanged | ArchiveChanged) -> None:
        """Append an event to the session's record and update the list.

        Raises SessionNotFound, Busy while a process has the session open, or StorageError.
        """
        self.path(session_id)
        if is_child(session_id):
            raise read_only(session_id)
        await self._append(session_id, event)
        await self._store.amend(session_id)

    async def _append(self, session_id: str, event: TitleChanged | ArchiveChanged) -> None:
        transcript, events, _ = await anyio.to_thread.run_sync(self._store.sharing.reopen, session_id)
        try:
            if _is_news(event, fold_events(events)):
                transcript.append(event)
                await transcript.settle()
        finally:
            transcript.close()


def _is_news(event: TitleChanged | ArchiveChanged, record: Record) -> bool:
    if isinstance(event, TitleChanged):
        return event.title != record.title
    return event.is_archived != record.is_archived


def _not_found(session_id: str) -> SessionNotFound:
    return SessionNotFound(
        f"There is no session {session_id[:80]!r}.",
        session_id=session_id,
        hint="List the sessions to see which exist.",
    )


def _first_prompt(path: Path) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(MAX_HEAD_BYTES)
    except OSError:
        return ""
    prompts = (event for event, _ in decode_lines(head) if isinstance(event, UserSaid))
    prompt = next(prompts, None)
    return title_of(words_in(prompt.parts)) if prompt else ""
