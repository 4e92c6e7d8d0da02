"""Data sets of sessions: what they contain, what they omit, and who is asked before they are written."""

import json
import os
import random
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hermes_acp.core.event_types import Diff, EditsJudged, HunkSpan
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CommandAnswered,
    Event,
    NoteAdded,
    PromptFrozen,
    SessionOpened,
    StepEnded,
    TextSaid,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import ResourcePart, TextPart, ToolCall
from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.storage.record_writer import write_record
from tests.unit.telemetry.secret_samples import in_context, key_block, tokens
from tests.unit.trajectories.rich_session import ID, write_rich_session

FORMATS = ("atif", "messages", "sharegpt", "dpo", "markdown", "html")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setenv("HOME", "/home/carolina")
    monkeypatch.setenv("OUR_API_KEY", "an0ther-w0rd-of-ours")
    return home


def write(home: Path, events: Sequence[Event], session_id: str = "ses_1") -> Path:
    opened = SessionOpened(session_id, "/home/carolina/shop", ("/home/carolina/shop",), 1.0)
    path = home / "sessions" / f"{session_id}.jsonl"
    write_record(path, [(event, 1000 + number) for number, event in enumerate((opened, *events))])
    return path


def export(target: Path, form: str, *ids: str) -> list[Any]:
    code = run_command(("sessions", "export", *ids, "--format", form, "--out", str(target), "--yes"))
    assert code == 0
    return [json.loads(line) for line in target.read_text().splitlines()]


def asked(said: str, turn: str) -> tuple[Event, ...]:
    return (TurnStarted(turn), UserSaid(f"u_{turn}", (TextPart(said),)))


def answered(text: str, turn: str) -> tuple[Event, ...]:
    name = f"m_{turn}"
    return (TextSaid(name, text), StepEnded(name, model="model-x"), TurnEnded(turn, "done"))


def planted() -> list[tuple[str, str]]:
    """Return 204 secrets, each with the text that contains it."""
    dice = random.Random(5)
    found: list[tuple[str, str]] = []
    while len(found) < 200:
        found += [(secret, text) for _, secret, text in in_context(dice)]
        found += [(token, f"see {token} there") for _, token in islice(tokens(dice), 40)]
    block = key_block(dice)
    return [*found[:203], (block.splitlines()[2], block)]


def test_no_planted_secret_is_in_any_format(home: Path, tmp_path: Path) -> None:
    secrets = planted()
    events: list[Event] = [TurnStarted("turn_1")]
    for number, (_, text) in enumerate(secrets):
        name = f"msg_{number}"
        match number % 8:
            case 0:
                events.append(UserSaid(name, (TextPart(text),)))
            case 1:
                events += [TextSaid(name, text[:7]), TextSaid(name, text[7:]), StepEnded(name)]
            case 2:
                arguments = json.dumps({"command": text})
                events.append(StepEnded(name, (ToolCall(f"c{number}", "terminal", arguments),)))
                events.append(CallProposed(f"c{number}", "terminal", text, "execute", {"command": text}))
                events.append(CallEnded(f"c{number}", "terminal", "completed", "ok"))
            case 3:
                events.append(CallEnded(f"c{number}", "terminal", "completed", f"out\n{text}"))
            case 4:
                diffs = (Diff("/home/carolina/x.py", None, text),)
                events.append(CallProposed(f"c{number}", "write_file", "Write x.py", "edit", diffs=diffs))
                events.append(CallEnded(f"c{number}", "write_file", "completed", "Written.", diffs=diffs))
            case 5:
                events.append(UserSaid(name, (ResourcePart("file:///home/carolina/a", text),)))
            case 6:
                events.append(NoteAdded(text))
            case _:
                events.append(CommandAnswered(name, "/status", text))
    token = next(token for _, token in tokens(random.Random(6)))
    events.append(CallEnded("cf", "read_file", "completed", f"/srv/{token}/a and an0ther-w0rd-of-ours"))
    events.append(TurnEnded("turn_1", "done"))
    path = write(home, events)
    assert any(secret in path.read_text() for secret, _ in secrets)
    for form in FORMATS:
        target = tmp_path / f"out.{form}"
        assert (
            run_command(("sessions", "export", "ses_1", "--format", form, "--out", str(target), "--yes")) == 0
        )
        text = target.read_text()
        left = [secret for secret, _ in secrets if secret in text or json.dumps(secret)[1:-1] in text]
        assert not left
        assert token not in text
        assert "an0ther-w0rd-of-ours" not in text
        assert "arolina" not in text


