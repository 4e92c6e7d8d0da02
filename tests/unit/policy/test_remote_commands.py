"""Commands on another machine, whose files cannot be examined here."""

import pytest

from hermes_acp.core.event_types import Mode
from hermes_acp.core.proposals import Runs
from hermes_acp.policy.policy_engine import Policy

FOLDER = "/srv/project"


def decision(command: str, mode: Mode = "ask", *, confined: bool = False) -> str:
    policy = Policy("/home/anna/.hermes", "/home/anna", ("/usr/bin", "/bin"))
    effect = Runs(command, FOLDER, (FOLDER,), confined=confined, is_remote=True)
    return policy.judge([effect], mode, (), tool="terminal", place="/here", folder=FOLDER).decision


@pytest.mark.parametrize(
    "command",
    [
        "git status", "cat notes.txt", "cat *", "grep -r KEY .", "wc -l a.py", "head < notes.txt", "cargo tree",
        "find . -name '*.py'", "ls | grep py", "ls 2>/dev/null", "cd src && ls", "tail -n 5 log", "ls > names.txt",
    ],
)  # fmt: skip
def test_a_command_that_no_remote_sandbox_confines_needs_approval(command: str) -> None:
    assert decision(command) == "ask"
    assert decision(command, "plan") in ("ask", "deny")


@pytest.mark.parametrize("command", ["ls -la", "ls src", "pwd", "date", "uname -a", "whoami", "echo hi"])
def test_a_command_that_shows_only_names_or_no_file_does_not_need_approval(command: str) -> None:
    assert decision(command) == "allow"


def test_writing_through_a_redirection_there_needs_approval_even_if_edits_are_accepted() -> None:
    assert decision("echo x > notes.txt", "accept_edits") == "ask"


def test_sandboxed_remote_commands_are_checked_as_before() -> None:
    assert decision("git status", confined=True) == "allow"
    assert decision("cat notes.txt", confined=True) == "allow"


@pytest.mark.parametrize("command", ["npm test", "python3 tool.py", "make check", "systemctl restart app"])
def test_a_command_that_no_sandbox_would_confine_later_is_never_allowed_permanently(command: str) -> None:
    policy = Policy("/home/anna/.hermes", "/home/anna", ("/usr/bin", "/bin"))
    assert policy.grants_for([Runs(command, FOLDER, (FOLDER,), is_remote=True)], allowed=True) == ()
