"""The output of a run without an editor."""

import json
from typing import Any

import pytest

from hermes_acp.core.events import CallProposed, EditDrafted, TextSaid, TurnEnded, TurnStarted, UsageChanged
from hermes_acp.core.messages import Usage
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.frontends.cli.run.headless_session import RunReporter, UnattendedGate
from hermes_acp.policy.workspace_trust import TRUST_CARD_PARENT


def reporter(lines: list[str], output_format: str = "stream-json") -> RunReporter:
    return RunReporter("ses_1", output_format, lines.append, lambda note: None)


def read(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def test_drafts_of_edits_are_not_in_the_stream() -> None:
    """They are not recorded, and only editors show them."""
    lines: list[str] = []
    writer = reporter(lines)
    writer.show(EditDrafted("call_1", "/project/a.txt", "text"))
    writer.show(TextSaid("msg_1", "Done."))
    assert [each["type"] for each in read(lines)] == ["text_said"]


def test_the_result_has_the_cost_of_this_run_only() -> None:
    lines: list[str] = []
    writer = reporter(lines, "json")
    writer.show(UsageChanged(18, 20_000, 0.75))
    writer.finish(TurnEnded("turn_2", "done", steps=1, usage=Usage(11, 7), cost_usd=0.25), was_refused=False)
    (result,) = read(lines)
    assert (result["steps"], result["cost_usd"]) == (1, 0.25)


def test_the_result_says_how_the_turn_spent_its_time() -> None:
    lines: list[str] = []
    writer = reporter(lines, "json")
    for event in (TurnStarted("t"), TextSaid("a", "Hi"), TurnEnded("t", "done")):
        writer.show(event)
    writer.finish(TurnEnded("t", "done"), was_refused=False)
    (result,) = read(lines)
    assert result["times"].keys() == {
        "began_at",
        "total_s",
        "model_s",
        "first_token_s",
        "tools_s",
        "waiting_s",
    }
    assert result["times"]["first_token_s"] is not None


@pytest.mark.anyio
async def test_a_question_about_trust_is_not_a_refused_call() -> None:
    gate, scope = UnattendedGate(), PermissionScope()
    trust = CallProposed("t", "trust_workspace", "Trust it?", "execute", within=TRUST_CARD_PARENT)
    assert await gate.ask(trust, permission_scope=scope) == "unavailable"
    assert gate.needed == set()
    await gate.ask(CallProposed("c", "terminal", "Run make", "execute"), permission_scope=scope)
    assert gate.needed == {"c"}
