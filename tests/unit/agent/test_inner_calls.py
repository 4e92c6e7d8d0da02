"""Calls that a running call makes: checked, shown and recorded like any other, but not part of the history."""

import json
from collections.abc import Mapping

import anyio
import pytest

from hermes_acp.agent.calls.nested_calls import NestedCalls
from hermes_acp.agent.loop.turn_loop import run_turn
from hermes_acp.core.errors import InternalError
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    SessionOpened,
    StepEnded,
    TurnStarted,
)
from hermes_acp.core.messages import AssistantMessage, ToolCall, ToolMessage
from hermes_acp.core.proposals import Progress, Result
from hermes_acp.core.record.interrupted_calls import IN_DOUBT, NOT_STARTED
from hermes_acp.core.record.session_record import Record
from tests.conversations.scripted_provider import ScriptedProvider, call, step
from tests.unit.agent.fake_tools import FakeTool, crash, fail, hang, succeed
from tests.unit.agent.turns import MemoryJournal, open_turn
from tests.unit.tools.tool_calling import Report

pytestmark = pytest.mark.anyio
INNER = NestedCalls()


async def calls_others(progress: Progress, arguments: Mapping[str, object]) -> Result:
    """Make the calls that the arguments name, and report the result of each."""
    names = str(arguments["calls"]).split()
    results = [await INNER.call(name, '{"n": 1}', progress) for name in names]
    return Result(json.dumps([[result.text, result.is_error] for result in results]))


async def lists(progress: Progress, arguments: Mapping[str, object]) -> Result:
    return Result(" ".join(INNER.names(progress)))


async def run(*names: str) -> tuple[MemoryJournal, Record, list[CallProposed], list[CallEnded]]:
    provider, journal = ScriptedProvider(), MemoryJournal()
    provider.plays(step(call("outer", "c1", calls=" ".join(names))), step("Done."))
    tools = {
        "outer": FakeTool("outer", calls_others),
        "good": FakeTool("good", succeed),
        "bad": FakeTool("bad", fail),
        "ugly": FakeTool("ugly", crash),
    }
    turn = open_turn(provider, journal, tools=tools)
    assert (await run_turn(turn)).reason == "done"
    cards = [event for event in journal.events if isinstance(event, CallProposed)]
    ends = [event for event in journal.events if isinstance(event, CallEnded)]
    return journal, turn.record, cards, ends


async def test_each_inner_call_has_its_card_and_outcome_within_the_outer_call() -> None:
    _, record, cards, ends = await run("good", "good", "bad", "ugly", "none")
    assert [card.name for card in cards] == ["outer", "good", "good", "bad", "ugly", "none"]
    assert {card.within for card in cards[1:]} == {end.within for end in ends[:-1]} == {"c1"}
    assert [end.status for end in ends] == [
        "completed",
        "completed",
        "failed",
        "failed",
        "failed",
        "completed",
    ]
    reported = json.loads(ends[-1].text)
    assert reported[0] == reported[1] == ["Done: {'n': 1}", False]
    assert [is_error for _, is_error in reported[2:]] == [True, True, True]
    outcomes = [message for message in record.messages if isinstance(message, ToolMessage)]
    assert [message.call_id for message in outcomes] == ["c1"]
    assert not any(isinstance(end, CallEnded) for end in record.closing_events())


async def test_only_the_model_itself_asks_delegates_and_runs_scripts() -> None:
    provider, journal = ScriptedProvider(), MemoryJournal()
    provider.plays(step(call("outer", "c1")), step("Done."))
    names = ("ask_user", "delegate", "execute_code", "good")
    tools = {name: FakeTool(name, succeed) for name in names} | {"outer": FakeTool("outer", lists)}
    await run_turn(open_turn(provider, journal, tools=tools))
    (end,) = [event for event in journal.events if isinstance(event, CallEnded)]
    assert end.text == "good outer"


async def test_a_stopped_turn_closes_the_inner_and_the_outer_call() -> None:
    provider, journal = ScriptedProvider(), MemoryJournal()
    provider.plays(step(call("outer", "c1", calls="slow")))
    turn = open_turn(
        provider, journal, tools={"outer": FakeTool("outer", calls_others), "slow": FakeTool("slow", hang)}
    )
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_turn, turn)
            while sum(isinstance(event, CallStarted) for event in journal.events) < 2:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
    ends = [event for event in journal.events if isinstance(event, CallEnded)]
    assert [(end.name, end.status, end.within) for end in ends] == [
        ("slow", "cancelled", "c1"),
        ("outer", "cancelled", ""),
    ]


async def test_only_a_call_of_a_turn_can_make_others() -> None:
    with pytest.raises(InternalError):
        await INNER.call("good", "{}", Report())


@pytest.mark.parametrize("is_started", [True, False])
def test_calls_left_open_by_a_killed_process_are_closed_with_their_inner_calls(is_started: bool) -> None:
    record = Record()
    events: list[Event] = [
        SessionOpened("ses", "/p", ("/p",), 1.0),
        TurnStarted("t"),
        StepEnded("t", tool_calls=(ToolCall("c1", "outer", "{}"),)),
        CallProposed("c1", "outer", "Outer", "other"),
        CallStarted("c1"),
        CallProposed("c2", "inner", "Inner", "other", within="c1"),
    ]
    for event in events + ([CallStarted("c2")] if is_started else []):
        record.apply(event)
    ends = record.closing_events()
    inner = next(end for end in ends if isinstance(end, CallEnded) and end.call_id == "c2")
    assert (inner.within, inner.text) == ("c1", IN_DOUBT if is_started else NOT_STARTED)
    for end in ends:
        record.apply(end)
    assert "c2" not in record.calls.inner
    assert [type(message) for message in record.messages] == [AssistantMessage, ToolMessage]
