"""An index of every earlier format is migrated, and then equals a new one."""

import sqlite3
from pathlib import Path

import pytest

from hermes_acp.core.errors import StorageError
from hermes_acp.storage import session_store
from hermes_acp.storage.search import search_tables
from hermes_acp.storage.search.database import Database
from hermes_acp.storage.session_rows import SessionRow
from hermes_acp.storage.session_store import SessionStore
from tests.unit.storage.index_formats import LIST_FORMATS, SEARCH_FORMATS, write_format

pytestmark = pytest.mark.anyio


def schema(path: Path) -> tuple[int, list[tuple[str, str]]]:
    connection = sqlite3.connect(path)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    ).fetchall()
    columns = [
        (table, column)
        for (table,) in tables
        for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    ]
    connection.close()
    return version, columns


def test_every_earlier_format_is_stored_here() -> None:
    """A new migration needs the previous format, unchanged, in `index_formats`."""
    assert sorted(LIST_FORMATS) == list(range(1, len(session_store.MIGRATIONS)))
    assert sorted(SEARCH_FORMATS) == list(range(1, len(search_tables.MIGRATIONS)))


@pytest.mark.parametrize("version", LIST_FORMATS)
async def test_a_list_of_an_earlier_format_is_migrated(tmp_path: Path, version: int) -> None:
    fresh = SessionStore(tmp_path / "fresh")
    assert await fresh.page(None, None) == []
    fresh.close()
    write_format(tmp_path / "index.db", LIST_FORMATS, version)
    store = SessionStore(tmp_path)
    kept = SessionRow("ses_old", "/project", "Kept", 1.0, 2.0)
    assert await store.page(None, None) == [kept]
    await store.put(SessionRow("ses_old", "/project", "Kept", 1.0, 3.0, is_archived=True))
    assert [row.id for row in await store.page("/project", None, "only")] == ["ses_old"]
    store.close()
    assert schema(tmp_path / "index.db") == schema(tmp_path / "fresh" / "index.db")
    assert store.news() == []


@pytest.mark.parametrize("version", LIST_FORMATS)
async def test_a_migration_that_fails_leaves_the_format_unchanged(tmp_path: Path, version: int) -> None:
    path = tmp_path / "index.db"
    write_format(path, LIST_FORMATS, version)
    before = schema(path)
    database = Database(path, (*session_store.MIGRATIONS, "CREATE TABLE t (a);\nnonsense"))
    with pytest.raises(StorageError, match="nonsense"):
        await database.run(lambda connection: None)
    database.close()
    assert schema(path) == before
