"""The list of sessions: its columns, its filters, and files in earlier formats."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec import structs

from hermes_acp.core.errors import StorageError
from hermes_acp.core.events import (
    ArchiveChanged,
    Event,
    RootsChanged,
    SessionOpened,
    StepEnded,
    TitleChanged,
    UsageChanged,
)
from hermes_acp.core.messages import Usage
from hermes_acp.core.ports.recall_ports import RecallQuery
from hermes_acp.storage.session_rows import SessionRow, SessionUsage
from hermes_acp.storage.session_store import MIGRATIONS, PAGE, SessionStore
from hermes_acp.storage.transcript import Transcript
from hermes_acp.storage.unlisted_records import BATCH

pytestmark = pytest.mark.anyio


def write_record(home: Path, session_id: str, *events: Event, cwd: str = "/project") -> Path:
    transcript = SessionStore(home).create(session_id)
    for event in (SessionOpened(session_id, cwd, (cwd,), 1.0), *events):
        transcript.append(event)
    transcript.close()
    path = home / "sessions" / f"{session_id}.jsonl"
    os.utime(path, (5.0, 5.0))
    return path


async def ids(store: SessionStore) -> dict[str, list[str]]:
    return {
        "exclude": [row.id for row in await store.page(None, None)],
        "include": [row.id for row in await store.page(None, None, "include")],
        "only": [row.id for row in await store.page(None, None, "only")],
    }


async def test_an_index_of_format_2_is_migrated(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "index.db")) as old, old:
        for statement in MIGRATIONS[:2]:
            old.execute(statement)
        old.execute("INSERT INTO sessions VALUES ('ses_old', '/project', 'Kept', 1.0, 2.0)")
        old.execute("PRAGMA user_version = 2")
    old.close()
    store = SessionStore(tmp_path)
    assert await store.page(None, None) == [SessionRow("ses_old", "/project", "Kept", 1.0, 2.0)]
    await store.put(SessionRow("ses_old", "/project", "Kept", 1.0, 3.0, is_archived=True))
    assert await ids(store) == {"exclude": [], "include": ["ses_old"], "only": ["ses_old"]}
    store.close()


async def test_a_lost_index_finds_the_archived_sessions_again(tmp_path: Path) -> None:
    title = TitleChanged("A title")
    archived = ArchiveChanged(is_archived=True)
    write_record(tmp_path, "ses_a", title)
    write_record(tmp_path, "ses_b", title, archived)
    write_record(tmp_path, "ses_c", title, archived, ArchiveChanged(is_archived=False))
    store = SessionStore(tmp_path)
    found = await ids(store)
    assert found == {"exclude": ["ses_c", "ses_a"], "include": ["ses_c", "ses_b", "ses_a"], "only": ["ses_b"]}
    store.close()


async def test_amending_changes_title_and_mark_but_not_the_time(tmp_path: Path) -> None:
    write_record(tmp_path, "ses_a", TitleChanged("Before"))
    store = SessionStore(tmp_path)
    (before,) = await store.page(None, None)
    transcript, _, _ = Transcript.reopen(store.path_of("ses_a"))
    transcript.append(TitleChanged("After"))
    transcript.append(ArchiveChanged(is_archived=True))
    transcript.close()
    await store.amend("ses_a")
    assert await store.page(None, None, "only") == [
        SessionRow(
            "ses_a", "/project", "After", 1.0, before.updated_at, is_archived=True, usage=SessionUsage()
        )
    ]
    store.close()


async def test_a_list_damaged_while_it_is_open_is_rebuilt_from_the_records(tmp_path: Path) -> None:
    for number in range(60):
        write_record(tmp_path, f"ses_{number:02}", TitleChanged("x" * 100))
    store = SessionStore(tmp_path)
    assert len(await store.page(None, None)) == 50
    store.close()
    index = tmp_path / "index.db"
    content = index.read_bytes()
    index.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))
    assert len(await store.page(None, None)) == 50
    (news,) = store.news()
    assert "index.db.damaged-1" in news
    await store.put(SessionRow("ses_00", "/project", "Newest", 1.0, 9.0))
    assert (await store.page(None, None))[0].title == "Newest"
    store.close()


async def test_rebuilding_uses_the_data_in_the_records(tmp_path: Path) -> None:
    write_record(tmp_path, "ses_a", TitleChanged("True"))
    store = SessionStore(tmp_path)
    await store.put(SessionRow("ses_a", "/elsewhere", "False", 1.0, 9.0))
    await store.put(SessionRow("ses_gone", "/project", "Gone", 1.0, 9.0))
    await store.rebuild()
    assert await store.page(None, None) == [
        SessionRow("ses_a", "/project", "True", 1.0, 5.0, usage=SessionUsage())
    ]
    store.close()


async def test_a_deleted_session_is_no_longer_found(tmp_path: Path) -> None:
    write_record(tmp_path, "ses_a", TitleChanged("Kettle"))
    store = SessionStore(tmp_path)
    await store.words.follow(["ses_a"])
    assert len((await store.words.search(RecallQuery("kettle"))).found) == 1
    await store.delete("ses_a")
    assert (await store.words.search(RecallQuery("kettle"))).found == ()
    store.close()


async def test_an_index_of_format_3_gets_the_folders_and_keeps_the_time(tmp_path: Path) -> None:
    title = TitleChanged("Kept")
    write_record(tmp_path, "ses_old", title, RootsChanged(("/one", "/two")))
    with closing(sqlite3.connect(tmp_path / "index.db")) as old, old:
        for statement in MIGRATIONS[:3]:
            old.execute(statement)
        old.execute("INSERT INTO sessions VALUES ('ses_old', '/project', 'Kept', 1.0, 2.0, 0)")
        old.execute("PRAGMA user_version = 3")
    old.close()
    store = SessionStore(tmp_path)
    (row,) = await store.page(None, None)
    assert (row.more_roots, row.updated_at, row.title) == (("/one", "/two"), 2.0, "Kept")
    store.close()


async def test_sessions_without_a_prompt_are_not_listed_and_duplicate_titles_are_numbered(
    tmp_path: Path,
) -> None:
    store = SessionStore(tmp_path)
    for session_id, cwd, title, created_at in (
        ("ses_a", "/project", "Fix the test", 1.0),
        ("ses_b", "/project", "Fix the test", 2.0),
        ("ses_c", "/elsewhere", "Fix the test", 3.0),
        ("ses_d", "/project", "", 4.0),
        ("ses_e", "/project", "Fix the test", 5.0),
    ):
        await store.put(SessionRow(session_id, cwd, title, created_at, 10.0 - created_at))
    listed = [(row.id, row.title) for row in await store.page(None, None)]
    assert listed == [
        ("ses_a", "Fix the test"),
        ("ses_b", "Fix the test (2)"),
        ("ses_c", "Fix the test"),
        ("ses_e", "Fix the test (3)"),
    ]
    assert [row.title for row in await store.page("/project", (8.0, "ses_b"))] == ["Fix the test (3)"]
    store.close()


async def test_usage_that_an_earlier_version_did_not_index_is_read_from_the_record(tmp_path: Path) -> None:
    step = StepEnded("m", usage=Usage(input_tokens=11, output_tokens=7), provider="scripted")
    write_record(tmp_path, "ses_a", TitleChanged("Kettle"), step, step, UsageChanged(5, 10, 0.25))
    store = SessionStore(tmp_path)
    (row,) = await store.page(None, None)
    assert row.usage == SessionUsage(22, 14, 0.25)
    await store.put(structs.replace(row, usage=None))
    (row,) = await store.with_usage(await store.page(None, None))
    assert row.usage == SessionUsage(22, 14, 0.25)
    assert (await store.page(None, None))[0].usage == row.usage
    store.close()


def many_records(home: Path, count: int) -> list[str]:
    """Write records a minute apart and return their IDs, the newest first."""
    for number in range(count):
        path = write_record(home, f"ses_{number:03}", TitleChanged(f"Number {number}"))
        os.utime(path, (60.0 * number, 60.0 * number))
    return [f"ses_{number:03}" for number in reversed(range(count))]


def indexed(home: Path) -> int:
    with closing(sqlite3.connect(home / "index.db")) as index:
        return index.execute("SELECT count(*) FROM sessions").fetchone()[0]


async def test_the_first_page_of_a_lost_index_reads_the_newest_records_only(tmp_path: Path) -> None:
    expected = many_records(tmp_path, 2 * BATCH + 20)
    store = SessionStore(tmp_path)
    first = await store.page(None, None)
    assert [row.id for row in first] == expected[:PAGE]
    assert indexed(tmp_path) == BATCH
    found, page = list(first), first
    while len(page) == PAGE:
        page = await store.page(None, (page[-1].updated_at, page[-1].id))
        found += page
    assert [row.id for row in found] == expected
    assert not await store.list_more()
    store.close()


async def test_a_folders_old_sessions_are_found_in_a_lost_index(tmp_path: Path) -> None:
    many_records(tmp_path, BATCH + 20)
    os.utime(write_record(tmp_path, "ses_old", TitleChanged("Old"), cwd="/elsewhere"), (1.0, 1.0))
    store = SessionStore(tmp_path)
    assert [row.id for row in await store.page("/elsewhere", None)] == ["ses_old"]
    store.close()


async def test_records_that_could_not_be_indexed_are_indexed_the_next_time(tmp_path: Path) -> None:
    expected = many_records(tmp_path, 5)
    store = SessionStore(tmp_path)
    await store.page(None, None)
    store.close()
    with closing(sqlite3.connect(tmp_path / "index.db")) as index, index:
        index.execute("DELETE FROM sessions")
        index.execute("CREATE TRIGGER full BEFORE INSERT ON sessions BEGIN SELECT RAISE(ABORT, 'full'); END")
    store = SessionStore(tmp_path)
    with pytest.raises(StorageError):
        await store.page(None, None)
    with closing(sqlite3.connect(tmp_path / "index.db")) as index, index:
        index.execute("DROP TRIGGER full")
    assert [row.id for row in await store.page(None, None)] == expected
    store.close()
