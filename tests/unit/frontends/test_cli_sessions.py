"""The output of `hermes-acp sessions` and `hermes-acp doctor`, for people and for scripts."""

import json
import re
from binascii import crc32
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from hermes_acp.core.event_types import Diff
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    Event,
    SessionOpened,
    StepEnded,
    TextSaid,
    TitleChanged,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import TextPart, Usage
from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.transcript import Transcript
from tests.unit.storage.timed_records import write_timed

Run = Callable[..., tuple[int, str, str]]
STEERING = "\x1b]0;owned\x07"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    store = SessionStore(tmp_path)
    for number, cwd in enumerate(("/projects/a", "/projects/b")):
        transcript = store.create(f"ses_{number}")
        events: tuple[Event, ...] = (
            SessionOpened(f"ses_{number}", cwd, (cwd,), 1_700_000_000.0),
            UserSaid("m", (TextPart(f"Where is kettle {number}?"),)),
            TitleChanged(f"Kettles {STEERING}"),
            TextSaid("m", f"In the kitchen.{STEERING}"),
            StepEnded("m"),
        )
        for event in events:
            transcript.append(event)
        transcript.close()
    return tmp_path


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("HERMES_HOME", str(home))

    def run(*arguments: str) -> tuple[int, str, str]:
        code = run_command(arguments)
        out, err = capsys.readouterr()
        assert "\x1b" not in out
        assert "\x07" not in out
        return code, out, err

    return run


def test_search_shows_who_said_it_and_where(run: Run) -> None:
    code, out, err = run("sessions", "search", "kettle", "0")
    assert (code, err) == (0, "")
    assert out.startswith("ses_0 #1 user")
    assert "Where is kettle 0?" in out
    assert run("sessions", "search", "teapot") == (1, "", "hermes-acp: Nothing was found.\n")


def test_search_as_json_is_for_scripts(run: Run) -> None:
    _, out, _ = run("sessions", "search", "kettle", "--workspace", "/projects/b", "--limit", "1", "--json")
    (find,) = json.loads(out)
    assert (find["session_id"], find["position"], find["speaker"]) == ("ses_1", 1, "user")
    assert [find["snippet"][start:end] for start, end in find["highlights"]] == ["kettle"]
    assert json.loads(run("sessions", "search", "teapot", "--json")[1]) == []


def test_search_and_list_are_limited_to_dates(run: Run) -> None:
    code, out, _ = run("sessions", "search", "--since", "1d", "--json")
    assert code == 0
    assert sorted(find["snippet"] for find in json.loads(out)) == ["Where is kettle 0?", "Where is kettle 1?"]
    assert all(find["at"] for find in json.loads(out))
    assert run("sessions", "search", "kettle", "--until", "2024-01-01")[0] == 1
    assert len(json.loads(run("sessions", "list", "--since", "2023-11", "--json")[1])) == 2
    code, out, err = run("sessions", "list", "--until", "2023-01")
    assert (code, out) == (0, "")
    assert "no sessions from that time" in err
    code, _, err = run("sessions", "search", "kettle", "--since", "03/04/2026")
    assert code == 2
    assert "Examples: 2026-03-04" in err
    assert run("sessions", "search")[0] == 2, "neither words nor dates"


def test_search_says_that_there_are_more_results(run: Run, home: Path) -> None:
    code, out, err = run("sessions", "search", "--since", "1d", "--limit", "1")
    assert (code, out.count("ses_")) == (0, 1)
    assert err == "hermes-acp: 1 of 2 results; --limit N shows more.\n"
    assert run("sessions", "search", "--since", "1d", "--limit", "2")[2] == ""
    code, out, err = run("sessions", "search", "kettle", "--limit", "1", "--json")
    assert (code, len(json.loads(out))) == (0, 1)
    assert err == "hermes-acp: 1 of at least 2 results; --limit N shows more.\n"
    for number in range(43):
        write_timed(home, f"ses_more_{number}", [(UserSaid("m", (TextPart("A teapot."),)), 100.0 + number)])
    since = ("sessions", "search", "--since", "1970-01-01", "--until", "1970-01-03")
    _, out, err = run(*since, "--json")
    assert len(json.loads(out)) == 20
    assert err == "hermes-acp: 20 of 43 results; --limit N shows more.\n"
    assert run(*since, "--limit", "43")[2] == ""


