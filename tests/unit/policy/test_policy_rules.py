"""Decisions of the policy about effects, in each mode and with grants."""

from pathlib import Path

import pytest

from hermes_acp.core.event_types import Grant, Mode
from hermes_acp.core.policy_rules import Decision
from hermes_acp.core.proposals import Calls, Deletes, Effect, Presses, Reaches, Reads, Recalls, Runs, Writes
from hermes_acp.policy.grants import describe_grants, prefix_subject, run_subject
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.sensitive_names import holds_secrets, is_protected

POLICY = Policy("/home/me/.hermes")
PLAIN = "/project/src/a.py"
GUARDED = "/project/.git/hooks/pre-commit"
TEST = Runs("./check --all", "/project")
LOOK = Runs("ls src | head -3", "/project", confined=True)
CALL = Calls("tracker", "delete")
HINTED_CALL = Calls("tracker", "search", has_read_only_hint=True)
KEPT_IN = Runs("./check --all", "/project", confined=True)
LEAVING = Runs("./check --all", "/project", confined=True, leaves_sandbox=True)
MODES: tuple[Mode, ...] = ("ask", "accept_edits", "plan", "auto", "bypass")

TABLE: tuple[tuple[Effect, tuple[Decision, ...]], ...] = (
    (Reads(PLAIN), ("allow", "allow", "allow", "allow", "allow")),
    (Reads("/project/.env"), ("ask", "ask", "ask", "ask", "allow")),
    (Reads("/project/.env.example"), ("allow", "allow", "allow", "allow", "allow")),
    (Reads("/home/me/.hermes/.env"), ("deny", "deny", "deny", "deny", "deny")),
    (Writes(PLAIN), ("ask", "allow", "deny", "allow", "allow")),
    (Writes(GUARDED), ("ask", "ask", "deny", "ask", "allow")),
    (Writes("/home/me/.hermes/config.yaml"), ("deny", "deny", "deny", "deny", "deny")),
    (Writes("/home/me/.hermes-notes/a"), ("ask", "allow", "deny", "allow", "allow")),
    (TEST, ("ask", "ask", "deny", "ask", "allow")),
    (KEPT_IN, ("ask", "ask", "deny", "allow", "allow")),
    (LEAVING, ("ask", "ask", "deny", "ask", "allow")),
    (Runs("sudo ls", "/project", confined=True), ("ask", "ask", "deny", "ask", "allow")),
    (Runs("rm -rf /", "/project", confined=True), ("deny", "deny", "deny", "deny", "deny")),
    (LOOK, ("allow", "allow", "allow", "allow", "allow")),
    (CALL, ("ask", "ask", "deny", "allow", "allow")),
    (HINTED_CALL, ("ask", "ask", "ask", "allow", "allow")),
    (Deletes(PLAIN), ("ask", "ask", "deny", "allow", "allow")),
    (Reaches("docs.example", "https://docs.example/a"), ("ask", "ask", "ask", "ask", "allow")),
    (Presses(), ("allow", "allow", "deny", "allow", "allow")),
    (Presses(sends_text=True, uploads=PLAIN, host="a.test"), ("ask", "ask", "deny", "ask", "allow")),
    (Recalls(), ("ask", "ask", "ask", "allow", "allow")),
)


@pytest.mark.parametrize(("effect", "decisions"), TABLE, ids=lambda value: str(value) if value else None)
def test_each_effect_in_each_mode(effect: Effect, decisions: tuple[Decision, ...]) -> None:
    assert tuple(POLICY.judge([effect], mode, ()).decision for mode in MODES) == decisions
    for mode, decision in zip(MODES, decisions, strict=True):
        assert bool(POLICY.judge([effect], mode, ()).why) is (decision != "allow")


