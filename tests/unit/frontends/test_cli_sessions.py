"""hermes-acp sessions and hermes-acp doctor, as a person and a script see them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_acp.core.events import Event, SessionOpened, StepEnded, TextSaid, TitleChanged, UserSaid
from hermes_acp.core.messages import TextPart
from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.storage.session_store import SessionStore

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
    assert "#1 user\nWhere is kettle 0?\n" in out
    assert "#2 agent\nIn the kitchen." in out
    shown = json.loads(run("sessions", "show", "ses_0", "--json")[1])
    assert [passage["position"] for passage in shown["passages"]] == [1, 2]


@pytest.mark.parametrize("arguments", [("show", "ses_none"), ("show", "../x"), ("search", "***")])
def test_what_cannot_be_meant_is_exit_code_2(run: Run, arguments: tuple[str, ...]) -> None:
    code, out, err = run("sessions", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("hermes-acp: There is no")


def test_a_damaged_index_is_told_beside_the_list(run: Run, home: Path) -> None:
    (home / "index.db").write_bytes(b"no database " * 500)
    code, out, err = run("sessions", "list")
    assert (code, out.count("ses_")) == (0, 2)
    assert "index.db.damaged-1" in err


def test_doctor_finds_and_mends(run: Run, home: Path) -> None:
    assert run("doctor")[0] == 0
    (home / "search.db").write_bytes(b"no database " * 500)
    code, out, _ = run("doctor")
    assert code == 4
    assert "PROBLEM" in out
    assert "--rebuild" in out
    code, out, err = run("doctor", "--rebuild")
    assert (code, "PROBLEM" in out) == (0, False)
    assert "search.db.damaged-1" in err
