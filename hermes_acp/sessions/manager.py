"""The sessions of one process.

Knows: which are open, how one is begun, found again and let go. Does not know: who asks, or what a turn does.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import anyio.to_thread
from msgspec import Struct

from hermes_acp.core.errors import Busy, StorageTrouble
from hermes_acp.core.events import Event, Noticed, RootsChanged, TitleChanged, TurnEnded
from hermes_acp.core.ports import Workspace
from hermes_acp.core.record import Record
from hermes_acp.sessions.beginning import Beginning, Founder, checked_roots
from hermes_acp.sessions.children import close_child, lawful_ends, read_only
from hermes_acp.sessions.session import Means, Session
from hermes_acp.storage.sessions import SESSION_ID, ArchiveFilter, SessionRow, SessionStore, is_child
from hermes_acp.storage.transcript import Transcript

OpenWorkspace = Callable[[str, str, tuple[str, ...]], Workspace]
Watch = Callable[[Session], None]


class Past(Struct, frozen=True):
    """A stored session's events, and those that opening it had to add, in order."""

    events: list[Event]
    news: list[Event] = []


async def _past_of(session: Session, path: Path, watch: Watch | None) -> Past:
    """Read what an open session has recorded by now, and let `watch` begin exactly there."""
    recorded_bytes = path.stat().st_size
    if watch:
        watch(session)
    return Past(await anyio.to_thread.run_sync(Transcript.read_events, path, recorded_bytes))


def _note_roots(session: Session, more_roots: Sequence[str] | None) -> None:
    if more_roots is None:
        return
    record = session.record
    more = tuple(root for root in dict.fromkeys(more_roots) if root != record.cwd)
    if more != record.roots[1:]:
        _note(session, RootsChanged(more))


def _note(session: Session, event: Event) -> None:
    """Record an event and show it; where nothing can be recorded it only counts while the session is open."""
    if session.trouble:
        session.record.apply(event)
    else:
        session.ledger.emit(event)


class _Listed:
    """The audience that lets the list of sessions follow one of them."""

    def __init__(self, manager: "SessionManager", session: Session) -> None:
        self._manager = manager
        self._session = session

    def show(self, event: Event) -> None:
        """Notice what a list shows: the title, the folders, and that something happened."""
        if isinstance(event, TitleChanged | RootsChanged | TurnEnded):
            self._manager.index_soon(self._session)

    async def drained(self) -> None:
        """Keep up: noticing is done at once."""