@pytest.mark.parametrize(
    ("mode", "decision"), [*zip(MODES, ("ask", "ask", "deny", "ask", "allow"), strict=True)]
)
def test_a_protected_file_needs_approval_wherever_edits_do_not(
    tmp_path: Path, mode: Mode, decision: Decision
) -> None:
    path = tmp_path / "generated.py"
    path.write_text("pass")
    path.chmod(0o444)
    verdict = POLICY.judge([Writes(str(path))], mode, ())
    assert verdict.decision == decision
    assert ("is read-only (mode 0444)" in verdict.why) == (decision == "ask")
    assert "read-only (mode" not in POLICY.judge([Writes(str(tmp_path / "other.py"))], mode, ()).why
    granted = POLICY.judge([Writes(str(path))], mode, [Grant("write", str(path), allowed=True)])
    assert granted.decision == ("deny" if mode == "plan" else "allow")
    path.chmod(0o644)
    assert POLICY.judge([Writes(str(path))], "auto", ()).decision == "allow"


def test_files_of_another_machine_are_not_checked_by_this_one(tmp_path: Path) -> None:
    path = tmp_path / "generated.py"
    path.write_text("pass")
    path.chmod(0o444)
    assert POLICY.judge([Writes(str(path))], "auto", (), folder="/there").decision == "allow"


def test_without_effects_no_approval_is_needed() -> None:
    assert all(POLICY.judge([], mode, ()).decision == "allow" for mode in MODES)


def test_the_strictest_effect_decides() -> None:
    both = [Reads(PLAIN), Writes(PLAIN), Writes("/home/me/.hermes/x")]
    assert POLICY.judge(both, "ask", ()).decision == "deny"
    assert POLICY.judge(both[:2], "ask", ()).decision == "ask"


@pytest.mark.parametrize("allowed", [True, False])
def test_a_grant_applies_to_exactly_its_subject(allowed: bool) -> None:
    grants = (
        *POLICY.grants_for([Writes(PLAIN)], allowed=allowed),
        *POLICY.grants_for([KEPT_IN], allowed=allowed),
    )
    expected: Decision = "allow" if allowed else "deny"
    assert POLICY.judge([Writes(PLAIN)], "ask", grants).decision == expected
    assert POLICY.judge([KEPT_IN], "ask", grants).decision == expected
    for other in (
        Writes(PLAIN + "x"),
        Runs("./check --all ", "/project", confined=True),
        Runs("./check --all", "/project/sub", confined=True),
    ):
        assert POLICY.judge([other], "ask", grants).decision == "ask"


def test_no_grant_overrides_plan_mode_or_a_protected_path() -> None:
    grants = (
        Grant("write", PLAIN, True),
        Grant("write", GUARDED, True),
        Grant("run", run_subject(TEST), True),
    )
    for effect in (Writes(PLAIN), Writes(GUARDED), TEST):
        assert POLICY.judge([effect], "plan", grants).decision == "deny"
    assert POLICY.judge([Writes(GUARDED)], "accept_edits", grants).decision == "ask"
    assert POLICY.grants_for([Writes(GUARDED)], allowed=True) == ()


def test_a_permanent_refusal_takes_precedence_over_every_mode() -> None:
    grants = (*POLICY.grants_for([Writes(GUARDED)], allowed=False), *POLICY.grants_for([TEST], allowed=False))
    for mode in MODES:
        assert POLICY.judge([Writes(GUARDED)], mode, grants).decision == "deny"
        assert POLICY.judge([TEST], mode, grants).decision == "deny"


def test_reading_offers_no_permanent_grant() -> None:
    assert POLICY.grants_for([Reads("/project/.env")], allowed=True) == ()


PROTECTED = (
    ".git/hooks/x", ".git", "sub/.GIT/config", "AGENTS.md", "docs/agents.MD", ".vscode/tasks.json", ".envrc",
    ".github/workflows/ci.yml", "node/.npmrc", ".ssh/authorized_keys", "CLAUDE.md", ".cursorrules", ".zed/x",
    ".git /hooks/x", ".git./config", ".g\u200bit/hooks/x", "AGENTS.md.", ".kiro/x", "opencode.json", ".github /x",
    "lefthook.yml", ".Rprofile", ".pnpmfile.cjs", ".mvn/extensions.xml", ".hg/hgrc",
)  # fmt: skip
FREE = ("git/hooks/x", "AGENTS.md.txt", "vscode/tasks.json", "agents", "a.git/x", "README.md", "envrc")


