"""The output of `hermes-acp logs` and `hermes-acp usage`, for people and for scripts."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_acp.core.event_types import EventContext
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    HistoryCompacted,
    ModeChanged,
    PermissionAnswered,
    PermissionAsked,
    StepEnded,
    StepFailed,
    TextSaid,
    TurnEnded,
    TurnStarted,
    UsageChanged,
)
from hermes_acp.core.messages import RequestTiming, Usage
from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.memory.note_changes import NoteChange, NoteChanges
from hermes_acp.sessions.activity.log_entries import entries_of_record
from hermes_acp.storage.version_history import ChangeCause, open_history
from hermes_acp.telemetry.structured_log import SIZE_LIMIT_BYTES, StructuredLog, note_change
from tests.conversations.app_scene import RealClock
from tests.unit.storage.timed_records import said, write_timed

Run = Callable[..., tuple[int, str, str]]
DAY_S = 86_400
SECRET = "sk-proj-" + "a1B2c3D4e5" * 4


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*words: str) -> tuple[int, str, str]:
        code = run_command(words)
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return command


def turn(at: float, model: str = "large", cost_usd: float = 0.5) -> list[tuple[Event, float]]:
    """Return one turn: a failed request, an answered one, a call that was asked about, a summary."""
    used = Usage(1000, 50, 800)
    return [
        (TurnStarted("t1"), at),
        (said("a secret plan"), at),
        (StepFailed("m1", "too busy", True, "acme", model, "rate_limited", RequestTiming(at, 0.25)), at + 0.3),
        (TextSaid("m2", "private words"), at + 1),
        (StepEnded("m2", usage=used, provider="acme", model=model, timing=RequestTiming(at + 0.5, 0.75, 0.2)), at + 2),
        (UsageChanged(1050, 8000, cost_usd), at + 2),
        (CallProposed("c1", "terminal", "title", "execute"), at + 2),
        (PermissionAsked("c1"), at + 2),
        (PermissionAnswered("c1", "allow_once", by="Zed"), at + 6),
        (CallStarted("c1"), at + 6),
        (CallEnded("c1", "terminal", "failed", "x" * 400), at + 8),
        (HistoryCompacted("k", "summary", 3, usage=Usage(200, 10), provider="acme", model="small"), at + 9),
        (UsageChanged(300, 8000, cost_usd * 1.5), at + 9),
        (TurnEnded("t1", "done", steps=2, usage=used, cost_usd=cost_usd * 1.5), at + 10),
    ]  # fmt: skip


def test_a_log_tells_what_happened_and_how_long_it_took(home: Path, run: Run) -> None:
    at = time.time() - 3600
    write_timed(home, "ses_a", [(ModeChanged("auto"), at), *turn(at + 1)])
    code, output, errors = run("logs", "--json")
    assert (code, errors) == (0, "")
    entries = [json.loads(line) for line in output.splitlines()]
    reported = [(each["kind"], each["what"], each.get("outcome", ""), each.get("took_s")) for each in entries]
    assert reported == [
        ("state", "opened", "", None),
        ("state", "mode", "", None),
        ("state", "turn started", "", None),
        ("request", "large", "rate_limited", 0.25),
        ("request", "large", "", 0.75),
        ("approval", "terminal", "allow_once", 4.0),
        ("call", "terminal", "failed", 2.0),
        ("request", "small", "", 1.0),
        ("turn", "turn", "done", 10.0),
    ]
    assert entries[5]["who"] == "Zed"
    assert entries[4]["facts"]["cached_tokens"] == 800
    assert not [words for words in ("secret plan", "private words", "summary", "xxx") if words in output]
    assert [json.loads(line)["kind"] for line in run("logs", "--json", "--kind", "call")[1].splitlines()] == [
        "call"
    ]
    assert len(run("logs", "--limit", "2")[1].splitlines()) == 2
    assert "by Zed" in run("logs", "--kind", "approval", "--session", "ses_a")[1]
    assert run("logs", "--until", "2020-01-01") == (
        0,
        "",
        "hermes-acp: No matching entries.\n",
    )


def test_an_entry_has_exactly_the_time_of_its_event() -> None:
    began = 1_795_922_658.0
    for ms in range(1000):
        at = began + ms / 1000
        events = [(TurnStarted("t"), began), (TurnEnded("t", "done"), at)]
        assert [entry.at for entry in entries_of_record("ses_1", events, str)] == [began, at]


def test_only_the_records_that_can_match_are_read(home: Path, run: Run) -> None:
    at = time.time() - 40 * DAY_S
    old = write_timed(home, "ses_old", turn(at))
    write_timed(home, "ses_new", turn(at + 39 * DAY_S))
    damaged = old.read_bytes()[:-20]
    old.write_bytes(b"not a record\n" + damaged)
    os.utime(old, (at, at))
    assert "ses_old" not in run("logs", "--limit", "3")[1]
    assert "ses_new" in run("logs", "--since", "3d")[1]


def test_changes_of_memory_skills_tools_and_settings_are_reported(home: Path, run: Run) -> None:
    now = time.time()
    (home / "history").mkdir()
    NoteChanges(home).add(
        NoteChange(
            EventContext("ses_a", "t1", now - 50), "user", str(home / "memories" / "USER.md"), "", "likes tea"
        )
    )
    skill = home / "skills" / "brew"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("how")
    open_history(home, "skills", skill).keep(ChangeCause("agent", now - 40, "tried it", "ses_b"))
    note_change(home, "setting model", f"Zed {SECRET}")
    entries = [json.loads(line) for line in run("logs", "--json", "--kind", "change")[1].splitlines()]
    assert [(each["what"], each["outcome"], each["who"]) for each in entries[:2]] == [
        ("memory USER.md", "added", "agent"),
        ("skill brew", "version 1", "agent"),
    ]
    assert entries[2]["what"] == "setting model"
    assert SECRET not in json.dumps(entries)
    assert "likes tea" not in json.dumps(entries)
    assert (home / "logs" / "changes.jsonl").stat().st_mode & 0o777 == 0o600


def test_damaged_and_huge_logs_are_handled(home: Path, run: Run) -> None:
    log = StructuredLog(home, RealClock())
    log.note("model_call_failed", session="ses_a", decision="retry")
    with log.path.open("ab") as file:
        file.write(b'{"at": 1, "what"\n\xff\xfe\n[1]\n{"at": "soon", "what": "x"}\n' + b"x" * 200_000 + b"\n")
    (home / "sessions").mkdir()
    (home / "sessions" / "ses_pipe.jsonl").mkdir()
    code, output, errors = run("logs")
    assert code == 0
    assert output.count("model_call_failed") == 1
    assert "could not be read" in errors
    for _ in range(3 * SIZE_LIMIT_BYTES // 2000):
        log.note("model_call_failed", words="y" * 1900)
    kept = sum(path.stat().st_size for path in (home / "logs").glob("decisions*.jsonl"))
    assert kept < 2.1 * SIZE_LIMIT_BYTES
    assert len(run("logs", "--limit", "1000000")[1].splitlines()) > 400


def test_usage_is_summed_by_each_requested_group(home: Path, run: Run) -> None:
    now = time.time()
    write_timed(home, "ses_a", turn(now - 2 * DAY_S), cwd="/one")
    write_timed(home, "ses_b", turn(now - 1, "tiny", 0.25), cwd="/two")
    (home / "sessions" / "ses_b").mkdir()
    child = write_timed(home, "ses_b.c", turn(now - 1, "tiny", 0.25), cwd="/two")
    child.rename(home / "sessions" / "ses_b" / child.name)

    def sums(*words: str) -> dict[str, tuple[int, int, int, int, float]]:
        code, output, errors = run("usage", "--json", *words)
        assert (code, errors) == (0, "")
        return {
            each["name"]: (each["requests"], each["input_tokens"], each["cached_tokens"], each["output_tokens"],
                           round(each["cost_usd"], 4))
            for each in json.loads(output)["usage"]
        }  # fmt: skip

    assert [*sums().values()] == [(3, 1200, 800, 60, 0.75), (6, 2400, 1600, 120, 0.75)]
    assert sums("--by", "model") == {
        "acme/large": (2, 1000, 800, 50, 0.5),
        "acme/small": (3, 600, 0, 30, 0.5),
        "acme/tiny": (4, 2000, 1600, 100, 0.5),
    }
    days = sums("--by", "model-day")
    assert [name.partition(" ")[0] for name in days] == [
        "acme/large",
        "acme/small",
        "acme/small",
        "acme/tiny",
    ]
    assert sum(each[2] for each in days.values()) == 2400
    assert sums("--by", "workspace", "--since", "yesterday") == {"/two": (6, 2400, 1600, 120, 0.75)}
    assert sums("--by", "profile") == {"default": (9, 3600, 2400, 180, 1.5)}
    (tool,) = json.loads(run("usage", "--json", "--by", "tool")[1])["usage"]
    assert tool == {"name": "terminal", "calls": 3, "failed": 3, "took_s": 6.0, "result_tokens": 300}
    output = run("usage", "--by", "model")[1]
    lines = output.splitlines()
    assert lines[0].split() == ["model", "requests", "input", "cached", "output", "cost"]
    assert lines[-1].split() == ["total", "9", "3,600", "67%", "180", "$1.50"]
    assert lines[1].endswith("█" * 24)
    child.with_name("ses_b.jsonl").unlink()
    assert sums("--by", "workspace", "--since", "yesterday") == {"/two": (3, 1200, 800, 60, 0.375)}


def test_the_cost_of_a_model_without_a_price_is_unknown_and_not_zero(home: Path, run: Run) -> None:
    write_timed(home, "ses_a", turn(time.time() - 5, cost_usd=0.0))
    (workspace,) = json.loads(run("usage", "--json", "--by", "workspace")[1])["usage"]
    assert (workspace["requests"], workspace["cost_usd"]) == (3, None)


def test_a_damaged_usage_index_is_rebuilt(home: Path, run: Run) -> None:
    write_timed(home, "ses_a", turn(time.time() - 5))
    first = run("usage", "--by", "model")[1]
    (home / "usage.db").write_bytes(b"no database" * 1000)
    for name in ("usage.db-wal", "usage.db-shm"):
        (home / name).unlink(missing_ok=True)
    code, output, errors = run("usage", "--by", "model")
    assert (code, output) == (0, first)
    assert "damaged" in errors
