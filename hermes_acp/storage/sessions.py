"""Which sessions exist: transcripts on disk, and an index for listing them fast.

Knows: where a session's record lies, what a list shows. Does not know: what is in a conversation.
The transcripts are the truth; an index that is missing or was damaged is rebuilt from them.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hermes_acp.core.errors import NotFound
from hermes_acp.core.events import ArchiveChanged, SessionOpened, TitleChanged
from hermes_acp.storage.database import Database
from hermes_acp.storage.transcript import Transcript, decode_lines

if TYPE_CHECKING:
    import sqlite3

SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
PAGE = 50
MIGRATIONS = (
    """CREATE TABLE sessions (
        id TEXT PRIMARY KEY, cwd TEXT NOT NULL, title TEXT NOT NULL,
        created_at REAL NOT NULL, updated_at REAL NOT NULL
    ) STRICT""",
    "CREATE INDEX sessions_by_time ON sessions (updated_at DESC, id)",
    "ALTER TABLE sessions ADD COLUMN is_archived INTEGER NOT NULL DEFAULT 0",
)
ArchiveFilter = Literal["exclude", "include", "only"]


class SessionRow(Struct, frozen=True):
    """One session of a list; times are seconds since the epoch."""

    id: str
    cwd: str
    title: str
    created_at: float
    updated_at: float
    is_archived: bool = False


class SessionStore:
    """All sessions of one home folder."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "sessions"
        self._database = Database(home / "index.db", MIGRATIONS)
        self._checked = False

    def path_of(self, session_id: str) -> Path:
        """Give the record's place. Raises NotFound for an id that no session can have."""
        if not SESSION_ID.fullmatch(session_id):
            raise NotFound(
                f"There is no session {session_id[:80]!r}.", hint="List the sessions to see which exist."
            )
        return self.folder / f"{session_id}.jsonl"

    async def put(self, row: SessionRow) -> None:
        """Add or replace a row of the index."""
        await self._index()
        await self._database.run(lambda connection: _put(connection, row))

    async def amend(self, session_id: str) -> None:
        """Read a record again that was written to without being opened; its time stays what it was."""
        from anyio import to_thread

        await self._index()
        row = await to_thread.run_sync(_row_of, self.path_of(session_id))
        if row:
            await self._database.run(lambda connection: _amend(connection, row))

    async def page(
        self, cwd: str | None, after: tuple[float, str] | None, archived: ArchiveFilter = "exclude"
    ) -> list[SessionRow]:
        """Give up to `PAGE` sessions, newest first, of one working directory or of all, behind `after`."""
        await self._index()

        wanted = {"exclude": 0, "include": None, "only": 1}[archived]

        def select(connection: "sqlite3.Connection") -> list[SessionRow]:
            rows = connection.execute(
                """SELECT id, cwd, title, created_at, updated_at, is_archived FROM sessions
                   WHERE (?1 IS NULL OR cwd = ?1) AND (?2 IS NULL OR (updated_at, id) < (?2, ?3))
                   AND (?4 IS NULL OR is_archived = ?4)
                   ORDER BY updated_at DESC, id DESC LIMIT ?5""",
                (cwd, *(after or (None, None)), wanted, PAGE),
            )
            return [SessionRow(*row[:-1], is_archived=bool(row[-1])) for row in rows]

        return await self._database.run(select)

    async def delete(self, session_id: str) -> None:
        """Remove a session's record and its row; an id there is not is no mistake. Raises Busy, StorageTrouble."""
        from anyio import to_thread

        try:
            path = self.path_of(session_id)
        except NotFound:
            return
        await to_thread.run_sync(Transcript.delete, path)
        await self._index()
        await self._database.run(
            lambda connection: connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))
        )

    async def _index(self) -> None:
        """Add what the index lacks, once in a process: all of it after a loss, titles that a crash cut short."""
        if self._checked:
            return
        self._checked = True
        from anyio import to_thread

        known = await self._database.run(
            lambda c: {row[0] for row in c.execute("SELECT id FROM sessions WHERE title <> ''")}
        )
        rows = await to_thread.run_sync(self._scan, known)
        if rows:
            await self._database.run(lambda connection: [_put(connection, row) for row in rows])

    def _scan(self, known: set[str]) -> list[SessionRow]:
        paths = [path for path in sorted(self.folder.glob("*.jsonl")) if path.stem not in known]
        return [row for path in paths if (row := _row_of(path))]

    def create(self, session_id: str) -> Transcript:
        """Start the record of a new session."""
        return Transcript.create(self.path_of(session_id))

    def close(self) -> None:
        """Close the index."""
        self._database.close()


def _put(connection: "sqlite3.Connection", row: SessionRow) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?)",
        (row.id, row.cwd, row.title, row.created_at, row.updated_at, row.is_archived),
    )


def _amend(connection: "sqlite3.Connection", row: SessionRow) -> None:
    connection.execute(
        """INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT (id) DO UPDATE SET title = excluded.title, is_archived = excluded.is_archived""",
        (row.id, row.cwd, row.title, row.created_at, row.updated_at, row.is_archived),
    )


def _row_of(path: Path) -> SessionRow | None:
    opened: SessionOpened | None = None
    title = ""
    is_archived = False
    try:
        content = path.read_bytes()
        updated_at = path.stat().st_mtime
    except OSError:
        return None
    for event, _ in decode_lines(content):
        if isinstance(event, SessionOpened):
            opened = event
        elif isinstance(event, TitleChanged):
            title = event.title
        elif isinstance(event, ArchiveChanged):
            is_archived = event.is_archived
    if opened is None:
        return None
    return SessionRow(opened.session_id, opened.cwd, title, opened.created_at, updated_at, is_archived)
