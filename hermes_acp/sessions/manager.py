"""The sessions of one process.

Knows: which are open, how one is begun, found again and let go. Does not know: who asks, or what a turn does.
"""

from collections.abc import Callable, Sequence

import anyio
import anyio.to_thread
from msgspec import Struct, structs

from hermes_acp.core.errors import Busy, StorageTrouble
from hermes_acp.core.events import Event, Noticed, TitleChanged, TurnEnded
from hermes_acp.core.ports import Workspace
from hermes_acp.core.record import Record
from hermes_acp.sessions.beginning import Beginning, Founder, checked_roots
from hermes_acp.sessions.session import Means, Session
from hermes_acp.storage.sessions import ArchiveFilter, SessionRow, SessionStore
from hermes_acp.storage.transcript import Transcript

OpenWorkspace = Callable[[str, str, tuple[str, ...]], Workspace]


class Past(Struct, frozen=True):
    """A stored session's events, and those that opening it had to add, in order."""

    events: list[Event]
    news: list[Event] = []


class _Listed:
    """The audience that lets the list of sessions follow one of them."""

    def __init__(self, manager: "SessionManager", session: Session) -> None:
        self._manager = manager
        self._session = session

    def show(self, event: Event) -> None:
        """Notice what a list shows: the title, and that something happened."""
        if isinstance(event, TitleChanged | TurnEnded):
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
            session.begin_in_default_mode()
        session.ledger.admit(_Listed(self, session))
        self._open[session.id] = session
        self.index_soon(session)
        return session

    def announce_options(self) -> None:
        """Show every session's options again: what they can be chosen from has changed."""
        for session in self._open.values():
            session.announce_options()

    def is_stored(self, session_id: str) -> bool:
        """Tell whether a session of this id can be loaded."""
        return self._store.path_of(session_id).is_file()

    def get(self, session_id: str) -> Session | None:
        """Give an open session."""
        return self._open.get(session_id)

    async def load(
        self, session_id: str, cwd: str | None, open_workspace: OpenWorkspace
    ) -> tuple[Session, Past]:
        """Open a stored session and give it with its past.

        `cwd` is where the editor has it now; None keeps the recorded one. Raises NotFound, Busy, BadRequest,
        StorageTrouble. A session that is open already is given as it is; what a killed process left open is closed.
        """
        if session := self._open.get(session_id):
            return session, Past(
                await anyio.to_thread.run_sync(Transcript.read_events, session.transcript_path)
            )
        path = self._store.path_of(session_id)
        if session_id in self._loading:
            raise Busy(f"Session {session_id!r} is being opened already.")
        self._loading.add(session_id)
        try:
            transcript, events, torn_bytes = await anyio.to_thread.run_sync(Transcript.reopen, path)
            try:
                session = await self._revive(transcript, events, cwd, open_workspace)
            except BaseException:
                transcript.close()
                raise
        finally:
            self._loading.discard(session_id)
        news: list[Event] = session.record.loose_ends()
        news += [Noticed("warning", end.sentence) for end in news if isinstance(end, TurnEnded)]
        if torn_bytes:
            news.append(
                Noticed(
                    "warning", f"The last {torn_bytes} bytes of the record were torn; they are kept aside."
                )
            )
        for event in news:
            session.ledger.emit(event)
        session.ledger.admit(_Listed(self, session))
        self._open[session_id] = session
        return session, Past(events, news)

    async def _revive(
        self, transcript: Transcript, events: Sequence[Event], cwd: str | None, open_workspace: OpenWorkspace
    ) -> Session:
        record = Record()
        for event in events:
            record.apply(event)
        place = record.cwd if cwd is None else cwd
        roots = await anyio.to_thread.run_sync(checked_roots, place, record.roots[1:])
        return Session(transcript, record, open_workspace(record.session_id, place, roots), self._means)

    def index_soon(self, session: Session) -> None:
        """Let the list of sessions follow a change, in the background."""
        self._changed[session.id] = session
        self._has_changes.set()

    async def keep_index(self) -> None:
        """Bring the list up to date whenever something changed; runs beside everything else."""
        while True:
            await self._has_changes.wait()
            self._has_changes = anyio.Event()
            await self._try_to_index()

    async def _try_to_index(self) -> None:
        """Index if that can be done: a list that cannot be kept stops no conversation, whoever asks for it is told."""
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
                row = SessionRow(record.session_id, record.cwd, record.title, record.created_at, now)
                try:
                    await self._store.put(structs.replace(row, is_archived=record.is_archived))
                except BaseException:
                    self._changed.setdefault(session.id, session)
                    raise

    async def page(
        self, cwd: str | None, after: tuple[float, str] | None, archived: ArchiveFilter = "exclude"
    ) -> list[SessionRow]:
        """List stored sessions, newest first."""
        await self.settle_index()
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
            for session_id in tuple(self._open):
                tasks.start_soon(self.close, session_id)
        await self._try_to_index()
        self._store.close()
