"""Findings of `doctor` in a home folder; checking changes nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hermes_acp.core.events import SessionOpened, TextSaid, TitleChanged, UserSaid
from hermes_acp.core.messages import TextPart
from hermes_acp.core.ports.recall_ports import RecallQuery
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.storage_checks import CheckResult, run_checks
from hermes_acp.storage.transcript import Transcript

pytestmark = pytest.mark.anyio


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    store = SessionStore(home)
    for name in ("ses_a", "ses_b"):
        transcript = store.create(name)
        transcript.append(SessionOpened(name, "/project", ("/project",), 1.0))
        transcript.append(TitleChanged("Title"))
        transcript.append(UserSaid("m", (TextPart("kettle"),)))
        transcript.close()
    await store.page(None, None)
    await store.words.search(RecallQuery("kettle"))
    store.close()
    return home


def reported(home: Path, level: str) -> list[str]:
    before = {
        path: path.stat().st_size for path in home.rglob("*") if path.suffix not in (".db-shm", ".db-wal")
    }
    findings: list[CheckResult] = list(run_checks(home))
    after = {path: path.stat().st_size for path in home.rglob("*") if path in before}
    assert after == before
    return [finding.text for finding in findings if finding.level == level]


def record(home: Path) -> Path:
    return home / "sessions" / "ses_a.jsonl"


async def test_an_intact_home_has_no_problems(home: Path) -> None:
    assert reported(home, "problem") == reported(home, "note") == []
    assert reported(home, "fine") == [
        f"{home} is writable.",
        "Only you can read the stored files.",
        "2 of 2 session records are intact.",
        "The list of sessions agrees with all 2 records.",
        "The search index holds all 4 passages.",
    ]


def test_a_missing_home_is_fine_and_a_file_in_its_place_is_not(tmp_path: Path) -> None:
    assert [finding.level for finding in run_checks(tmp_path / "none")] == ["fine"]
    (tmp_path / "file").write_text("")
    assert [finding.level for finding in run_checks(tmp_path / "file")] == ["problem"]
    assert reported(tmp_path, "problem") == []
    assert "No session is stored yet." in reported(tmp_path, "fine")


async def test_of_many_damaged_records_the_first_are_named_and_the_others_counted(home: Path) -> None:
    for number in range(30):
        (home / "sessions" / f"ses_{number}.jsonl").touch(0o600)
    problems = reported(home, "problem")
    assert sum("is empty" in problem for problem in problems) == 20
    assert "10 more records have similar problems." in problems
    assert "2 of 32 session records are intact." in reported(home, "fine")


async def test_permissions_of_others_are_reported_with_the_command_that_removes_them(home: Path) -> None:
    record(home).chmod(0o644)
    assert f"`chmod -R go= {home}`" in next(each.hint for each in run_checks(home) if each.level == "note")


async def test_permissions_of_others_are_named(home: Path) -> None:
    record(home).chmod(0o644)
    (note,) = reported(home, "note")
    assert str(record(home)) in note


async def test_a_torn_tail_is_a_note_but_not_while_somebody_writes(home: Path) -> None:
    with record(home).open("ab") as stream:
        stream.write(b'{"crc":1,"ev')
    assert any("12 torn bytes" in note for note in reported(home, "note"))
    transcript, _, _ = Transcript.reopen(record(home))
    with record(home).open("ab") as stream:
        stream.write(b'{"crc":1,"ev')
    assert not any("torn bytes" in note for note in reported(home, "note"))
    transcript.close()
    assert any("set aside earlier" in note for note in reported(home, "note"))


async def test_damage_in_the_middle_an_empty_record_and_a_wrong_name_are_problems(home: Path) -> None:
    content = bytearray(record(home).read_bytes())
    content[content.index(b"\n") + 20] ^= 1
    record(home).write_bytes(content)
    (home / "sessions" / "ses_empty.jsonl").write_bytes(b"")
    (home / "sessions" / "ses_c.jsonl").write_bytes((home / "sessions" / "ses_b.jsonl").read_bytes())
    problems = reported(home, "problem")
    assert any("damaged at byte" in text and "1 readable events" in text for text in problems)
    assert any("is empty" in text for text in problems)
    assert any("is the record of ses_b" in text for text in problems)


async def test_an_index_that_differs_from_the_records_is_a_problem_that_rebuilding_fixes(home: Path) -> None:
    for name, change in (
        ("index.db", "UPDATE sessions SET title = 'Other' WHERE id = 'ses_a'"),
        ("search.db", "DELETE FROM passages WHERE speaker = 'user'"),
    ):
        connection = sqlite3.connect(home / name)
        connection.execute(change)
        connection.commit()
        connection.close()
    problems = reported(home, "problem")
    assert any("1 with an old title" in text for text in problems)
    assert any("2 passages, of which 4 are indexed" in text for text in problems)
    await rebuild(home)
    assert reported(home, "problem") == []


async def test_damaged_indexes_are_problems_that_rebuilding_fixes(home: Path) -> None:
    for name in ("index.db", "search.db"):
        (home / name).write_bytes(b"no database " * 500)
    assert len(reported(home, "problem")) == 2
    await rebuild(home)
    assert reported(home, "problem") == []
    assert any("2 files" in text for text in reported(home, "note"))


async def test_text_not_indexed_yet_is_noted(home: Path) -> None:
    transcript, _, _ = Transcript.reopen(record(home))
    transcript.append(TextSaid("m", "more"))
    transcript.close()
    assert reported(home, "note") == ["1 records have new text, which the next search indexes first."]


async def rebuild(home: Path) -> None:
    store = SessionStore(home)
    await store.rebuild()
    store.close()


async def test_an_index_that_a_killed_process_had_just_created_is_not_damage(home: Path) -> None:
    for name in ("index.db", "search.db"):
        for leftover in home.glob(f"{name}*"):
            leftover.unlink()
        with closing(sqlite3.connect(home / name)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
    assert reported(home, "problem") == []
    assert sum("is incomplete" in fine for fine in reported(home, "fine")) == 2


@pytest.mark.parametrize("name", ["index.db", "search.db"])
async def test_an_index_half_written_by_a_killed_process_is_not_damage(
    home: Path, tmp_path: Path, name: str
) -> None:
    for leftover in home.glob(f"{name}*"):
        leftover.unlink()
    begun = tmp_path / "begun.db"
    with closing(sqlite3.connect(begun, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE rows (words)")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO rows VALUES (?)", [("x" * 4000,)] * 20)
        for suffix in ("", "-journal"):
            copy = home / f"{name}{suffix}"
            copy.touch(0o600)
            copy.write_bytes(begun.with_name(f"{begun.name}{suffix}").read_bytes())
        connection.execute("ROLLBACK")
    assert reported(home, "problem") == []
    assert sum("its next use rolls that back" in fine for fine in reported(home, "fine")) == 1
    store = SessionStore(home)
    assert len(await store.page(None, None)) == 2
    assert len((await store.words.search(RecallQuery("kettle"))).found) == 2
    store.close()


@pytest.mark.parametrize("name", ["index.db", "search.db"])
async def test_an_index_that_is_not_a_file_is_a_problem(home: Path, name: str) -> None:
    """No session could be listed or found, and no rebuild would fix it."""
    for file in home.glob(f"{name}*"):
        file.unlink()
    (home / name).mkdir(mode=0o700)
    (problem,) = reported(home, "problem")
    assert problem == f"{home / name} is not a file."
