"""The stored sessions: transcripts on disk, and an index for listing them fast.

The transcripts are authoritative: a missing or damaged index is rebuilt from them, and an index that cannot be
written is held in memory.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from msgspec import structs

from hermes_acp.core.errors import SessionNotFound, StorageError
from hermes_acp.storage.private_files import remove_folder
from hermes_acp.storage.search.database import Database, DatabaseDamaged
from hermes_acp.storage.session_rows import SessionRow, SessionUsage, row_of
from hermes_acp.storage.shared_sessions import SharedSessions
from hermes_acp.storage.transcript import Transcript
from hermes_acp.storage.unlisted_records import UnlistedRecords

if TYPE_CHECKING:
    import sqlite3

    from hermes_acp.core.ports.record_ports import SharedRecords
    from hermes_acp.storage.search.search_index import SearchIndex

T = TypeVar("T")
SESSION_ID = re.compile(r"([A-Za-z0-9_-]{1,128})(\.[A-Za-z0-9_-]{1,64})?")
"""A child agent's ID is its session's ID, a dot, and a name."""
PAGE = 50
MIGRATIONS = (
    """CREATE TABLE sessions (
        id TEXT PRIMARY KEY, cwd TEXT NOT NULL, title TEXT NOT NULL,
        created_at REAL NOT NULL, updated_at REAL NOT NULL
    ) STRICT""",
    "CREATE INDEX sessions_by_time ON sessions (updated_at DESC, id)",
    "ALTER TABLE sessions ADD COLUMN is_archived INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE sessions ADD COLUMN more_roots TEXT",  # a JSON array; null if the record was not read
    # `usage` is a JSON object, or null if the record was not read for it.
    "ALTER TABLE sessions ADD COLUMN usage TEXT;\nCREATE INDEX sessions_by_title ON sessions (cwd, title);",
    # Records without a prompt, and the folder of records, with the modification time (ns) at which they were checked.
    "CREATE TABLE looked_at (name TEXT PRIMARY KEY, changed_ns INTEGER NOT NULL) STRICT",
)
ArchiveFilter = Literal["exclude", "include", "only"]


class SessionStore:
    """All sessions of a home folder."""

    def __init__(
        self,
        home: Path,
        forget: "Callable[[str], Awaitable[None]] | None" = None,
        share: "Callable[[SessionStore], SharedRecords | None] | None" = None,
    ) -> None:
        """Open nothing yet.

        `forget` is called for each deleted session. If the home folder may share its records with other machines,
        `share` returns the shared records or None; it blocks.
        """
        self.folder = home / "sessions"
        self._forget = forget
        self.sharing = SharedSessions(self, partial(share, self) if share else None)
        self._home = home
        self._words: SearchIndex | None = None
        self._has_ended = False
        self._database = Database(home / "index.db", MIGRATIONS)
        self._unlisted: UnlistedRecords | None = None

    @property
    def words(self) -> "SearchIndex":
        """The full-text index of all sessions; created on first use."""
        from hermes_acp.storage.search.search_index import SearchIndex

        if self._words is None:
            self._words = SearchIndex(self._home, self.folder)
            if self._has_ended:
                self._words.close()  # an index that is first used after closing must not stay open
        return self._words

    def path_of(self, session_id: str) -> Path:
        """Return the path of a record; a child agent's record is in a folder named after its session.

        Raises SessionNotFound for an invalid ID.
        """
        named = SESSION_ID.fullmatch(session_id)
        if not named:
            raise SessionNotFound(
                f"There is no session {session_id[:80]!r}.",
                session_id=session_id,
                hint="List the sessions to see which exist.",
            )
        own_folder = self.folder / named[1] if named[2] else self.folder
        return own_folder / f"{session_id}.jsonl"

    async def put(self, *rows: SessionRow) -> None:
        """Add or replace index rows in one transaction."""
        await self._write(lambda connection: [_put(connection, row) for row in rows])

    async def amend(self, session_id: str) -> None:
        """Reread a record that was written to without being opened. Its time stays unchanged."""
        from anyio import to_thread

        row = await to_thread.run_sync(row_of, self.path_of(session_id))
        if row:
            await self._write(lambda connection: _amend(connection, row))

    async def with_usage(self, rows: Iterable[SessionRow]) -> list[SessionRow]:
        """Return rows with their usage. Usage that an earlier version did not index is read from the records."""
        from anyio import to_thread

        known: list[SessionRow] = []
        for row in rows:
            if row.usage is None and (read := await to_thread.run_sync(row_of, self.path_of(row.id))):
                await self._write(lambda connection, read=read: _amend(connection, read))
                known.append(structs.replace(row, usage=read.usage))
            else:
                known.append(row)
        return known

    async def page(
        self, cwd: str | None, after: tuple[float, str] | None, archived: ArchiveFilter = "exclude"
    ) -> list[SessionRow]:
        """Return up to `PAGE` sessions that follow `after`, newest first, of one working directory or of all.

        Sessions without a prompt are not listed. Later sessions of a folder with the title of an earlier one are
        numbered.
        """
        updated_at, id_ = after or (None, None)
        wanted = {
            "cwd": cwd,
            "updated_at": updated_at,
            "id": id_,
            "archived": {"exclude": 0, "include": None, "only": 1}[archived],
            "most": PAGE,
        }

        def select(connection: "sqlite3.Connection") -> list[SessionRow]:
            rows = connection.execute(
                """SELECT id, cwd, title, created_at, updated_at, is_archived, more_roots, usage,
                   (SELECT COUNT(*) FROM sessions AS other WHERE other.cwd = sessions.cwd
                    AND other.title = sessions.title
                    AND (other.created_at, other.id) < (sessions.created_at, sessions.id))
                   FROM sessions
                   WHERE title <> '' AND (:cwd IS NULL OR cwd = :cwd)
                   AND (:updated_at IS NULL OR (updated_at, id) < (:updated_at, :id))
                   AND (:archived IS NULL OR is_archived = :archived)
                   ORDER BY updated_at DESC, id DESC LIMIT :most""",
                wanted,
            )
            return [_from_columns(row) for row in rows]

        while True:
            rows = await self._read(select)
            missing_at = self._unlisted.newest_at if self._unlisted else 0.0
            is_whole = len(rows) == PAGE and rows[-1].updated_at > missing_at
            if is_whole or not await self.list_more():
                return rows

    async def list_more(self) -> bool:
        """Index some of the records that the index lacks, and return whether there were any. Raises StorageError."""
        await self._index()
        if not self._unlisted or not self._unlisted.newest_at:
            return False
        await self._add(self._unlisted)
        return True

    async def delete(self, session_id: str) -> None:
        """Remove a session's record and row; an unknown ID is not an error. Raises Busy or StorageError."""
        from anyio import to_thread

        try:
            path = self.path_of(session_id)
        except SessionNotFound:
            return
        await self.sharing.delete(session_id)
        await to_thread.run_sync(Transcript.delete, path)
        if not is_child(session_id):
            await to_thread.run_sync(remove_folder, self.folder / session_id)
        await self._write(
            lambda connection: connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))
        )
        with suppress(StorageError):  # the next search notices that the record is deleted
            await self.words.forget_session(session_id)
        if self._forget:
            await self._forget(session_id)

    async def rebuild(self) -> None:
        """Rebuild both indexes from the records. Raises StorageError."""
        with suppress(DatabaseDamaged):
            await self._database.run(_clear)
        self._unlisted = None
        while await self.list_more():
            pass
        await self.words.rebuild()

    def news(self) -> list[str]:
        """Return notices for the user about an index or shared records, each only once."""
        words = self._words.news() if self._words else []
        return [*self.sharing.news(), *self._database.news(), *words]

    async def _read(self, work: "Callable[[sqlite3.Connection], T]") -> T:
        try:
            await self._index()
            return await self._database.read(work)
        except DatabaseDamaged:
            self._unlisted = None
            await self._index()
            return await self._database.read(work)

    async def _write(self, work: "Callable[[sqlite3.Connection], object]") -> None:
        try:
            await self._index()
            await self._database.run(work)
        except DatabaseDamaged:
            self._unlisted = None
            await self._index()
            await self._database.run(work)

    async def _index(self) -> None:
        """Determine what the index lacks, once per process, and add the newest missing parts.

        These are all records after a loss, titles lost in a crash, and columns that an earlier format did not have.
        """
        if self._unlisted:
            return
        from anyio import to_thread

        known, looked_at = await self._database.read(_known)
        unlisted = await to_thread.run_sync(UnlistedRecords, self.folder, known, looked_at)
        await self._add(unlisted)
        self._unlisted = unlisted

    async def _add(self, unlisted: UnlistedRecords) -> None:
        from anyio import to_thread

        rows, looked_at = await to_thread.run_sync(unlisted.take)
        try:
            if rows or looked_at:
                await self._database.run(lambda connection: _note(connection, rows, looked_at))
        except BaseException:
            self._unlisted = None  # scan again: they are now in neither the index nor this list
            raise

    def create(self, session_id: str) -> Transcript:
        """Create the record of a new session or child agent. Raises StorageError."""
        return Transcript.create(self.path_of(session_id))

    async def close_words(self) -> None:
        """Close the search indexes, in a worker thread."""
        self._has_ended = True
        if self._words:
            await self._words.database.aclose()

    async def aclose(self) -> None:
        """Close the index in a worker thread. `close_words` is separate and can run concurrently."""
        await self._database.aclose()
        await self.sharing.aclose()

    def close(self) -> None:
        """Close the indexes."""
        self._database.close()
        if self._words:
            self._words.close()


