"""Operations on whole sessions, whether open in this process or only stored."""

import os
from collections.abc import Mapping, Sequence
from typing import Literal

import anyio.to_thread
from msgspec import structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import (
    ArchiveChanged,
    CompactionStarted,
    Event,
    InstructionsGiven,
    PermissionAnswered,
    PromptFrozen,
    RootsChanged,
    SessionOpened,
    SummarySaid,
    TitleChanged,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.record.session_record import fold_events
from hermes_acp.sessions.session import Session
from hermes_acp.sessions.session_creation import CreatedSession, SessionCreator
from hermes_acp.sessions.session_manager import OpenWorkspace, SessionManager
from hermes_acp.sessions.stored_sessions import StoredSessions
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.transcript import Transcript


class SessionAdmin:
    """Operations on the sessions of one home folder."""

    def __init__(self, store: SessionStore, sessions: SessionManager, creator: SessionCreator) -> None:
        self._stored = StoredSessions(store)
        self._sessions = sessions
        self._creator = creator

    def status(self, session_id: str) -> Literal["open", "saved"]:
        """Return the status of a session, such as whether it is open in this process. Raises SessionNotFound."""
        if self._sessions.get(session_id):
            return "open"
        self._stored.path(session_id)
        return "saved"

    async def first_prompts(self, session_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the first line of each session's first prompt; those without one are left out."""
        return await anyio.to_thread.run_sync(self._stored.first_prompts, session_ids)

    async def rename(self, session_id: str, title: str) -> None:
        """Set a session's title permanently. Raises SessionNotFound, Busy or StorageError."""
        if session := self._sessions.get(session_id):
            await self._tell(session, TitleChanged(title))
        else:
            await self._add(session_id, TitleChanged(title))

    async def archive(self, session_id: str) -> None:
        """Close a session and remove it from the default lists. Raises SessionNotFound, Busy or StorageError."""
        self._stored.path(session_id)
        await self._sessions.close(session_id)
        await self._add(session_id, ArchiveChanged(is_archived=True))

    async def unarchive(self, session_id: str) -> None:
        """Restore a session to the default lists. Raises SessionNotFound, Busy or StorageError."""
        if session := self._sessions.get(session_id):
            await self._tell(session, ArchiveChanged(is_archived=False))
        else:
            await self._add(session_id, ArchiveChanged(is_archived=False))

    async def fork(
        self,
        session_id: str,
        cwd: str,
        more_roots: Sequence[str],
        open_workspace: OpenWorkspace,
        instructions: InstructionsGiven | None = None,
        *,
        before: str = "",
    ) -> Session:
        """Create a session with the history of another. Raises SessionNotFound, BadRequest or StorageError.

        The original does not change. If `before` is the ID of a prompt, the history ends before that prompt's turn; any
        other ID raises BadRequest.

        A running or unfinished turn of the original is left out, and so are standing answers, which apply only to the
        original. Without `instructions`, those of the original are kept.
        """
        path = self._stored.path(session_id)

        def begin() -> CreatedSession:
            events = Transcript.read_events(path)
            events = events_before(events, before) if before else events
            past = inherited_events(events, os.path.normpath(cwd), instructions)
            return self._creator.begin_with_history(past, cwd, more_roots)

        return self._sessions.adopt(await anyio.to_thread.run_sync(begin), open_workspace)

    async def _tell(self, session: Session, event: TitleChanged | ArchiveChanged) -> None:
        session.ledger.emit(event)
        await session.ledger.settle()
        self._sessions.listing.note(session.record)
        await self._sessions.listing.settle()

    async def _add(self, session_id: str, event: TitleChanged | ArchiveChanged) -> None:
        self._stored.path(session_id)
        await self._sessions.listing.settle()
        await self._stored.add(session_id, event)


def events_before(events: Sequence[Event], message_id: str) -> Sequence[Event]:
    """Return the events before the turn that the prompt belongs to. Raises BadRequest if there is no such prompt."""
    began = 0
    for number, event in enumerate(events):
        if isinstance(event, TurnStarted):
            began = number
        elif isinstance(event, UserSaid) and event.message_id == message_id:
            return events[:began]
    raise BadRequest(
        f"This session has no prompt with the ID {message_id!r}.",
        hint="Load the session to see its prompts and their IDs.",
    )


def inherited_events(
    events: Sequence[Event], cwd: str, instructions: InstructionsGiven | None
) -> tuple[Event, ...]:
    """Return the events that a fork inherits; freeze the system prompt anew if the fork's folder changes it."""
    source = fold_events(events)
    if source.open_turn:
        last = max(number for number, event in enumerate(events) if isinstance(event, TurnStarted))
        events = events[:last]
    differs = instructions is not None and instructions != source.instructions
    keeps_prompt = cwd == source.cwd and not differs
    taken: list[Event] = [instructions] if instructions and differs else []
    for event in events:
        match event:
            case SessionOpened() | RootsChanged() | ArchiveChanged() | CompactionStarted() | SummarySaid():
                continue
            case InstructionsGiven() if differs:
                continue
            case PromptFrozen() if not keeps_prompt:
                continue
            case PermissionAnswered():
                taken.append(structs.replace(event, grants=()))
            case _:
                taken.append(event)
    return tuple(taken)