class SessionManager:
    """Begins, loads, lists and closes sessions."""

    def __init__(self, store: SessionStore, means: Means) -> None:
        self._store = store
        self._means = means
        self._founder = Founder(store, means.clock, means.ids)
        self._open: dict[str, Session] = {}
        self._loading: set[str] = set()
        self._changed: dict[str, Session] = {}
        self._unread: set[str] = set()
        self._has_changes = anyio.Event()
        self._indexing = anyio.Lock()

    async def create(
        self,
        cwd: str,
        more_roots: Sequence[str],
        open_workspace: OpenWorkspace,
        session_id: str | None = None,
    ) -> Session:
        """Begin a session in a working directory, under a fresh id unless one is given.

        Raises BadRequest for a directory that cannot serve, StorageTrouble.
        """
        begun = await anyio.to_thread.run_sync(self._founder.begin, cwd, more_roots, session_id)
        return self.adopt(begun, open_workspace)

    def adopt(self, begun: Beginning, open_workspace: OpenWorkspace) -> Session:
        """Bring a session to life that was begun before."""
        record = begun.record
        workspace = open_workspace(record.session_id, record.cwd, record.roots)
        session = Session(begun.transcript, record, workspace, self._means)
        if not begun.has_past:
            session.set_mode(self._means.default_mode())
        session.ledger.admit(_Listed(self, session))
        self._open[session.id] = session
        self.index_soon(session)
        return session

    def announce_options(self) -> None:
        """Show every session's options again: what they can be chosen from has changed."""
        for session in self._open.values():
            session.announce_options()

    def announce_commands(self) -> None:
        """Show every session's slash commands again, where they have changed."""
        for session in self._open.values():
            session.commands.announce()

    def is_stored(self, session_id: str) -> bool:
        """Tell whether a session of this id can be loaded."""
        return bool(SESSION_ID.fullmatch(session_id)) and self._store.path_of(session_id).is_file()

    def get(self, session_id: str) -> Session | None:
        """Give an open session."""
        return self._open.get(session_id)

    async def load(
        self,
        session_id: str,
        cwd: str | None,
        open_workspace: OpenWorkspace,
        more_roots: Sequence[str] | None = None,
        watch: Watch | None = None,
    ) -> tuple[Session, Past]:
        """Open a stored session and give it with its past.

        `cwd` and `more_roots` are the folders its editor has it in now; None keeps the recorded ones. A session that is
        open already stays in its working directory; one that became read-only is opened anew; what a killed process
        left open is closed. `watch` is called where the past ends: what happens from then on is no part of it, and
        nothing is missed by who begins to watch there.
        Raises NotFound, Busy, BadRequest, StorageTrouble.
        """
        if (session := self._open.get(session_id)) and session.is_stuck:
            await self.close(session_id)  # what stood in the way may be gone by now
        if session := self._open.get(session_id):
            await self._move(session, more_roots, open_workspace)
            if self._open.get(session_id) is session:
                return session, await _past_of(session, self._store.path_of(session_id), watch)
        path = self._store.path_of(session_id)
        if session_id in self._loading:
            raise Busy(f"Session {session_id!r} is being opened already.")
        self._loading.add(session_id)
        try:
            if is_child(session_id):
                await anyio.to_thread.run_sync(close_child, path)
            transcript, events, _ = await anyio.to_thread.run_sync(Transcript.reopen, path)
            if is_child(session_id):
                transcript.seal(read_only(session_id))
            try:
                session = await self._revive(transcript, events, cwd, open_workspace, more_roots)
                news = await anyio.to_thread.run_sync(lawful_ends, session.record, path)
            except BaseException:
                transcript.close()
                raise
        finally:
            self._loading.discard(session_id)
        news += [Noticed("warning", end.sentence) for end in news if isinstance(end, TurnEnded)]
        if trouble := session.trouble:
            news.append(Noticed("warning", trouble.sentence()))
        elif transcript.damage:
            news.append(Noticed("warning", transcript.damage))
        for event in news:
            _note(session, event)
        session.ledger.admit(_Listed(self, session))
        _note_roots(session, more_roots)
        if watch:
            watch(session)
        self._open[session_id] = session
        return session, Past(events, news)

    async def _revive(
        self,
        transcript: Transcript,
        events: Sequence[Event],
        cwd: str | None,
        open_workspace: OpenWorkspace,
        more_roots: Sequence[str] | None,
    ) -> Session:
        record = await anyio.to_thread.run_sync(_fold, events)
        place = record.cwd if cwd is None else cwd
        more = record.roots[1:] if more_roots is None else more_roots
        roots = await anyio.to_thread.run_sync(checked_roots, place, more)
        return Session(transcript, record, open_workspace(record.session_id, place, roots), self._means)

    async def _move(
        self, session: Session, more_roots: Sequence[str] | None, open_workspace: OpenWorkspace
    ) -> None:
        """Let an open session work in further folders than before, or in fewer, from its next turn on."""
        record = session.record
        if more_roots is None or tuple(more_roots) == record.roots[1:]:
            return
        roots = await anyio.to_thread.run_sync(checked_roots, record.cwd, more_roots)
        if self._open.get(session.id) is session:
            session.move(open_workspace(session.id, record.cwd, roots))
            _note_roots(session, more_roots)

    def index_soon(self, session: Session) -> None:
        """Let the list of sessions follow a change, in the background."""
        self._changed[session.id] = session
        if session.record.title:
            self._unread.add(session.id)
        self._has_changes.set()

    async def keep_index(self) -> None:
        """Bring the list up to date whenever something changed; runs beside everything else."""
        while True:
            await self._has_changes.wait()
            self._has_changes = anyio.Event()
            await self._try_to_index()
            while self._unread:
                await self._store.follow_words(self._unread.pop())

    async def _try_to_index(self) -> None:
        """Index if that can be done: a list that cannot be kept stops no conversation; the change is tried again."""
        try:
            await self.settle_index()
        except StorageTrouble:
            return

    async def settle_index(self) -> None:
        """Write down every change so far; who comes second waits. Raises StorageTrouble, with the change kept."""
        async with self._indexing:
            while self._changed:
                session = self._changed.pop(next(iter(self._changed)))
                record = session.record
                now = self._means.clock.now()
                row = SessionRow(
                    record.session_id,
                    record.cwd,
                    record.title,
                    record.created_at,
                    now,
                    is_archived=record.is_archived,
                    more_roots=record.roots[1:],
                )
                try:
                    await self._store.put(row)
                except BaseException:
                    self._changed.setdefault(session.id, session)
                    raise

    async def page(
        self, cwd: str | None, after: tuple[float, str] | None, archived: ArchiveFilter = "exclude"
    ) -> list[SessionRow]:
        """List stored sessions, newest first; what cannot be written now is listed later. Raises StorageTrouble."""
        await self._try_to_index()
        return await self._store.page(cwd, after, archived)

    async def close(self, session_id: str) -> None:
        """Let one session go; it can be loaded again."""
        if session := self._open.pop(session_id, None):
            await session.close()

    async def delete(self, session_id: str) -> None:
        """Remove a session for good, open here or not; an unknown one is no mistake. Raises Busy, StorageTrouble."""
        await self.close(session_id)
        async with self._indexing:
            self._changed.pop(session_id, None)
            await self._store.delete(session_id)

    async def close_all(self) -> None:
        """Let every session go, and the store."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._store.close_words)
            await self._close_sessions()
            await self._try_to_index()
            await self._store.aclose()

    async def _close_sessions(self) -> None:
        async with anyio.create_task_group() as tasks:
            for session_id in tuple(self._open):
                tasks.start_soon(self.close, session_id)


def _fold(events: Sequence[Event]) -> Record:
    record = Record()
    for event in events:
        record.apply(event)
    return record
