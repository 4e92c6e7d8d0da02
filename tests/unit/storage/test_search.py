"""The search over all sessions follows their records, whoever wrote them and however that ended."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.core.events import (
    ArchiveChanged,
    CallEnded,
    CallProposed,
    Event,
    SessionOpened,
    StepEnded,
    TextSaid,
    TitleChanged,
    UserSaid,
)
from hermes_acp.core.messages import TextPart
from hermes_acp.core.ports.recall_ports import RecallQuery, SearchHit
from hermes_acp.storage.search import search_index
from hermes_acp.storage.search.search_index import SearchIndex
from hermes_acp.storage.search.search_tables import MIGRATIONS, read_records
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.transcript import Transcript

pytestmark = pytest.mark.anyio
DAY_S = 86_400.0
NOW = 1_700_000_000.0


def said(words: str) -> UserSaid:
    return UserSaid("m", (TextPart(words),))


def answered(words: str) -> tuple[Event, ...]:
    return (TextSaid("a", words[:3]), TextSaid("a", words[3:]), StepEnded("a"))


def write(home: Path, session_id: str, *events: Event, cwd: str = "/project", at: float = NOW) -> Path:
    transcript = SessionStore(home).create(session_id)
    for event in (SessionOpened(session_id, cwd, (cwd,), at), *events):
        transcript.append(event)
    transcript.close()
    os.utime(transcript.path, (at, at))
    return transcript.path


def add(path: Path, *events: Event) -> None:
    transcript, _, _ = Transcript.reopen(path)
    for event in events:
        transcript.append(event)
    transcript.close()


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    index = SearchIndex(tmp_path, tmp_path / "sessions")
    yield index
    index.close()


async def finds(index: SearchIndex, text: str, cwd: str | None = None, excluded: str = "") -> list[SearchHit]:
    return list((await index.search(RecallQuery(text, cwd, excluded))).found)


async def places(index: SearchIndex, text: str) -> list[tuple[str, int, str]]:
    return sorted((find.session_id, find.position, find.speaker) for find in await finds(index, text))


def check(home: Path) -> None:
    """Have FTS5 compare its index with its passages."""
    connection = sqlite3.connect(home / "search.db")
    connection.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
    connection.rollback()
    connection.close()


async def test_text_by_every_speaker_is_found_with_its_position(index: SearchIndex, tmp_path: Path) -> None:
    write(
        tmp_path,
        "ses_a",
        said("Where is the kettle?"),
        *answered("The kettle is blue."),
        CallProposed("c", "search", "Search for kettle", "search"),
        CallEnded("c", "search", "completed", "kitchen.py:3: kettle"),
        TitleChanged("Tea"),
    )
    assert await places(index, "kettle") == [
        ("ses_a", 1, "user"),
        ("ses_a", 2, "agent"),
        ("ses_a", 3, "tool"),
    ]
    (find,) = await finds(index, "blue")
    text = "The kettle is \x02blue\x03."
    assert find == SearchHit("ses_a", "Tea", "/project", NOW, 2, "agent", text, find.at)
    assert find.at, "when it was said"
    assert await places(index, "tea") == [("ses_a", 0, "title")]
    with pytest.raises(BadRequest):
        await finds(index, "***")
    check(tmp_path)


async def test_a_passage_with_all_words_comes_before_sessions_that_spread_them(
    index: SearchIndex, tmp_path: Path
) -> None:
    write(tmp_path, "ses_new", said("Is the kettle blue?"), *answered("It is a teapot."), at=NOW + 2 * DAY_S)
    write(tmp_path, "ses_half", said("a kettle"), at=NOW + 3 * DAY_S)
    write(tmp_path, "ses_old", said("a teapot and a kettle"), at=NOW)
    write(tmp_path, "ses_else", said("a kettle"), *answered("a teapot"), cwd="/else", at=NOW + DAY_S)
    write(tmp_path, "ses_titled", said("a kettle"), TitleChanged("The teapot"), at=NOW - DAY_S)
    found = [(find.session_id, find.position) for find in await finds(index, "kettle teapot")]
    assert found[0] == ("ses_old", 1)
    assert sorted(found[1:3]) == [("ses_new", 1), ("ses_new", 2)]
    assert sorted(found[3:5]) == [("ses_else", 1), ("ses_else", 2)]
    assert sorted(found[5:]) == [("ses_titled", 0), ("ses_titled", 1)]
    here = [find.session_id for find in await finds(index, "kettle teapot", cwd="/else")]
    assert here == ["ses_else", "ses_else"]
    without = {find.session_id for find in await finds(index, "kettle teapot", excluded="ses_new")}
    assert without == {"ses_old", "ses_else", "ses_titled"}
    (whole,) = {find.session_id for find in await finds(index, '"blue" teapot OR mug')}
    assert whole == "ses_new"
    assert await finds(index, "kettle teapot spoon") == []


async def test_matches_across_a_session_respect_the_limit(index: SearchIndex, tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path, f"ses_{number}", said("a kettle"), *answered("a teapot"), at=NOW + number)
    found = (await index.search(RecallQuery("kettle teapot", limit=3))).found
    assert [find.session_id for find in found] == ["ses_4", "ses_4", "ses_3"]


async def test_folders_and_sessions_narrow_a_search(index: SearchIndex, tmp_path: Path) -> None:
    write(tmp_path, "ses_a", said("one kettle"), cwd="/a")
    write(tmp_path, "ses_b", said("two kettles and a kettle"), cwd="/b")
    assert [find.session_id for find in await finds(index, "kettle", cwd="/b")] == ["ses_b"]
    assert await finds(index, "kettle", cwd="/c") == []
    assert [find.session_id for find in await finds(index, "kettle", excluded="ses_b")] == ["ses_a"]


async def test_the_newer_of_two_equal_matches_comes_first(index: SearchIndex, tmp_path: Path) -> None:
    present = time.time()
    for name, age_days in (("old", 400), ("new", 1), ("mid", 40)):
        write(tmp_path, f"ses_{name}", said("the kettle again"), at=present - age_days * DAY_S)
    assert [find.session_id for find in await finds(index, "kettle")] == ["ses_new", "ses_mid", "ses_old"]


async def test_one_session_does_not_hide_the_others(index: SearchIndex, tmp_path: Path) -> None:
    write(tmp_path, "ses_a", *(said("kettle") for _ in range(50)))
    write(tmp_path, "ses_b", said(f"a kettle among {'many ' * 50}"))
    found = [find.session_id for find in await finds(index, "kettle")]
    assert sorted(found) == ["ses_a"] * search_index.MAX_PER_SESSION + ["ses_b"]


async def test_a_record_is_followed_from_any_byte(tmp_path: Path) -> None:
    """However much of a record was written at the first read, the final index is the same."""
    whole = write(
        tmp_path,
        "ses_a",
        said("one kettle"),
        TitleChanged("First"),
        *answered("two kettles"),
        CallProposed("c", "x", "three", "other"),
        CallEnded("c", "x", "completed", "kettle"),
        TitleChanged("Second"),
        TextSaid("b", "four"),
        TextSaid("b", " kettle"),
        StepEnded("b"),
        ArchiveChanged(is_archived=True),
    ).read_bytes()
    path = tmp_path / "sessions" / "ses_a.jsonl"
    expected: list[object] | None = None
    ends = [number + 1 for number, byte in enumerate(whole) if byte == 10]
    for cut in sorted({*ends, *(end - 7 for end in ends)}):
        path.write_bytes(whole[:cut])
        index = SearchIndex(tmp_path, tmp_path / "sessions")
        await index.catch_up()
        path.write_bytes(whole)
        index.forget()  # On a slow machine, the folder would not be searched again so soon.
        await index.catch_up()
        index.close()
        connection = sqlite3.connect(tmp_path / "search.db")
        content = [
            *connection.execute("SELECT key, speaker, text FROM passages ORDER BY key"),
            *connection.execute("SELECT title, is_archived, seen_bytes, settled_bytes FROM records"),
        ]
        connection.close()
        check(tmp_path)
        assert content == (expected or content)
        expected = content
        for file in tmp_path.glob("search.db*"):
            file.unlink()
    assert expected
    assert expected[-1] == ("Second", 1, len(whole), len(whole))


async def test_text_written_by_another_process_is_read_at_the_next_search(tmp_path: Path) -> None:
    path = write(tmp_path, "ses_a", said("one"))
    indexes = [SearchIndex(tmp_path, tmp_path / "sessions") for _ in range(2)]
    for number, word in enumerate(("two", "three", "four")):
        add(path, said(word))
        for index in indexes:
            assert await places(index, word) == [("ses_a", number + 2, "user")]
    async with anyio.create_task_group() as tasks:
        add(path, said("five"))
        for index in indexes:
            tasks.start_soon(index.catch_up)
    assert await places(indexes[0], "five") == [("ses_a", 5, "user")]
    for index in indexes:
        index.close()
    check(tmp_path)


async def test_a_deleted_or_replaced_session_is_no_longer_found(index: SearchIndex, tmp_path: Path) -> None:
    path = write(tmp_path, "ses_a", said("kettle"))
    write(tmp_path, "ses_b", said("kettle"))
    assert len(await finds(index, "kettle")) == 2
    path.unlink()
    assert [find.session_id for find in await finds(index, "kettle")] == ["ses_b"]
    write(tmp_path, "ses_a", said("pot"), said("and much more than there was before"), at=NOW + 5)
    assert await places(index, "pot") == [("ses_a", 1, "user")]
    await index.forget_session("ses_b")
    (tmp_path / "sessions" / "ses_b.jsonl").unlink()
    assert await finds(index, "kettle") == []
    check(tmp_path)


async def test_a_search_returns_what_was_indexed_in_time_and_reports_the_remainder(
    index: SearchIndex, tmp_path: Path
) -> None:
    write(tmp_path, "ses_a", said("kettle"))
    none = await index.search(RecallQuery("kettle", max_wait_s=0))
    assert (none.found, none.unread_sessions) == ((), 1)
    some = await index.search(RecallQuery("kettle", max_wait_s=60))
    assert (len(some.found), some.unread_sessions) == (1, 0)


async def test_unreadable_records_are_skipped(index: SearchIndex, tmp_path: Path) -> None:
    write(tmp_path, "ses_a", said("kettle"))
    for name, content in (("ses_b", b""), ("ses_c", b"noise\n" * 3), ("ses_d", b'{"crc":1,"event":{}}\n')):
        (tmp_path / "sessions" / f"{name}.jsonl").write_bytes(content)
    for _ in range(2):
        result = await index.search(RecallQuery("kettle"))
        assert ([find.session_id for find in result.found], result.unread_sessions) == (["ses_a"], 0)


async def test_a_damaged_index_is_set_aside_reported_and_rebuilt(index: SearchIndex, tmp_path: Path) -> None:
    write(tmp_path, "ses_a", *(said(f"kettle {number} {'x' * 300}") for number in range(200)))
    assert await finds(index, "kettle")
    index.close()
    database = tmp_path / "search.db"
    content = bytearray(database.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    database.write_bytes(content)
    assert len(await finds(index, "kettle")) == search_index.MAX_PER_SESSION
    (news,) = index.news()
    assert "search.db.damaged-1" in news
    assert index.news() == []
    assert (tmp_path / "search.db.damaged-1").exists()


async def test_a_full_disk_affects_only_the_search_and_recovers(index: SearchIndex, tmp_path: Path) -> None:
    path = write(tmp_path, "ses_a", said("kettle"))
    await index.catch_up()
    await limit_pages(index, 20)
    add(path, *(said(f"word{number} " * 200) for number in range(200)))
    with pytest.raises(StorageError, match="full"):
        await finds(index, "word7")
    with pytest.raises(StorageError, match="full"):
        await index.follow(["ses_a"])
    await limit_pages(index, 1_000_000)
    assert await places(index, "word7") == [("ses_a", 9, "user")]
    check(tmp_path)


async def limit_pages(index: SearchIndex, count: int) -> None:
    """Limit the file to this many pages; SQLite then reports the same error as on a full disk."""
    await index.database.read(
        lambda connection: connection.execute(f"PRAGMA max_page_count = {count}").fetchone()
    )


async def test_rebuilding_reads_every_record_again(index: SearchIndex, tmp_path: Path) -> None:
    write(tmp_path, "ses_a", said("kettle"))
    await index.catch_up()
    connection = sqlite3.connect(tmp_path / "search.db")
    connection.execute("UPDATE records SET settled_bytes = 7, title = 'wrong'")
    connection.execute("DELETE FROM passages")
    connection.commit()
    connection.close()
    await index.rebuild()
    assert await places(index, "kettle") == [("ses_a", 1, "user")]
    check(tmp_path)


async def test_a_missing_record_is_skipped_once_and_not_at_every_search(
    index: SearchIndex, tmp_path: Path
) -> None:
    for session_id in ("ses_a", "ses_b"):
        write(tmp_path, session_id, said("Soup."))
    assert len(await finds(index, "soup")) == 2
    (tmp_path / "sessions" / "ses_b.jsonl").unlink()
    assert len(await finds(index, "soup")) == 1
    with sqlite3.connect(tmp_path / "search.db", isolation_level=None) as connection:
        connection.execute("BEGIN IMMEDIATE")  # Readers need not wait for it.
        assert len(await finds(index, "soup")) == 1
    connection.close()


async def test_many_sessions_within_a_second_are_numbered_without_querying_each_number(
    tmp_path: Path,
) -> None:
    written = [write(tmp_path, f"ses_{number:03}", said(f"kettle{number}")) for number in range(200)]
    asked: list[str] = []
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in ";\n".join(MIGRATIONS).split(";\n"):
            connection.execute(statement)
        read_records(connection, written[:1])  # Of an earlier transaction.
        connection.set_trace_callback(asked.append)
        read_records(connection, written[1:])
        connection.set_trace_callback(None)
        numbers = [number for (number,) in connection.execute("SELECT number FROM records ORDER BY number")]
    assert numbers == [int(NOW) + number for number in range(200)]
    assert len([statement for statement in asked if statement.startswith("SELECT 1 FROM records")]) <= 201
