"""The entries of `--allow`, in the notation of other agents."""

import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.policy_rules import Rule
from hermes_acp.core.proposals import Runs, Writes
from hermes_acp.frontends.cli.run.allowed_calls import allowing_rules
from hermes_acp.policy.policy_engine import Policy


def rules(*entries: str, folders: tuple[str, ...] = ("/work",)) -> list[Rule]:
    return [rule.rule("", is_users=True) for rule in allowing_rules(entries, folders)]


@pytest.mark.parametrize("entry", ["bash(pytest *)", "Bash(pytest:*)", "shell(pytest)", "terminal( pytest )"])
def test_a_command_entry_allows_its_first_words(entry: str) -> None:
    (rule,) = rules(entry)
    assert (rule.decision, rule.command, rule.source) == ("allow", ("pytest",), f"--allow {entry}")


def test_edits_are_allowed_in_the_folders_of_the_run() -> None:
    first, second = rules("edit", folders=("/work", "/odd [x]"))
    assert (first.path, first.access, second.path) == ("/work/**", "write", "/odd [[]x]/**")
    assert [rule.path for rule in rules("Edit(docs/**)")] == ["docs/**"]


def test_a_list_is_split_outside_parentheses() -> None:
    first, second, third = rules("Bash(npm run test:*),edit,WebFetch(domain:docs.python.org)")
    assert (first.command, second.access) == (("npm", "run", "test"), "write")
    assert (third.tool, third.host) == ("web_fetch", "docs.python.org")
    assert [rule.tool for rule in rules("mcp__github", "mcp__github__list")] == [
        "mcp__github__*",
        "mcp__github__list",
    ]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("bash", "names no command"),
        ("bash(*)", "names no command"),
        ("bash(pytest | tee x)", "without patterns"),
        ("execute_code", "its scripts can run anything"),
        ("bahs(ls)", "Did you mean bash?"),
        ("edit(", "cannot be understood"),
        ("", "cannot be understood"),
    ],
)
def test_invalid_entries_are_reported(entry: str, said: str) -> None:
    with pytest.raises(BadRequest, match=said.replace("(", r"\(")):
        rules(entry)


def decision(allowed: list[Rule], effect: Runs | Writes, denied: tuple[Rule, ...] = ()) -> tuple[str, str]:
    policy = Policy("/home/me/.hermes", rules=(*denied, *allowed))
    verdict = policy.judge([effect], "ask", (), tool="terminal", place="/work")
    return verdict.decision, verdict.confinement


def run(command: str) -> Runs:
    return Runs(command, "/work", roots=("/work",), confined=True)


def test_an_allowed_command_is_sandboxed_and_no_other_is_allowed() -> None:
    allowed = rules("bash(env *)", "edit")
    assert decision(allowed, run("env -u A make")) == ("ask", "usual")
    assert decision(rules("bash(make test)"), run("make test")) == ("allow", "must")
    assert decision(rules("bash(make test)"), run("make test; make deploy"))[0] == "ask"
    assert decision(allowed, Writes("/work/a.py"))[0] == "allow"
    for path in ("/etc/x", "/work/.git/config", "/work/.env"):
        assert decision(allowed, Writes(path))[0] == "ask"
    denied = (Rule("deny", command=("make",)),)
    assert decision(rules("bash(make test)"), run("make test"), denied)[0] == "deny"


def test_a_command_that_writes_needs_an_entry_for_files_too() -> None:
    touch = run("touch made.txt")
    assert decision(rules("bash(touch *)"), touch) == ("ask", "usual")
    assert decision(rules("edit"), touch) == ("ask", "usual")
    assert decision(rules("bash(touch *)", "edit"), touch) == ("allow", "must")
