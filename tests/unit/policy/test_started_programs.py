"""Programs that are started on files: what is found must be all that they are started on, and only files to them."""

from pathlib import Path

import pytest

from hermes_acp.core.proposals import Runs
from hermes_acp.policy.rules import Policy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with sources beside each other, and nothing odd in it."""
    for name in ("src/a.py", "other/b.py", "a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("one\n")
    return tmp_path


def decision(folder: Path, command: str) -> str:
    """Judge a command in a folder that nobody answered anything in."""
    place = str(folder)
    return (
        Policy("/nowhere/hermes", "/home/anna", ())
        .judge([Runs(command, place, (place,))], "ask", ())
        .decision
    )


@pytest.mark.parametrize(
    "command",
    [
        "find . -name src -exec grep -r . {} +",
        "find . -name src | xargs grep -r .",
        "find . -name src -print0 | xargs -0 rg --hidden .",
        "cd other && git ls-files -o ../src | xargs cat",
        "cd other && find ../src ../a.txt | xargs cat",
    ],
)
def test_what_looks_through_folders_reads_all_that_is_in_them(folder: Path, command: str) -> None:
    assert decision(folder, command) == "allow"
    (folder / "src" / ".env").write_text("KEY=hunter2\n")
    assert decision(folder, command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "echo one | grep -l --label=/etc/shadow one | xargs cat",
        "rg -l one --help | xargs sed -n p",
        "rg -l one --type-list | xargs cat",
    ],
)
def test_what_writes_more_than_names_of_files_is_asked_about(folder: Path, command: str) -> None:
    assert decision(folder, command) == "ask"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("@list", "git ls-files | xargs nm"),
        ("@list", "rg -l one | xargs strings"),
        ("+!id", "rg -l one | xargs less"),
    ],
)
def test_a_name_that_is_more_than_a_file_to_the_program_is_asked_about(
    folder: Path, name: str, command: str
) -> None:
    assert decision(folder, command) == "allow"
    (folder / name).write_text("one\n")
    assert decision(folder, command) == "ask"
    assert decision(folder, "rg -l one | xargs wc -l") == "allow"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("@d", "find @d -name a -exec nm {} +"),
        ("@d", "find @d -name a -print0 | xargs -0 nm"),
        ("x ", "rg -l one 'x ' | xargs cat"),
        ("-i", "rg -l one src -- -i | xargs sed -n p"),
    ],
)
def test_a_folder_with_an_odd_name_is_asked_about(folder: Path, name: str, command: str) -> None:
    (folder / name).mkdir()
    (folder / name / "a").write_text("one\n")
    assert decision(folder, command) == "ask"


def test_a_search_without_a_word_is_judged(folder: Path) -> None:
    assert decision(folder, "find | xargs -0 cat") == "allow"


def test_a_long_row_of_blanks_in_a_script_holds_nobody_up(folder: Path) -> None:
    # Tried in every share, these would take minutes.
    assert decision(folder, f"sed -n '1,{' ' * 900}!Z' a.txt") == "ask"
    assert decision(folder, f"sed -n '1{' ' * 900}! p' a.txt") == "allow"


@pytest.mark.parametrize(
    "told", ["worktree = /etc", 'worktree = "/etc"', "worktree = ../../..", "WorkTree=/"]
)
def test_a_repository_whose_files_are_elsewhere_is_not_read_by_git_unasked(folder: Path, told: str) -> None:
    (folder / ".git" / "modules" / "src").mkdir(parents=True)
    (folder / ".git" / "config").write_text("[core]\n\tbare = false\n")
    (folder / ".git" / "modules" / "src" / "config").write_text("[core]\n\tworktree = ../../../src\n")
    assert decision(folder, "git diff") == "allow"
    (folder / ".git" / "config").write_text(f"[core] {told}\n")
    assert decision(folder, "git diff") == "ask"
