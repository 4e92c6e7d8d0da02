"""The index file: damaged, newer, shared."""

import sqlite3
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import StorageTrouble
from hermes_acp.storage.database import Database

pytestmark = pytest.mark.anyio
MIGRATIONS = ("CREATE TABLE words (word TEXT PRIMARY KEY) STRICT", "CREATE INDEX by_word ON words (word)")


def add(word: str):
    def work(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO words VALUES (?)", (word,))

    return work


def every(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT word FROM words ORDER BY word")]


def version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "index.db"


async def test_it_is_made_private_migrated_and_found_again(path: Path) -> None:
    database = Database(path, MIGRATIONS[:1])
    await database.run(add("one"))
    database.close()
    assert path.stat().st_mode & 0o777 == 0o600
    later = Database(path, MIGRATIONS)
    assert await later.run(every) == ["one"]
    assert await later.run(version) == 2
    later.close()
    assert later.set_aside is None


async def test_a_damaged_file_is_set_aside_and_never_overwritten(path: Path) -> None:
    path.parent.mkdir()
    for number in (1, 2):
        path.write_bytes(b"no database at all " * 100)
        database = Database(path, MIGRATIONS)
        await database.run(add("fresh"))
        aside = path.with_name(f"index.db.damaged-{number}")
        assert database.set_aside == aside
        assert aside.read_bytes().startswith(b"no database")
        assert await database.run(every) == ["fresh"]
        database.close()


async def test_a_newer_file_is_refused_and_left_alone(path: Path) -> None:
    newer = Database(path, MIGRATIONS)
    await newer.run(add("kept"))
    newer.close()
    older = Database(path, MIGRATIONS[:1])
    for _ in range(2):
        with pytest.raises(StorageTrouble, match="newer hermes-acp"):
            await older.run(every)
    older.close()
    again = Database(path, MIGRATIONS)
    assert await again.run(every) == ["kept"]
    again.close()


async def test_two_connections_write_without_losing_anything(path: Path) -> None:
    databases = [Database(path, MIGRATIONS) for _ in range(2)]

    async def fill(database: Database, name: str) -> None:
        for number in range(20):
            await database.run(add(f"{name}{number:02}"))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for database, name in zip(databases, "ab", strict=True):
                tasks.start_soon(fill, database, name)
    for database in databases:
        assert await database.run(every) == [f"{name}{number:02}" for name in "ab" for number in range(20)]
        database.close()


async def test_work_that_fails_leaves_nothing_behind(path: Path) -> None:
    database = Database(path, MIGRATIONS)

    def half(connection: sqlite3.Connection) -> None:
        add("half")(connection)
        raise ValueError("no further")

    with pytest.raises(ValueError, match="no further"):
        await database.run(half)
    await database.run(add("one"))
    with pytest.raises(StorageTrouble, match="cannot be used"):
        await database.run(add("one"))
    assert await database.run(every) == ["one"]
    database.close()


async def test_a_home_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(StorageTrouble) as caught:
        await Database(tmp_path / "home" / "index.db", MIGRATIONS).run(every)
    assert "HERMES_HOME" in caught.value.sentence()
