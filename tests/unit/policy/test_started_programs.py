"""Programs started on found files: these must be the files that were checked, and contain no secrets."""

from pathlib import Path

import pytest

from hermes_acp.core.proposals import Runs
from hermes_acp.policy.policy_engine import Policy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with some source files and nothing unusual."""
    for name in ("src/a.py", "other/b.py", "a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("one\n")
    return tmp_path


def decision(folder: Path, command: str) -> str:
    """Check a command in a folder without any remembered answers."""
    place = str(folder)
    return (
        Policy("/nowhere/hermes", "/home/anna", ())
        .judge([Runs(command, place, (place,), confined=True)], "ask", ())
        .decision
    )


@pytest.mark.parametrize(
    "command",
    [
        "find . -name .env -exec cat {} +",
        "find . -iname '.ENV*' | xargs head",
        "find . -path '*/.ssh/*' -exec cat {} \\;",
        "find . -regex '.*\\.env$' | xargs cat",
        "fd -H '\\.pem$' | xargs cat",
        "cat $(find . -name 'id_rsa*')",
        "rg -u -g '{a.py,.env}' .",
        "grep -r . --include=.env",
    ],
)
def test_a_program_started_on_files_with_secrets_needs_approval(folder: Path, command: str) -> None:
    assert decision(folder, command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "find . -name src -exec grep -r . {} +",
        "cd other && git ls-files -o ../src | xargs cat",
        "find . -name .env",
        "find . -name '*.py' | xargs wc -l",
        "git ls-files | xargs nm",
        "rg -u -g '!.env' .",
    ],
)
def test_files_that_the_sandbox_hides_or_write_protects_need_no_approval(folder: Path, command: str) -> None:
    for name in (".env", "-oout", "@list", "a b.py"):
        (folder / name).write_text("KEY=hunter2\n")
    (folder / "src" / "link").symlink_to("/etc/shadow")
    assert decision(folder, command) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "echo one | grep -l --label=/etc/shadow one | xargs cat",
        "rg -l one --help | xargs sed -n p",
        "rg -l one --type-list | xargs cat",
    ],
)
def test_commands_that_write_more_than_file_names_need_approval(folder: Path, command: str) -> None:
    assert decision(folder, command) == "ask"


def test_a_search_without_a_pattern_is_checked(folder: Path) -> None:
    assert decision(folder, "find | xargs -0 cat") == "allow"


def test_a_long_run_of_blanks_in_a_script_does_not_stall_the_check(folder: Path) -> None:
    # Trying every possible split of these blanks would take minutes.
    assert decision(folder, f"sed -n '1,{' ' * 900}!Z' a.txt") == "ask"
    assert decision(folder, f"sed -n '1{' ' * 900}! p' a.txt") == "allow"
