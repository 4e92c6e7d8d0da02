"""The session index in the format of every earlier hermes-acp, written once and never changed.

Each format has one session `ses_old`, titled `ScanRecord`, in /project, created at 1.0 and last changed at 2.0.
"""

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

Builder = Callable[[sqlite3.Connection], None]


def _format_1(connection: sqlite3.Connection) -> None:
    connection.execute(
        """CREATE TABLE sessions (
        id TEXT PRIMARY KEY, cwd TEXT NOT NULL, title TEXT NOT NULL,
        created_at REAL NOT NULL, updated_at REAL NOT NULL
    ) STRICT"""
    )
    connection.execute("INSERT INTO sessions VALUES ('ses_old', '/project', 'Kept', 1.0, 2.0)")


def _format_2(connection: sqlite3.Connection) -> None:
    _format_1(connection)
    connection.execute("CREATE INDEX sessions_by_time ON sessions (updated_at DESC, id)")


def _format_3(connection: sqlite3.Connection) -> None:
    _format_2(connection)
    connection.execute("ALTER TABLE sessions ADD COLUMN is_archived INTEGER NOT NULL DEFAULT 0")


def _format_4(connection: sqlite3.Connection) -> None:
    _format_3(connection)
    connection.execute("ALTER TABLE sessions ADD COLUMN more_roots TEXT")


def _format_5(connection: sqlite3.Connection) -> None:
    _format_4(connection)
    connection.execute("ALTER TABLE sessions ADD COLUMN usage TEXT")
    connection.execute("CREATE INDEX sessions_by_title ON sessions (cwd, title)")


LIST_FORMATS: Mapping[int, Builder] = MappingProxyType(
    {1: _format_1, 2: _format_2, 3: _format_3, 4: _format_4, 5: _format_5}
)


def _search_format_1(connection: sqlite3.Connection) -> None:
    connection.execute(
        """CREATE TABLE records (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, cwd TEXT NOT NULL, title TEXT NOT NULL,
        is_archived INTEGER NOT NULL, created_at REAL NOT NULL, updated_at REAL NOT NULL,
        seen_bytes INTEGER NOT NULL, settled_bytes INTEGER NOT NULL, settled_position INTEGER NOT NULL
    ) STRICT"""
    )
    connection.execute(
        """CREATE TABLE passages (
        key INTEGER PRIMARY KEY, speaker TEXT NOT NULL, place TEXT NOT NULL, text TEXT NOT NULL
    ) STRICT"""
    )
    connection.execute(
        """CREATE VIRTUAL TABLE words USING fts5(
        text, place, content = 'passages', content_rowid = 'key', prefix = '2 3 4',
        tokenize = 'unicode61 remove_diacritics 2'
    )"""
    )
    key = 7 << 24 | 1
    connection.execute("INSERT INTO records VALUES (7, 'ses_gone', '/p', '', 0, 7.0, 7.0, 10, 10, 1)")
    connection.execute("INSERT INTO passages VALUES (?, 'user', 'qz', 'kettle')", (key,))
    connection.execute("INSERT INTO words (rowid, text, place) VALUES (?, 'kettle', 'qz')", (key,))


SEARCH_FORMATS: Mapping[int, Builder] = MappingProxyType({1: _search_format_1})


def write_format(path: Path, formats: Mapping[int, Builder], version: int) -> None:
    """Create the file as a hermes-acp with that format left it."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    formats[version](connection)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()
