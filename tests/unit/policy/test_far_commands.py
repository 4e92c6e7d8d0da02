"""Commands on another machine, whose files nobody here can look at."""

import pytest

from hermes_acp.core.proposals import Runs
from hermes_acp.core.terms import Mode
from hermes_acp.policy.rules import Policy

FOLDER = "/srv/project"


def decision(command: str, mode: Mode = "ask", *, confined: bool = False) -> str:
    policy = Policy("/home/anna/.hermes", "/home/anna", ("/usr/bin", "/bin"))
    effect = Runs(command, FOLDER, (FOLDER,), confined=confined, is_far=True)
    return policy.judge([effect], mode, (), tool="terminal", place="/here", folder=FOLDER).decision


@pytest.mark.parametrize(
    "command",
    [
        "git status", "git log --oneline", "git -C sub diff", "cat notes.txt", "cat *", "grep -r KEY .", "rg KEY",
        "wc -l a.py", "head < notes.txt", "while read -r x; do echo \"$x\"; done < notes.txt", "cargo tree", "npm ls",
        "find . -name '*.py' -exec cat {} +", "find . -type f | xargs cat", "tail -n 5 log", "ls > names.txt",
        "docker compose ps", "diff a b",
    ],
)  # fmt: skip
def test_what_would_be_read_or_started_there_is_asked_about(command: str) -> None:
    assert decision(command) == "ask"
    assert decision(command, "plan") == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "ls -la", "pwd", "date", "uname -a", "whoami", "cd src && ls", "find . -name '*.py'", "echo hi | wc -c",
        "ls | grep py", "ps aux", "test -d src && echo yes", "df -h", "ls 2>/dev/null", "ls -R | head -n 20",
    ],
)  # fmt: skip
def test_what_shows_names_alone_or_no_file_at_all_is_not(command: str) -> None:
    assert decision(command) == "allow"


def test_a_line_written_through_a_redirection_there_is_asked_about_even_where_edits_are_accepted() -> None:
    assert decision("echo x > notes.txt", "accept_edits") == "ask"


def test_in_a_sandbox_there_they_are_judged_as_before() -> None:
    assert decision("git status", confined=True) == "allow"
    assert decision("cat notes.txt", confined=True) == "allow"


@pytest.mark.parametrize(
    "command", ["npm test", "python3 tool.py", "./build.sh", "make check", "bash run.sh"]
)
def test_what_runs_a_file_there_that_may_change_is_never_allowed_for_good(command: str) -> None:
    policy = Policy("/home/anna/.hermes", "/home/anna", ("/usr/bin", "/bin"))
    assert policy.grants_for([Runs(command, FOLDER, (FOLDER,), is_far=True)], allowed=True) == ()


def test_what_runs_no_file_there_is_remembered_word_for_word() -> None:
    policy = Policy("/home/anna/.hermes", "/home/anna", ("/usr/bin", "/bin"))
    effect = Runs("systemctl restart app", FOLDER, (FOLDER,), is_far=True)
    grants = policy.grants_for([effect], allowed=True)
    assert [grant.kind for grant in grants] == ["run"]
    assert policy.judge([effect], "ask", grants, tool="terminal", folder=FOLDER).decision == "allow"
