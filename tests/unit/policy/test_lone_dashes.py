"""A lone `-` before a here-document, which the shell grammar omits."""

import pytest

from hermes_acp.core.proposals import Runs
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.verdicts import Verdict

PROJECT = "/project"


@pytest.fixture(scope="module")
def policy() -> Policy:
    return Policy("/home/me/.hermes", "/home/me", ("/usr/bin", "/bin"))


def judge(policy: Policy, command: str) -> Verdict:
    return policy.judge([Runs(command, PROJECT, (PROJECT,), confined=True)], "ask", ())


@pytest.mark.parametrize(
    "command",
    [
        "python3 - <<EOF\nx\nEOF",
        "python3 - <<'EOF'\nx\nEOF",
        "python3 -  2>&1 <<EOF\nx\nEOF",
        "cd . && bash - <<E\nid\nE",
    ],
)
def test_a_script_on_standard_input_is_named_as_the_reason(policy: Policy, command: str) -> None:
    verdict = judge(policy, command)
    assert (verdict.decision, "parsed" in verdict.why) == ("ask", False), verdict.why


def test_a_lone_dash_before_a_here_document_is_a_word(policy: Policy) -> None:
    assert judge(policy, "cat - <<EOF\nx\nEOF").decision == "allow"
    assert judge(policy, 'rm " - <<EOF"').decision == "ask"
    assert judge(policy, "rm - <<EOF\nx\nEOF").decision == "ask"
