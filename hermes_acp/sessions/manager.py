"""The sessions of one process.

Knows: which are open, how one is begun, found again and let go. Does not know: who asks, or what a turn does.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from hermes_acp.core.errors import BadRequest, Busy
from hermes_acp.core.events import Event, Mode, ModeChanged, Noticed, SessionOpened
from hermes_acp.core.ports import Workspace
from hermes_acp.core.record import Record
from hermes_acp.sessions.session import Means, Session
from hermes_acp.storage.sessions import SessionRow, SessionStore
from hermes_acp.storage.transcript import Transcript

OpenWorkspace = Callable[[str, str, tuple[str, ...]], Workspace]


class SessionManager:
    """Begins, loads, lists and closes sessions."""

    def __init__(self, store: SessionStore, means: Means) -> None:
        self._store = store
        self._means = means
        self._open: dict[str, Session] = {}
        self._loading: set[str] = set()
        self._changed: dict[str, Session] = {}
        self._has_changes = anyio.Event()

    async def create(
        self,
        cwd: str,
        more_roots: Sequence[str],
        open_workspace: OpenWorkspace,
        mode: Mode,
        session_id: str | None = None,
    ) -> Session:
        """Begin a session in a working directory, under a fresh id unless one is given.

        Raises BadRequest for a directory that cannot serve, StorageTrouble.
        """
        roots = await anyio.to_thread.run_sync(_checked_roots, cwd, tuple(more_roots))
        session_id = session_id or self._means.ids.fresh("ses")
        transcript = self._store.create(session_id)
        session = Session(transcript, Record(), open_workspace(session_id, cwd, roots), self._means)
        session.ledger.emit(SessionOpened(session_id, cwd, roots, self._means.clock.now()))
        if mode != "ask":
            session.ledger.emit(ModeChanged(mode))
        self._open[session_id] = session
        return session

    def is_stored(self, session_id: str) -> bool:
        """Tell whether a session of this id can be loaded."""
        return self._store.path_of(session_id).is_file()

    def get(self, session_id: str) -> Session | None:
        """Give an open session."""
        return self._open.get(session_id)

    async def load(
        self, session_id: str, cwd: str | None, open_workspace: OpenWorkspace
    ) -> tuple[Session, list[Event]]:
        """Open a stored session and give it with its events so far.

        `cwd` is where the editor has it now; None keeps the recorded one. Raises NotFound, Busy, BadRequest,
        StorageTrouble. A session that is open already is given as it is; what a killed process left open is closed.
        """
        if session := self._open.get(session_id):
            return session, (await anyio.to_thread.run_sync(Transcript.read_events, session.transcript_path))
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
        if torn_bytes:
            news.append(Noticed("warning", f"The last {torn_bytes} bytes of the record were torn; they are kept aside."))
        for event in news:
            session.ledger.emit(event)
        self._open[session_id] = session
        return session, [*events, *news]

    async def _revive(
        self, transcript: Transcript, events: Sequence[Event], cwd: str | None, open_workspace: OpenWorkspace
    ) -> Session:
        record = Record()
        for event in events:
            record.apply(event)
        place = cwd or record.cwd
        roots = await anyio.to_thread.run_sync(_checked_roots, place, record.roots[1:])
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
            await self._index()

    async def _index(self) -> None:
        changed, self._changed = self._changed, {}
        for session in changed.values():
            record = session.record
            now = self._means.clock.now()
            row = SessionRow(record.session_id, record.cwd, record.title, record.created_at, now)
            await self._store.put(row)

    async def page(self, cwd: str | None, after: tuple[float, str] | None) -> list[SessionRow]:
        """List stored sessions, newest first."""
        await self._index()
        return await self._store.page(cwd, after)

    async def close(self, session_id: str) -> None:
        """Let one session go; it can be loaded again."""
        if session := self._open.pop(session_id, None):
            await session.close()

    async def close_all(self) -> None:
        """Let every session go, and the store."""
        async with anyio.create_task_group() as tasks:
            for session_id in tuple(self._open):
                tasks.start_soon(self.close, session_id)
        await self._index()
        self._store.close()


def _checked_roots(cwd: str, more_roots: tuple[str, ...]) -> tuple[str, ...]:
    for path in (cwd, *more_roots):
        if "\0" in path or not Path(path).is_absolute():
            raise BadRequest(f"{path!r} is not an absolute path.", hint="Give the whole path of the folder.")
        try:
            is_folder = Path(path).is_dir()
        except (OSError, ValueError) as error:
            raise BadRequest(f"{path!r} cannot be used: {error}.") from error
        if not is_folder:
            there = "is not a folder" if Path(path).exists() else "does not exist"
            raise BadRequest(f"{path!r} {there}.", hint="Open an existing folder.")
    return tuple(dict.fromkeys((cwd, *more_roots)))
