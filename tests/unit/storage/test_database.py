"""The index file when it is damaged, newer or shared."""

import sqlite3
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from hermes_acp.core.errors import StorageError
from hermes_acp.runs.sqlite.run_database import RunDatabase
from hermes_acp.runs.sqlite.sqlite_schema import MIGRATIONS as RUN_MIGRATIONS
from hermes_acp.storage.search.database import Database, DatabaseDamaged
from hermes_acp.storage.session_store import SessionStore

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


async def test_a_new_index_is_private_migrated_and_can_be_reopened(path: Path) -> None:
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


async def test_a_newer_file_is_rejected_and_left_alone(path: Path) -> None:
    newer = Database(path, MIGRATIONS)
    await newer.run(add("kept"))
    newer.close()
    older = Database(path, MIGRATIONS[:1])
    for _ in range(2):
        with pytest.raises(StorageError, match="newer hermes-acp"):
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

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for database, name in zip(databases, "ab", strict=True):
                tasks.start_soon(fill, database, name)
    for database in databases:
        assert await database.run(every) == [f"{name}{number:02}" for name in "ab" for number in range(20)]
        database.close()


async def test_failed_work_leaves_nothing_behind(path: Path) -> None:
    database = Database(path, MIGRATIONS)

    def half(connection: sqlite3.Connection) -> None:
        add("half")(connection)
        raise ValueError("no further")

    with pytest.raises(ValueError, match="no further"):
        await database.run(half)
    await database.run(add("one"))
    with pytest.raises(StorageError, match="cannot be used"):
        await database.run(add("one"))
    assert await database.run(every) == ["one"]
    database.close()


async def test_a_home_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(StorageError) as caught:
        await Database(tmp_path / "home" / "index.db", MIGRATIONS).run(every)
    assert "HERMES_HOME" in caught.value.sentence()


def spoil(path: Path) -> None:
    """Damage every page except the first while other processes have the file open."""
    size = path.stat().st_size
    with path.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xa5" * (size - 4096))


async def fill(database: Database) -> None:
    def insert(connection: sqlite3.Connection) -> None:
        connection.executemany("INSERT INTO words VALUES (?)", ((f"{n:05}{'x' * 90}",) for n in range(500)))

    await database.run(insert)


async def test_damage_found_later_is_reported_once_and_a_new_file_is_used(path: Path) -> None:
    database = Database(path, MIGRATIONS)
    await fill(database)
    database.close()
    spoil(path)
    with pytest.raises(DatabaseDamaged):
        await database.read(every)
    assert await database.read(every) == []
    (news,) = database.news()
    assert f"{path}.damaged-1" in news
    assert database.news() == []
    database.close()


async def test_a_file_that_another_process_replaced_is_opened_again(path: Path) -> None:
    one, two = Database(path, MIGRATIONS), Database(path, MIGRATIONS)
    await fill(one)
    one.close()
    spoil(path)
    assert await two.read(version) == 2
    with pytest.raises(DatabaseDamaged):
        await one.read(every)
    await one.run(add("fresh"))
    assert await two.read(every) == ["fresh"]
    one.close()
    two.close()
    assert len(list(path.parent.glob("*.damaged-*"))) == 1


async def test_readers_do_not_wait_for_a_writer(path: Path) -> None:
    database = Database(path, MIGRATIONS)
    await database.run(add("one"))
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO words VALUES ('two')")
    with anyio.fail_after(60):
        assert await database.read(every) == ["one"]
    writer.execute("COMMIT")
    writer.close()
    assert await database.read(every) == ["one", "two"]
    database.close()


@pytest.mark.parametrize("content", [None, "one"])
async def test_a_file_that_cannot_be_written_is_loaded_into_memory(path: Path, content: str | None) -> None:
    """A folder in place of the log keeps SQLite from writing, whichever user runs this."""
    if content:
        database = Database(path, MIGRATIONS[:1])
        await database.run(add(content))
        database.close()
    path.parent.mkdir(exist_ok=True)
    for suffix in ("-wal", "-journal"):
        path.with_name(path.name + suffix).mkdir()
    database = Database(path, MIGRATIONS)
    await database.run(add("two"))
    assert await database.read(every) == ([content, "two"] if content else ["two"])
    assert not database.is_saved
    (news,) = database.news()
    assert "cannot be written" in news
    database.close()


async def test_a_migration_may_have_several_statements(path: Path) -> None:
    database = Database(path, ("CREATE TABLE a (b);\nCREATE TABLE words (word)", MIGRATIONS[1]))
    await database.run(add("one"))
    assert (await database.run(every), await database.run(version)) == (["one"], 2)
    database.close()


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


async def test_work_that_starts_during_closing_leaves_nothing_open(path: Path) -> None:
    database, used = Database(path, MIGRATIONS), list[sqlite3.Connection]()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(database.run, used.append)
        await anyio.lowlevel.checkpoint()
        await database.aclose()
    assert [is_open(each) for each in used] == [False]


async def test_work_after_closing_is_done_and_leaves_nothing_open(path: Path) -> None:
    database, used = Database(path, MIGRATIONS), list[sqlite3.Connection]()
    await database.run(used.append)
    assert is_open(used[0])
    await database.aclose()
    await database.run(add("late"))
    await database.run(used.append)
    assert [is_open(each) for each in used] == [False, False]
    assert await database.read(every) == ["late"]


async def test_a_search_index_first_used_after_closing_leaves_nothing_open(tmp_path: Path) -> None:
    store, used = SessionStore(tmp_path), list[sqlite3.Connection]()
    await store.close_words()
    await store.words.database.run(used.append)
    assert [is_open(each) for each in used] == [False]
    await store.aclose()


async def test_the_runs_file_closed_while_it_is_opened_is_closed(tmp_path: Path) -> None:
    database, used = RunDatabase(tmp_path / "runs.db", RUN_MIGRATIONS), list[object]()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(database.read, used.append)
        await anyio.lowlevel.checkpoint()
        await database.aclose()
    assert [isinstance(each, sqlite3.Connection) and is_open(each) for each in used] == [False]