@pytest.mark.parametrize("name", PROTECTED)
def test_protected_paths(name: str) -> None:
    assert is_protected(f"/project/{name}")


@pytest.mark.parametrize("name", FREE)
def test_unprotected_paths(name: str) -> None:
    assert not is_protected(f"/project/{name}")


def test_files_that_contain_secrets() -> None:
    for name in (".env", ".ENV", ".env.local", "key.pem", "id_rsa", ".netrc"):
        assert holds_secrets(f"/project/{name}")
    for name in (".env.example", "id_rsa.pub", "env", "pem.txt"):
        assert not holds_secrets(f"/project/{name}")


def test_a_permanent_answer_is_for_one_tool_of_one_server() -> None:
    granted = POLICY.grants_for([CALL], allowed=True)
    assert POLICY.judge([CALL], "ask", granted).decision == "allow"
    assert POLICY.judge([HINTED_CALL], "ask", granted).decision == "ask"
    assert POLICY.judge([Calls("other", CALL.tool)], "ask", granted).decision == "ask"
    assert POLICY.judge([CALL], "plan", granted).decision == "deny"
    assert POLICY.judge([CALL], "auto", POLICY.grants_for([CALL], allowed=False)).decision == "deny"


def test_a_permanent_answer_expires_when_a_server_changes_its_tools_description() -> None:
    honest, changed = Calls("s", "t", state="server one"), Calls("s", "t", state="server two")
    granted = POLICY.grants_for([honest], allowed=True)
    assert POLICY.judge([honest], "ask", granted).decision == "allow"
    assert POLICY.judge([changed], "ask", granted).decision == "ask"
    refused = POLICY.grants_for([honest], allowed=False)
    assert POLICY.judge([changed], "ask", refused).decision == "deny"


def test_a_deletion_is_never_allowed_permanently_but_can_be_refused_permanently() -> None:
    assert POLICY.grants_for([Deletes("/w/a.py")], allowed=True) == ()
    refused = POLICY.grants_for([Deletes("/w/a.py")], allowed=False)
    assert POLICY.judge([Deletes("/w/a.py")], "auto", refused).decision == "deny"


def test_a_grant_for_a_host_covers_no_other_host() -> None:
    allowed = POLICY.grants_for([Reaches("docs.example", "https://docs.example/a")], allowed=True)
    assert (
        POLICY.judge([Reaches("docs.example", "https://docs.example/b")], "ask", allowed).decision == "allow"
    )
    assert POLICY.judge([Reaches("evil.example", "https://evil.example/")], "ask", allowed).decision == "ask"


def test_an_option_names_everything_it_grants() -> None:
    path = f"{'deep/' * 30}folder/a.py"
    assert describe_grants([Grant("write", f"/project/{path}", True)], "/project") == f"changes to {path}"
    files = [Grant("write", f"/project/{name}", True) for name in "abcde"]
    assert describe_grants(files, "/project") == "changes to these 5 files"
    commands = [Grant("run", prefix_subject("/project", name), True) for name in ("a", "b", "c", "d")]
    assert describe_grants(commands, "/project") == "`a …` and `b …` and `c …` and `d …`"


@pytest.mark.parametrize("command", ["make " + "x" * 80, "cat <<'EOF'\nrm -rf build\nEOF"])
def test_an_option_never_shortens_a_command_and_refers_to_the_question_instead(command: str) -> None:
    grant = Grant("run", f"/project/sub\0{command}", True)
    assert describe_grants([grant], "/project") == "exactly this command in sub"
    short = Grant("run", "/project\0python3 x.py", True)
    assert describe_grants([short], "/project") == "`python3 x.py`"
