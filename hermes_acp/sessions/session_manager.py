"""Create, load, list and close the sessions of one process."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from msgspec import Struct

from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.core.event_types import Surface
from hermes_acp.core.events import (
    Event,
    ModeChanged,
    Noticed,
    OptionsChanged,
    RootsChanged,
    SessionOpened,
    TurnEnded,
)
from hermes_acp.core.ports.runtime_ports import Clock, StartTask
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.record.session_record import fold_events
from hermes_acp.sessions.child_sessions import close_child, events_to_close, read_only
from hermes_acp.sessions.clients.followed_sessions import FollowedSessions
from hermes_acp.sessions.session import Session
from hermes_acp.sessions.session_creation import CreatedSession, SessionCreator
from hermes_acp.sessions.session_listing import ListingAudience, SessionListing
from hermes_acp.sessions.session_services import SessionServices
from hermes_acp.storage.session_rows import SessionRow
from hermes_acp.storage.session_store import SESSION_ID, ArchiveFilter, SessionStore, is_child
from hermes_acp.storage.transcript import Transcript

OpenWorkspace = Callable[[str, str, tuple[str, ...]], Workspace]
OnOpened = Callable[[Session], None]


class SessionHistory(Struct, frozen=True):
    """A stored session's events, and those that were added when it was opened."""

    events: list[Event]
    news: list[Event] = []


async def _past_of(session: Session, path: Path, watch: OnOpened | None) -> SessionHistory:
    """Read the events that an open session has recorded so far; call `watch` exactly where they end."""
    recorded_bytes = path.stat().st_size
    if watch:
        watch(session)
    return SessionHistory(await anyio.to_thread.run_sync(Transcript.read_events, path, recorded_bytes))


def _lacks_mode(events: Sequence[Event]) -> bool:
    """Return whether the session's process was killed right after creating the session, before recording a mode."""
    return len(events) == 1 and isinstance(events[0], SessionOpened)


def _note_roots(session: Session, more_roots: Sequence[str] | None) -> None:
    if more_roots is None:
        return
    record = session.record
    more = tuple(root for root in dict.fromkeys(more_roots) if root != record.cwd)
    if more != record.roots[1:]:
        _note(session, RootsChanged(more))


def _note(session: Session, event: Event) -> None:
    """Record and show an event. If it cannot be recorded, it applies only while the session is open."""
    try:
        session.ledger.emit(event)
    except StorageError:
        session.record.apply(event)


def _troubles(session: Session, transcript: Transcript) -> list[Event]:
    """Record a notice about any problem with an opened session's record, and return the notice."""
    told = transcript.trouble.sentence() if transcript.trouble else transcript.damage
    if not told:
        return []
    notice = Noticed("warning", told)
    _note(session, notice)
    return [notice]