def is_child(session_id: str) -> bool:
    """Return whether an ID belongs to a child agent's session."""
    return "." in session_id


def child_record_path(path: Path, child_id: str) -> Path:
    """Return the path of a child agent's record, given its parent's record."""
    folder = path.parent if is_child(path.stem) else path.with_suffix("")
    return folder / f"{child_id}.jsonl"


def _columns(row: SessionRow) -> tuple[object, ...]:
    roots = msgspec.json.encode(row.more_roots).decode()
    usage = msgspec.json.encode(row.usage).decode() if row.usage else None
    return (row.id, row.cwd, row.title, row.created_at, row.updated_at, row.is_archived, roots, usage)


def _from_columns(columns: tuple[Any, ...]) -> SessionRow:
    id_, cwd, title, created_at, updated_at, is_archived, roots, usage, earlier = columns
    return SessionRow(
        id_,
        cwd,
        f"{title} ({earlier + 1})" if earlier else title,
        created_at,
        updated_at,
        bool(is_archived),
        msgspec.json.decode(roots, type=tuple[str, ...]) if roots else (),
        msgspec.json.decode(usage, type=SessionUsage) if usage else None,
    )


def _known(connection: "sqlite3.Connection") -> tuple[set[str], dict[str, int]]:
    """Return the listed sessions, and the other files that were checked, with their modification times."""
    listed = connection.execute("SELECT id FROM sessions WHERE title <> '' AND more_roots IS NOT NULL")
    known = {row[0] for row in listed}
    return known, dict(connection.execute("SELECT name, changed_ns FROM looked_at").fetchall())


def _note(connection: "sqlite3.Connection", rows: Iterable[SessionRow], looked_at: Mapping[str, int]) -> None:
    for row in rows:
        _amend(connection, row)
    connection.executemany("INSERT OR REPLACE INTO looked_at VALUES (?, ?)", looked_at.items())


def _clear(connection: "sqlite3.Connection") -> None:
    connection.execute("DELETE FROM sessions")
    connection.execute("DELETE FROM looked_at")


def _put(connection: "sqlite3.Connection", row: SessionRow) -> None:
    connection.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _columns(row))


def _amend(connection: "sqlite3.Connection", row: SessionRow) -> None:
    connection.execute(
        """INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (id) DO UPDATE SET
           title = excluded.title, is_archived = excluded.is_archived, more_roots = excluded.more_roots,
           usage = excluded.usage""",
        _columns(row),
    )