def test_conversations_have_the_form_that_trainers_read(home: Path, tmp_path: Path) -> None:
    write_rich_session(home)
    whole, child = export(tmp_path / "messages.jsonl", "messages", ID)
    roles = [message["role"] for message in whole["messages"]]
    assert roles[:3] == ["system", "user", "assistant"]
    answer = whole["messages"][2]
    assert answer["tool_calls"][0]["function"] == {"name": "read_file", "arguments": '{"path": "a.py"}'}
    answers = {each["tool_call_id"]: each["content"] for each in whole["messages"] if each["role"] == "tool"}
    assert answers["call_2"] == "Edited. Run the tests."
    assert answers["call_3"].startswith("[Left out")
    assert set(answers) == {call["id"] for call in answer["tool_calls"]}
    assert [tool["function"]["name"] for tool in whole["tools"]] == ["read_file", "mcp__web__look"]
    assert child["messages"][-1]["content"] == "Hi."
    line = export(tmp_path / "sharegpt.jsonl", "sharegpt", ID)[0]
    speakers = [turn["from"] for turn in line["conversations"]]
    assert speakers[:3] == ["human", "gpt", "function_call"]
    assert line["system"].startswith("You are an agent.")
    assert json.loads(line["tools"])[0]["name"] == "read_file"


def test_the_system_prompt_comes_first_although_it_is_recorded_after_the_first_prompt(
    home: Path, tmp_path: Path
) -> None:
    started, said = asked("Hello", "turn_1")
    events = [
        started,
        said,
        NoteAdded("[A note.]"),
        PromptFrozen(("You are an agent.",), 1.0),
        *answered("Hi.", "turn_1"),
        *asked("Bye", "turn_2"),
        *answered("See you.", "turn_2"),
    ]
    write(home, events)
    (line,) = export(tmp_path / "messages.jsonl", "messages", "ses_1")
    roles = [message["role"] for message in line["messages"]]
    assert roles == ["system", "user", "user", "assistant", "user", "assistant"]
    (line,) = export(tmp_path / "sharegpt.jsonl", "sharegpt", "ses_1")
    assert line["system"] == "You are an agent."
    assert [(turn["from"], turn["value"]) for turn in line["conversations"]] == [
        ("human", "Hello\n\n[A note.]"),
        ("gpt", "Hi."),
        ("human", "Bye"),
        ("gpt", "See you."),
    ]


def test_pairs_come_from_rejected_hunks_and_undone_turns(home: Path, tmp_path: Path) -> None:
    old, new = "one\ntwo\nthree\n", "ONE\ntwo\nTHREE\n"
    diff = Diff("/home/carolina/shop/a.py", old, new)
    call = ToolCall("call_1", "write_file", msgspec.json.encode({"path": "a.py"}).decode())
    events = [
        *asked("Shout", "turn_1"),
        StepEnded("m_1", (call,), model="model-x"),
        CallProposed("call_1", "write_file", "Write a.py", "edit", diffs=(diff,)),
        CallEnded("call_1", "write_file", "completed", "Written.", diffs=(diff,)),
        *answered("Done.", "turn_1"),
        EditsJudged("/home/carolina/shop/a.py", "rejected", (HunkSpan(2, 1, 2, 1),)),
        EditsJudged("/home/carolina/shop/a.py", "rejected", (HunkSpan(0, 1, 0, 1),)),
        *asked("Whisper", "turn_2"),
        *answered("LOUD", "turn_2"),
        NoteAdded("[Since then the user undid it.]", undone=("turn_2",)),
        *asked(" Whisper ", "turn_3"),
        *answered("quiet", "turn_3"),
        NoteAdded("[Since then the user undid it.]", undone=("turn_3",)),
        *asked("Something else", "turn_4"),
        *answered("yes", "turn_4"),
    ]
    write(home, events)
    hunk = export(tmp_path / "dpo.jsonl", "dpo", "ses_1")
    assert [pair["source"] for pair in hunk] == ["hunk"], "the undone turn was followed by another undone one"
    written = [
        json.loads(hunk[0][side][0]["tool_calls"][0]["function"]["arguments"])
        for side in ("chosen", "rejected")
    ]
    assert [each["content"] for each in written] == ["ONE\ntwo\nthree\n", new]
    assert hunk[0]["prompt"] == [{"role": "user", "content": "Shout"}]
    manifest = json.loads((tmp_path / "dpo.jsonl.manifest.json").read_text())
    assert manifest["unpaired_decisions"] == 3
    write(home, [*events[:11], *events[13:]], "ses_2")
    write(
        home,
        [event for event in events if not (isinstance(event, NoteAdded) and event.undone == ("turn_3",))],
        "ses_3",
    )
    (pair,) = [
        each for each in export(tmp_path / "undone.jsonl", "dpo", "ses_3") if each["source"] == "undone"
    ]
    assert pair["prompt"][-1] == {"role": "user", "content": "Whisper"}
    assert pair["chosen"][0]["content"] == "quiet"
    assert pair["rejected"][0]["content"] == "LOUD"