class SessionManager:
    """Create, load, list and close sessions."""

    def __init__(
        self,
        store: SessionStore,
        services: SessionServices,
        clock: Clock,
        creator: SessionCreator,
        start: StartTask,
    ) -> None:
        """Initialise without open sessions; `start` runs work in the background."""
        self._store = store
        self._followed = FollowedSessions(store, start)
        self._services = services
        self._creator = creator
        self._open: dict[str, Session] = {}
        self._moving: dict[str, anyio.Event] = {}
        """The sessions that are being opened or closed; each event is set once that is done."""
        self.continued: Collection[str] = ()
        """The sessions whose turns this process continues after an earlier one ended: their questions stay open."""
        self.begun_children: Collection[str] = ()
        """The sessions of child agents that this process continues; all others can only be read."""
        self.listing = SessionListing(store, clock)

    async def create(
        self,
        cwd: str,
        more_roots: Sequence[str],
        open_workspace: OpenWorkspace,
        session_id: str | None = None,
        surface: Surface = "",
    ) -> Session:
        """Create a session in a working directory, under a new ID unless one is given.

        A session that cannot be opened is removed. Raises BadRequest for an unusable directory, ConfigError, and
        StorageError.
        """
        self._refuse_too_many()
        begun = await anyio.to_thread.run_sync(self._creator.begin, cwd, more_roots, session_id, surface)
        try:
            return self.adopt(begun, open_workspace)
        except BaseException:
            with suppress(OSError):
                begun.transcript.path.unlink()
            raise

    def adopt(self, begun: CreatedSession, open_workspace: OpenWorkspace) -> Session:
        """Open a session that was just created; if that fails, release it. Raises BadRequest or ConfigError."""
        record = begun.record
        try:
            self._refuse_too_many()
            self._store.sharing.share(begun.transcript)
            workspace = open_workspace(record.session_id, record.cwd, record.roots)
            session = Session(begun.transcript, record, workspace, self._services)
            if not begun.has_past:
                session.set_mode(self._services.configuration.default_mode())
        except BaseException:
            begun.transcript.close()
            raise
        session.ledger.admit(ListingAudience(self.listing, session.record))
        self._open[session.id] = session
        self.listing.enter(record)
        return session

    def announce_options(self) -> None:
        """Show every session's options again, because the choices have changed."""
        for session in self._open.values():
            session.ledger.show(OptionsChanged(session.record.options))

    def announce_commands(self) -> None:
        """Show every session's slash commands again if they have changed."""
        for session in self._open.values():
            session.commands.announce()

    async def is_stored(self, session_id: str) -> bool:
        """Return whether a session with this ID can be loaded. Raises StorageError."""
        if not SESSION_ID.fullmatch(session_id):
            return False
        return (await self._store.sharing.fetch(session_id)).is_file()

    async def record_of(self, session_id: str) -> Path | None:
        """Return the path of a stored session's record, or None for an unknown ID. Raises StorageError."""
        return self._store.path_of(session_id) if await self.is_stored(session_id) else None

    @property
    def opened(self) -> tuple[Session, ...]:
        """The sessions that are open."""
        return tuple(self._open.values())

    def get(self, session_id: str) -> Session | None:
        """Return the session if it is open, else None."""
        return self._open.get(session_id)

    async def load(
        self,
        session_id: str,
        cwd: str | None,
        open_workspace: OpenWorkspace,
        more_roots: Sequence[str] | None = None,
        watch: OnOpened | None = None,
        *,
        keeps_questions: bool = False,
        may_follow: bool = False,
    ) -> tuple[Session, SessionHistory]:
        """Open a stored session and return it with its history.

        `cwd` and `more_roots` are the folders its editor uses now; None keeps the recorded ones. A session that is
        already open keeps its working directory; one that became read-only is reopened. Whatever a killed process left
        open is closed, except for a turn that waits for its user if `keeps_questions` is set. `watch` is called exactly
        where the history ends, so a watcher that starts there misses nothing and sees nothing twice. With `may_follow`,
        follow a session of another machine. Raises SessionNotFound, Busy, BadRequest, ConfigError or StorageError.
        """
        if (session := self._open.get(session_id)) and session.is_stuck and session_id not in self._followed:
            await self.close(session_id)  # the problem may have been solved by now
        while is_settled := self._moving.get(session_id):
            await is_settled.wait()
        if session := self._open.get(session_id):
            await self._move(session, more_roots, open_workspace)
            if self._open.get(session_id) is session:
                return session, await _past_of(session, self._store.path_of(session_id), watch)
        self._refuse_too_many()
        path = self._store.path_of(session_id)
        self._moving[session_id] = anyio.Event()
        try:
            if self._is_finished_child(session_id):
                await anyio.to_thread.run_sync(close_child, path)
            await self._store.sharing.fetch(session_id)
            transcript, events, _ = await anyio.to_thread.run_sync(
                partial(self._store.sharing.reopen, session_id, may_follow=may_follow)
            )
            if self._is_finished_child(session_id):
                transcript.seal(read_only(session_id))
            try:
                session, ends = await self._revive(
                    transcript, events, cwd, open_workspace, more_roots, keeps_questions=keeps_questions
                )
            except BaseException:
                transcript.close()
                raise
        finally:
            self._moving.pop(session_id).set()
        news = [*ends, *(Noticed("warning", end.sentence) for end in ends if isinstance(end, TurnEnded))]
        for event in news:
            _note(session, event)
        news += _troubles(session, transcript)
        session.ledger.admit(ListingAudience(self.listing, session.record))
        _note_roots(session, more_roots)
        if watch:
            watch(session)
        self._open[session_id] = session
        if transcript.is_followed:
            self._followed.follow(session)
        return session, SessionHistory(events, news)

    def _is_finished_child(self, session_id: str) -> bool:
        return is_child(session_id) and session_id not in self.begun_children

    def _refuse_too_many(self) -> None:
        """Raise BadRequest if the quota does not allow another open session."""
        if refusal := self._services.quota.refuse_session(len(self._open)):
            raise BadRequest(refusal)

    async def _revive(
        self,
        transcript: Transcript,
        events: Sequence[Event],
        cwd: str | None,
        open_workspace: OpenWorkspace,
        more_roots: Sequence[str] | None,
        *,
        keeps_questions: bool,
    ) -> tuple[Session, list[Event]]:
        """Open a stored session and return the events that its record lacks. Nothing can fail once it is open."""
        configuration = self._services.configuration
        record = await anyio.to_thread.run_sync(fold_events, events)
        place = record.cwd if cwd is None else cwd
        more = record.roots[1:] if more_roots is None else more_roots
        roots = await anyio.to_thread.run_sync(self._creator.checked_roots, place, more)
        keeps_questions = keeps_questions or record.session_id in self.continued
        close = partial(events_to_close, keeps_questions=keeps_questions)
        ends: list[Event] = []
        if not transcript.is_followed:
            ends = await anyio.to_thread.run_sync(close, record, transcript.path)
        if _lacks_mode(events):
            await configuration.read_settings()
            if (mode := configuration.default_mode()) != record.mode:
                ends.append(ModeChanged(mode))
        workspace = open_workspace(record.session_id, place, roots)
        return Session(transcript, record, workspace, self._services), ends

    async def _move(
        self, session: Session, more_roots: Sequence[str] | None, open_workspace: OpenWorkspace
    ) -> None:
        """Change an open session's additional folders from its next turn on."""
        record = session.record
        if more_roots is None or tuple(more_roots) == record.roots[1:]:
            return
        roots = await anyio.to_thread.run_sync(self._creator.checked_roots, record.cwd, more_roots)
        if self._open.get(session.id) is session:
            session.move(open_workspace(session.id, record.cwd, roots))
            _note_roots(session, more_roots)

    async def page(
        self, cwd: str | None, after: tuple[float, str] | None, archived: ArchiveFilter = "exclude"
    ) -> list[SessionRow]:
        """Return a page of stored sessions, newest first; unwritten changes appear later. Raises StorageError."""
        await self.listing.try_to_settle()
        await self._store.sharing.fetch_changed()
        return await self._store.page(cwd, after, archived)

    async def close(self, session_id: str, *, keeps_questions: bool = False) -> None:
        """Close one session. With `keeps_questions`, its open questions are asked again once it is loaded again."""
        if session := self._open.pop(session_id, None):
            is_closed = self._moving[session_id] = anyio.Event()
            try:
                await self._followed.leave(session_id)
                await session.close(keeps_questions=keeps_questions)
            finally:
                del self._moving[session_id]
                is_closed.set()

    async def delete(self, session_id: str) -> None:
        """Delete a session permanently, open here or not; ignore an unknown one. Raises Busy or StorageError."""
        await self.close(session_id)
        await self.listing.delete(session_id)

    async def close_all(self) -> None:
        """Close every session and the store."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._store.close_words)
            await self._close_sessions()
            await self.listing.try_to_settle()
            await self._store.aclose()

    async def _close_sessions(self) -> None:
        async with anyio.create_task_group() as tasks:
            for session_id in tuple(self._open):
                tasks.start_soon(self.close, session_id)