def test_list_and_show(run: Run) -> None:
    code, out, _ = run("sessions", "list", "--workspace", "/projects/a")
    assert code == 0
    assert out.count("ses_") == 1
    assert {entry["session_id"] for entry in json.loads(run("sessions", "list", "--json")[1])} == {
        "ses_0",
        "ses_1",
    }
    code, out, _ = run("sessions", "show", "ses_0")
    assert code == 0
    when = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    assert re.search(rf"\n#1 user  {when}\nWhere is kettle 0\?\n\n#2 agent  {when}\nIn the kitchen\.", out)
    shown = json.loads(run("sessions", "show", "ses_0", "--json")[1])
    assert [passage["position"] for passage in shown["passages"]] == [1, 2]
    assert all(datetime.fromisoformat(passage["at"]).tzinfo for passage in shown["passages"])


def test_show_says_why_a_turn_failed(run: Run, tmp_path: Path) -> None:
    sentence = f"api.example.com answered 401: no such key.{STEERING}"
    timed = [
        (TurnStarted("t"), 100.0),
        (UserSaid("m", (TextPart("Hello"),)), 100.0),
        (TurnEnded("t", "model_trouble", sentence), 101.0),
    ]
    write_timed(tmp_path, "ses_failed", timed)
    out = run("sessions", "show", "ses_failed")[1]
    assert "\nHello\n\nStopped: api.example.com answered 401: no such key." in out
    (turn,) = json.loads(run("sessions", "show", "ses_failed", "--json")[1])["turns"]
    assert (turn["reason"], turn["sentence"]) == ("model_trouble", sentence)


def test_show_says_how_each_turn_spent_its_time(run: Run, tmp_path: Path) -> None:
    timed = [
        (TurnStarted("t"), 100.0),
        (UserSaid("m", (TextPart("Hello"),)), 100.0),
        (TextSaid("a", "Hi."), 101.25),
        (StepEnded("a"), 102.0),
        (TurnEnded("t", "done"), 102.0),
        (UserSaid("m", (TextPart("Hello again"),)), 200.0),
    ]
    write_timed(tmp_path, "ses_timed", timed)
    code, out, _ = run("sessions", "show", "ses_timed")
    assert code == 0
    assert "\nHi.\n\nTurn: 2.0 s; model 2.0 s, first token after 1.2 s\n\n#3 user" in out
    (turn,) = json.loads(run("sessions", "show", "ses_timed", "--json")[1])["turns"]
    assert (turn["last_position"], turn["began_at"]) == (2, "1970-01-01T00:01:40Z")
    assert (turn["total_s"], turn["first_token_s"], turn["waiting_s"]) == (2.0, 1.25, 0.0)


def test_a_record_without_times_is_shown_without_times(run: Run, home: Path) -> None:
    record = home / "sessions" / "ses_0.jsonl"
    bodies = [msgspec.json.encode(event) for event in Transcript.read_events(record)]
    record.write_bytes(b"".join(b'{"crc":%d,"event":%b}\n' % (crc32(body), body) for body in bodies))
    code, out, _ = run("sessions", "show", "ses_0")
    assert code == 0
    assert "\n#1 user\nWhere is kettle 0?\n\n#2 agent\nIn the kitchen." in out
    assert json.loads(run("sessions", "show", "ses_0", "--json")[1])["passages"][0]["at"] is None


