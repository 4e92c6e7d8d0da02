"""Policy for functions of the program that embeds the agent."""

import pytest

from hermes_acp.core.event_types import Mode
from hermes_acp.core.flow_labels import Exposure
from hermes_acp.core.policy_rules import Rule
from hermes_acp.core.proposals import Invokes
from hermes_acp.policy.information_flow import FlowState
from hermes_acp.policy.policy_engine import Policy

READ = FlowState(Exposure(untrusted=("https://example.org/",), private=("notes",)))


@pytest.mark.parametrize(
    ("effect", "mode", "flow", "decision"),
    [
        (Invokes("add"), "ask", FlowState(), "allow"),
        (Invokes("add"), "plan", FlowState(), "allow"),
        (Invokes("fetch", "network"), "ask", FlowState(), "allow"),
        (Invokes("fetch", "network"), "plan", FlowState(), "deny"),
        (Invokes("save", "files"), "plan", FlowState(), "deny"),
        (Invokes("add", approval="always"), "ask", FlowState(), "ask"),
        (Invokes("add", approval="always"), "auto", FlowState(), "ask"),
        (Invokes("add", approval="always"), "bypass", FlowState(), "allow"),
        (Invokes("fetch", "network"), "ask", READ, "ask"),
        (Invokes("start", "processes"), "ask", READ, "ask"),
        (Invokes("save", "files"), "ask", READ, "allow"),
        (Invokes("add"), "ask", READ, "allow"),
        (Invokes("fetch", "network", "never"), "ask", READ, "allow"),
    ],
)
def test_a_function_needs_approval_when_it_must(
    effect: Invokes, mode: Mode, flow: FlowState, decision: str
) -> None:
    assert (
        Policy("/home/u/.hermes").judge((effect,), mode, (), tool=effect.function, flow=flow).decision
        == decision
    )


def test_a_users_rule_decides_about_a_function() -> None:
    rules = (Rule("deny", tool="fetch", is_users=True),)
    verdict = Policy("/home/u/.hermes", rules=rules).judge((Invokes("fetch"),), "ask", (), tool="fetch")
    assert verdict.decision == "deny"


def test_the_result_of_a_function_that_reaches_anything_is_untrusted() -> None:
    policy = Policy("/home/u/.hermes")
    [source] = policy.sources_of((Invokes("fetch", "network"),), "/work")
    assert (source.label, source.name) == ("untrusted", "the result of fetch")
    assert policy.sources_of((Invokes("add"),), "/work") == ()
