"""Notes and skills kept for later sessions need approval in every workspace; no workspace can exempt them."""

import pytest

from hermes_acp.core.event_types import Mode
from hermes_acp.core.policy_rules import Decision, Rule
from hermes_acp.core.proposals import Remembers
from hermes_acp.policy.policy_engine import Policy

TOOL_FILE = Remembers("/home/me/.hermes/tools/helper.py", is_asked=True)


def judge(mode: Mode, *rules: Rule) -> Decision:
    policy = Policy("/home/me/.hermes", "/home/me", (), rules)
    return policy.judge([TOOL_FILE], mode, (), tool="tool_manage", place="/w").decision


@pytest.mark.parametrize(
    ("mode", "decision"),
    [("ask", "ask"), ("accept_edits", "ask"), ("auto", "ask"), ("plan", "deny"), ("bypass", "allow")],
)
def test_each_mode_except_bypass_asks(mode: Mode, decision: Decision) -> None:
    assert judge(mode) == decision


@pytest.mark.parametrize("tool", ["tool_manage", "*"])
def test_only_the_users_own_rule_allows_it(tool: str) -> None:
    assert judge("ask", Rule("allow", tool=tool, source="line 1")) == "allow"
    assert judge("ask", Rule("allow", tool=tool, source="line 1", is_users=False)) == "ask"
    assert judge("ask", Rule("deny", tool=tool, source="line 1", is_users=False)) == "deny"