@pytest.mark.parametrize("arguments", [("show", "ses_none"), ("show", "../x"), ("search", "***")])
def test_invalid_arguments_are_exit_code_2(run: Run, arguments: tuple[str, ...]) -> None:
    code, out, err = run("sessions", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("hermes-acp: There is no")


def test_a_damaged_index_is_reported_beside_the_list(run: Run, home: Path) -> None:
    (home / "index.db").write_bytes(b"no database " * 500)
    code, out, err = run("sessions", "list")
    assert (code, out.count("ses_")) == (0, 2)
    assert "index.db.damaged-1" in err


def test_doctor_finds_and_repairs(run: Run, home: Path) -> None:
    assert run("doctor")[0] == 0
    (home / "search.db").write_bytes(b"no database " * 500)
    code, out, _ = run("doctor")
    assert code == 4
    assert "PROBLEM" in out
    assert "--rebuild" in out
    code, out, err = run("doctor", "--rebuild")
    assert (code, "PROBLEM" in out) == (0, False)
    assert "search.db.damaged-1" in err


def test_a_session_is_renamed_archived_and_shown_again(run: Run) -> None:
    assert run("sessions", "rename", "ses_0", "Kettles", "and", "cups")[0] == 0
    assert "Kettles and cups" in run("sessions")[1]
    code, out, _ = run("sessions", "archive", "ses_0")
    assert (code, "--archived" in out) == (0, True)
    assert "ses_0" not in run("sessions")[1]
    assert "ses_0" in run("sessions", "list", "--archived")[1]
    assert run("sessions", "unarchive", "ses_0")[0] == 0
    assert "ses_0" in run("sessions")[1]
    assert run("sessions", "rename", "ses_0", " ")[0] == 2


def test_a_session_is_deleted_only_after_confirmation(run: Run, home: Path) -> None:
    code, _, err = run("sessions", "delete", "ses_0")
    assert (code, "Add --yes." in err) == (2, True)
    code, out, _ = run("sessions", "delete", "ses_0", "--yes")
    assert (code, out) == (0, "ses_0 is deleted.\n")
    assert not (home / "sessions" / "ses_0.jsonl").exists()
    assert "ses_0" not in run("sessions", "list", "--archived")[1]
    assert "ses_0" not in run("sessions", "search", "kettle")[1]
    assert run("sessions", "delete", "ses_0", "--yes")[0] == 2
    code, _, err = run("sessions", "delete", "ses", "--yes")  # Only one session with this prefix is left.
    assert (code, "'ses' is only the beginning" in err) == (2, True)
    assert (home / "sessions" / "ses_1.jsonl").exists()


def test_an_open_session_is_neither_deleted_nor_renamed(run: Run, home: Path) -> None:
    transcript, _, _ = Transcript.reopen(home / "sessions" / "ses_0.jsonl")
    try:
        for words in (("delete", "ses_0", "--yes"), ("rename", "ses_0", "x"), ("archive", "ses_0")):
            code, _, err = run("sessions", *words)
            assert (code, "another hermes-acp process" in err) == (75, True), err
    finally:
        transcript.close()
    assert (home / "sessions" / "ses_0.jsonl").exists()


def test_a_unique_prefix_of_an_id_is_enough(run: Run, home: Path) -> None:
    transcript = SessionStore(home).create("other_1")
    transcript.append(SessionOpened("other_1", "/", ("/",), 1.0))
    transcript.close()
    assert run("sessions", "show", "oth")[0] == 0
    code, _, err = run("sessions", "show", "ses_")
    assert (code, "2 session IDs start with 'ses_'" in err) == (2, True)


def test_a_session_is_exported_without_secrets(run: Run, home: Path) -> None:
    key = "sk-ant-api03-" + "a1B2" * 20
    transcript, _, _ = Transcript.reopen(home / "sessions" / "ses_0.jsonl")
    diff = Diff("/projects/a/x.py", "one\n", "two\n")
    for event in (
        CallProposed("c1", "edit_file", "Edit x.py", "edit"),
        CallEnded("c1", "edit_file", "completed", "Edited.", diffs=(diff,)),
        CallEnded("c2", "terminal", "failed", f"key {key}\n```\n"),
        StepEnded("m2", usage=Usage(input_tokens=11, output_tokens=7), provider="scripted"),
    ):
        transcript.append(event)
    transcript.close()
    code, text, _ = run("sessions", "export", "ses_0")
    assert code == 0
    for part in (
        "# Kettles",
        "## You\n\nWhere is kettle 0?",
        "## Agent",
        "### Edit x.py: done",
        "-one\n+two",
    ):
        assert part in text
    assert "11 tokens in, 7 out" in text
    assert "````\nkey " in text
    assert key not in text
    code, out, _ = run("sessions", "export", "ses_0", "--format", "json", "-o", str(home / "out.json"))
    assert (code, out) == (0, "")
    document = json.loads((home / "out.json").read_text())
    assert (document["session_id"], document["input_tokens"], document["cost_usd"]) == ("ses_0", 11, None)
    assert [event["type"] for event in document["events"]][:2] == ["session_opened", "user_said"]
    assert key not in json.dumps(document)


def test_an_export_replaces_a_file_only_with_force(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text("mine")
    code, _, err = run("sessions", "export", "ses_0", "-o", str(file))
    assert (code, file.read_text()) == (2, "mine")
    assert f"{file} already exists. Name another file, or add --force to replace it." in err
    assert run("sessions", "export", "ses_0", "-o", str(file), "--force")[0] == 0
    assert file.read_text().startswith("# Kettles")


def test_an_export_to_a_dash_is_written_to_standard_output(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    code, text, _ = run("sessions", "export", "ses_0", "-o", "-")
    assert (code, text) == run("sessions", "export", "ses_0")[:2]
    assert text.startswith("# Kettles")
    assert list(folder.iterdir()) == []
