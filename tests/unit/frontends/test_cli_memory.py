"""`hermes-acp memory`: notes managed from the command line."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_acp.core.event_types import EventContext
from hermes_acp.core.ports.memory_ports import MemoryChange
from hermes_acp.frontends.cli.cli_main import run_command
from hermes_acp.memory.memory_store import MemoryStore

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    project.mkdir()

    def run(action: str, *arguments: str) -> tuple[int, str, str]:
        code = run_command(("memory", action, "--cwd", str(project), *arguments))
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_notes_are_added_shown_searched_edited_and_forgotten(run: Run) -> None:
    assert run("add", "Tests", "run with make")[0] == 0
    assert run("add", "--store", "user", "Likes short answers")[0] == 0
    code, out, _ = run("show")
    assert (code, "For this folder (--store workspace" in out, "  Tests run with make" in out) == (
        0,
        True,
        True,
    )
    assert ", by you" in out
    (found,) = json.loads(run("search", "TESTS", "make", "--json")[1])
    assert found.pop("notedAt") > 0
    assert found.pop("confidence") == 1.0
    assert found == {
        "store": "workspace",
        "text": "Tests run with make",
        "sessionId": "",
        "source": "written",
    }
    assert run("search", "kettle")[0] == 1
    assert run("edit", "Tests run", "Tests run with just")[0] == 0
    assert "with just" in run("show", "--store", "workspace")[1]
    assert run("forget", "short answers")[0] == 0
    assert "Likes" not in run("show")[1]


def test_a_note_is_shown_with_its_confidence_and_confirmed(run: Run, tmp_path: Path) -> None:
    memory = MemoryStore(tmp_path / "home")
    old = EventContext("ses_1", "turn_1", 1_700_000_000.0)
    found = MemoryChange("workspace", "add", "Tests run with make", source="found")
    memory.change_now(str(tmp_path / "project"), found, old)
    out = run("show")[1]
    assert "in session ses_1" in out
    assert "found by the agent, not said by you; confidence " in out
    assert "confidence 100%" not in out
    assert run("confirm", "nothing")[0] == 2
    assert run("confirm", "with make")[:2] == (0, "Confirmed: Tests run with make\n")
    assert "written by you; confidence 100%" in run("show")[1]


def test_the_same_rules_hold_as_for_the_agent(run: Run) -> None:
    key = "sk-ant-api03-" + "a1B2" * 20
    for words, said in (
        (("add", f"The key is {key}"), "looks like a secret"),
        (("add", "x" * 3_000), "the limit is 2,200"),
        (("add", " "), "The note is empty."),
        (("forget", "nothing"), "No note contains 'nothing'."),
    ):
        code, _, err = run(*words)
        assert (code, said in err, key in err) == (2, True, False), err


def test_a_passage_in_several_stores_needs_the_store(run: Run) -> None:
    run("add", "kettle here")
    run("add", "--store", "memory", "kettle everywhere")
    code, _, err = run("forget", "kettle")
    assert (code, "--store workspace or --store memory" in err) == (2, True)
    assert run("forget", "kettle", "--store", "memory")[0] == 0


def test_notes_are_exported(run: Run, tmp_path: Path) -> None:
    run("add", "Tests run with make")
    assert run("export")[1] == "# Notes for later sessions\n\n## For this folder\n\nTests run with make\n"
    assert run("export", "-o", "-") == run("export")
    assert run("export", "-o", str(tmp_path / "notes.md"))[0] == 0
    assert "make" in (tmp_path / "notes.md").read_text()


def test_an_export_replaces_a_file_only_on_request(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "mine.md"
    target.write_text("mine")
    run("add", "Tests run with make")
    code, _, err = run("export", "-o", str(target))
    assert (code, "already exists" in err, target.read_text()) == (2, True, "mine")
    assert run("export", "--force", "-o", str(target))[0] == 0
    assert "make" in target.read_text()
    assert run("export", "-o", "/dev/null")[0] == 0


def test_a_known_note_is_not_a_failure(run: Run) -> None:
    assert run("add", "Tests run with make")[0] == 0
    code, out, err = run("add", "Tests  run with make")
    assert (code, out, err) == (0, "This note already exists. Nothing was changed.\n", "")


def test_a_note_that_may_contradict_another_is_reported_with_how_to_remove_it(run: Run) -> None:
    earlier, later = "Tests run with make", "Tests run with make fast"
    assert run("add", earlier)[2] == ""
    assert run("add", "--store", "user", "Called Kim.")[2] == ""
    code, out, err = run("add", later)
    assert (code, out) == (0, "Added to the notes for this folder. The next session will see it.\n")
    assert f"an earlier note about the same subject (for this folder): {earlier}\n" in err
    assert "Kim" not in err
    command = shlex.split(err.rpartition("hermes-acp memory ")[2])
    assert command[:4] == ["forget", earlier, "--store", "workspace"]
    assert run(*command)[0] == 0  # Although the later note contains the earlier one.
    assert [each["text"] for each in json.loads(run("search", "make", "--json")[1])] == [later]
    reported = run("edit", "--store", "user", "Called Kim", "Runs tests with just.")[2]
    assert f"(for this folder): {later}\n" in reported


@pytest.mark.parametrize(
    ("store", "where"),
    [("workspace", "for this folder"), ("user", "about you"), ("memory", "for every folder")],
)
def test_a_change_says_in_a_sentence_which_notes_changed(run: Run, store: str, where: str) -> None:
    seen = "The next session will see it.\n"
    assert run("add", "--store", store, "kettle")[1] == f"Added to the notes {where}. {seen}"
    assert run("edit", "--store", store, "kettle", "teapot")[1] == f"Replaced in the notes {where}. {seen}"
    removed = f"Removed from the notes {where}. The next session will not see it.\n"
    assert run("forget", "--store", store, "teapot")[1] == removed
