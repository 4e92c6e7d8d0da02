"""Denied paths stay denied: in a folder that is searched, behind a link, on another machine."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from hermes_acp.core.event_types import Mode
from hermes_acp.core.policy_rules import Decision, Rule
from hermes_acp.core.proposals import Reads, Runs
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.shell import secret_exposure

RULES = (
    Rule("deny", path="vault/**"),
    Rule("ask", path="**/*.ledger"),
    Rule("deny", path="secret.md", access="write"),
)


def run(folder: Path, text: str, rules: Sequence[Rule] = RULES, mode: Mode = "ask") -> Decision:
    effect = Runs(text, str(folder), (str(folder),), confined=True)
    policy = Policy("/home/me/.hermes", "/home/me", ("/usr/bin", "/bin"), rules)
    return policy.judge([effect], mode, (), tool="terminal", place=str(folder)).decision


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path.resolve()
    for name in ("vault/deep/a", "sub/b.ledger", "open/c", "secret.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("grep -r x .", "deny"),
        ("grep -r x vault/deep", "deny"),
        ("grep -r x sub", "ask"),
        ("grep -r x open", "allow"),
        ("rg x", "deny"),
        ("find . -type f -exec cat {} +", "deny"),
        ("find . -name c", "allow"),
        ("ls -R", "allow"),
        ("git diff", "deny"),
        ("git diff --stat", "allow"),
        ("git diff --stat -p", "deny"),
        ("git diff HEAD -- open", "allow"),
        ("git diff -- open sub", "ask"),
        ("git diff open --", "deny"),
        ("git diff -- nowhere", "deny"),
        ("git show", "deny"),
        ("git show --name-only", "allow"),
        ("git log --oneline", "allow"),
        ("git log -p -1", "deny"),
        ("git log -U3", "deny"),
        ("git grep x", "deny"),
        ("git cat-file -p 4f1c2aa", "deny"),
        ("git status", "allow"),
        ("cat secret.md", "allow"),
        ("rm -rf vault", "deny"),
        ("mv vault open/v2 && cat open/v2/deep/a", "deny"),
        ("rm -rf open", "ask"),
        ("rm -r ./", "deny"),
    ],
)
def test_reading_many_files_is_checked_against_the_denied_ones(
    project: Path, text: str, decision: Decision
) -> None:
    assert run(project, text) == decision
    assert run(project, text, ()) == ("ask" if text.startswith(("rm", "mv")) else "allow")


def test_no_mode_allows_what_a_rule_denies(project: Path) -> None:
    for mode in ("accept_edits", "auto", "bypass", "plan"):
        assert run(project, "git show HEAD", mode=mode) == "deny"


def test_a_folder_that_cannot_be_searched_needs_approval(project: Path) -> None:
    for number in range(secret_exposure.MAX_VISITED + 1):
        (project / "open" / f"{number}.txt").touch()
    assert run(project, "grep -r x open", (Rule("deny", path="**/*.key"),)) == "ask"
    assert run(project, "grep -r x open", (Rule("deny", path="vault/**"),)) == "allow"


def read(policy: Policy, path: str | Path, place: str | Path, folder: str = "") -> Decision:
    return policy.judge(
        [Reads(str(path))], "bypass", (), tool="read_file", place=str(place), folder=folder
    ).decision


def test_a_rule_applies_to_the_targets_of_links(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    alias = tmp_path_factory.mktemp("aliases") / "alias"
    alias.symlink_to(project)
    (project / "door").symlink_to(project / "open")
    policy = Policy(
        "/home/me/.hermes",
        str(alias),
        (),
        (*RULES, Rule("deny", path="door/**"), Rule("deny", path="~/sub/*")),
    )
    assert read(policy, project / "vault/deep/a", alias) == "deny"
    assert read(policy, project / "open/c", project) == "deny"
    assert read(policy, project / "sub/b", project) == "deny"
    assert read(policy, project / "secret.md", project) == "allow"


def test_a_rule_without_a_location_applies_on_the_machine_with_the_files() -> None:
    policy = Policy("/home/me/.hermes", "/home/me", (), RULES)
    assert read(policy, "/srv/app/vault/a", "/home/me/app", "/srv/app") == "deny"
    assert read(policy, "/srv/app/open/a", "/home/me/app", "/srv/app") == "allow"