def test_nothing_is_written_without_confirmation(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rich_session(home)
    target = tmp_path / "out" / "set.jsonl"
    target.parent.mkdir()
    command = ("sessions", "export", ID, "--format", "messages", "--out", str(target))
    assert run_command(command) == 2
    shown = capsys.readouterr().err
    assert "1 session with 1 child agent: 3 prompts, 4 answers" in shown
    assert "Left out: 1 result with untrusted text" in shown
    assert "add --yes" in shown
    assert list(target.parent.iterdir()) == []


def test_the_preview_and_the_manifest_count_secrets_that_were_masked_when_recorded(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home, [*asked("Use [secret: api key] and [secret removed]", "turn_1"), *answered("No.", "turn_1")])
    (line,) = export(tmp_path / "out.jsonl", "messages", "ses_1")
    assert line["messages"][0]["content"].count("[secret") == 2
    shown = capsys.readouterr().err
    assert "Masked now: 0 secrets." in shown
    assert "The file contains 2 masked secrets" in shown
    manifest = json.loads((tmp_path / "out.jsonl.manifest.json").read_text())
    assert (manifest["counts"]["secrets"], manifest["masks_in_file"]) == (0, 2)


@pytest.mark.parametrize("form", [*FORMATS, "json"])
@pytest.mark.parametrize("is_replaced", [False, True])
def test_only_the_owner_can_read_an_export_and_its_manifest(
    home: Path, tmp_path: Path, form: str, *, is_replaced: bool
) -> None:
    write_rich_session(home)
    target = tmp_path / "out" / "set"
    target.parent.mkdir()
    if is_replaced:
        for name in ("set", "set.manifest.json"):
            (target.parent / name).write_text("open to all")
            (target.parent / name).chmod(0o644)
    command = ("sessions", "export", ID, "--format", form, "--out", str(target), "--yes", "--force")
    assert run_command(command) == 0
    written = [each for each in target.parent.iterdir() if each.read_text() != "open to all"]
    assert target in written
    assert {oct(each.stat().st_mode & 0o777) for each in written} == {"0o600"}


@pytest.mark.parametrize(
    ("flags", "code", "sentence"),
    [
        (("ses_x", "--format", "atif", "--out", "OUT", "--yes"), 2, "There is no session 'ses_x'"),
        (("../x", "--format", "atif", "--out", "OUT", "--yes"), 2, "There is no session"),
        ((ID, "--format", "atif", "--yes"), 2, "Add --out FILE"),
        ((ID, "--format", "atif", "--out", "-", "--yes"), 2, "A data set is written to a file"),
        (("--format", "atif", "--out", "OUT", "--yes"), 2, "No sessions were named"),
        ((ID, "--all", "--format", "atif", "--out", "OUT", "--yes"), 2, "No sessions were named"),
        (("--all", "--format", "markdown"), 2, "exports one session at a time"),
        ((ID, "--format", "atif", "--out", "TAKEN", "--yes"), 2, "already exists"),
        ((ID, "--format", "atif", "--out", "FOLDER", "--yes"), 2, "is a folder"),
        ((ID, "--format", "atif", "--out", "MISSING/out", "--yes"), 4, "cannot be written: No such file"),
    ],
)
def test_an_invalid_export_says_what_is_wrong(
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    flags: tuple[str, ...],
    code: int,
    sentence: str,
) -> None:
    write_rich_session(home)
    write(home, asked("x", "t"), "ses_other")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "TAKEN").write_text("mine")
    (tmp_path / "FOLDER").mkdir()
    placed = [
        str(tmp_path / flag) if flag.split("/")[0] in ("OUT", "TAKEN", "FOLDER", "MISSING") else flag
        for flag in flags
    ]
    assert run_command(("sessions", "export", *placed)) == code
    assert sentence in capsys.readouterr().err
    assert (tmp_path / "TAKEN").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["FOLDER", "TAKEN", "home"]


def test_a_damaged_and_a_running_session_are_exported_as_far_as_possible(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(home, [*asked("one", "turn_1"), *answered("two", "turn_1"), *asked("three", "turn_2")])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], lines[5].replace(b"done", b"DONE"), *lines[6:]]))
    write(home, asked("still running", "turn_1"), "ses_2")
    first, second = export(tmp_path / "out.jsonl", "atif", "ses_1", "ses_2")
    assert [step["message"] for step in first["steps"]] == ["one", "two"]
    assert [step["message"] for step in second["steps"]] == ["still running"]
    shown = capsys.readouterr().err
    assert "1 session with a damaged record" in shown
    assert "2 sessions with an unfinished turn" in shown


def test_an_html_page_shows_hostile_text_as_text(home: Path, tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script> ![x](http://evil.example/a.png) [y](javascript:alert(1))"
    write(home, [*asked(hostile, "turn_1"), *answered(hostile, "turn_1")])
    target = tmp_path / "page.html"
    assert run_command(("sessions", "export", "ses_1", "--format", "html", "-o", str(target))) == 0
    page = target.read_text()
    assert "<script" not in page
    assert "<img" not in page
    assert 'href="javascript' not in page
    assert "default-src 'none'" in page
