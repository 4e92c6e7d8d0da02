"""Invariants of the turn loop: whatever models, tools and users do, the history is valid and the turn has a named
ending.
"""

from typing import Any, Final, get_args

import anyio
import anyio.lowlevel
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct, structs

from hermes_acp.agent.loop.turn_runner import finalize, run_to_ending
from hermes_acp.agent.setup.turn_stages import turn_stages
from hermes_acp.agent.turn.turn import CompactionShares, ModelUse, Turn
from hermes_acp.agent.turn.turn_endings import Ending, make_ending
from hermes_acp.agent.turn.turn_inbox import InboxMessage
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.core.errors import BadReply, ContextWindowExceeded, ModelUnavailable, RateLimited
from hermes_acp.core.event_types import ExitReason
from hermes_acp.core.events import AnyEvent, CallEnded, CallProposed, Event, StepEnded
from hermes_acp.core.messages import (
    FinishReason,
    TextPart,
    ToolCall,
    UserMessage,
)
from hermes_acp.core.proposals import Progress, Result
from hermes_acp.core.record.history_invariants import invariant_violations
from hermes_acp.core.record.session_record import Record
from hermes_acp.core.tool_metadata import ToolMetadata
from tests.conversations.scripted_provider import ScriptedProvider, Step
from tests.unit.agent.fake_tools import FakeTool, crash, fail, hang, succeed
from tests.unit.agent.turns import ManualClock, MemoryJournal, open_turn, routing_among

REASONS: Final = frozenset(get_args(ExitReason)) - {"denied", "storage_trouble"}


async def resist(progress: Progress, arguments: dict[str, Any]) -> Result:
    """Hang, and take a while to stop."""
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.lowlevel.checkpoint()
    raise AssertionError


async def ignore(progress: Progress, arguments: dict[str, Any]) -> Result:
    """Hang, and return normally when cancelled, as if nothing had happened."""
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        return Result("Who, me?")
    raise AssertionError


async def tell(progress: Progress, arguments: dict[str, Any]) -> Result:
    """Write a long output."""
    return Result("Seen. " * 200)


def toolbox() -> dict[str, FakeTool]:
    toys = [
        FakeTool("look", succeed, ToolMetadata(is_cheap=True)),
        FakeTool("act", succeed),
        FakeTool("tell", tell),
        FakeTool("fail", fail),
        FakeTool("crash", crash),
        FakeTool("delegate", succeed, ToolMetadata(max_per_step=1)),
        FakeTool("hang", hang, deadline_s=0.0),
        FakeTool("resist", resist, deadline_s=0.0),
        FakeTool("ignore", ignore, deadline_s=0.0),
    ]
    return {toy.name: toy for toy in toys}


NAMES = st.sampled_from([*toolbox(), "tell", "tell", "Look", "functions.act", "no_such_tool", ""])
ARGUMENTS = st.sampled_from(
    ["{}", '{"n": 1}', '{"n": 2}', "{'n': 1,}", '{"impossible": true}', '{"n": "cut', "[1]", "nonsense", ""]
)
CALLS = st.builds(ToolCall, st.sampled_from(["", "c1", "c2"]), NAMES, ARGUMENTS)
TROUBLES = st.sampled_from(
    [
        ModelUnavailable("Gone.", retryable=True),
        ModelUnavailable("Gone for good."),
        RateLimited("Slower.", retry_after_s=0.0),
        BadReply("Garbled.", retryable=True),
        ContextWindowExceeded("Full."),
    ]
)
WORDS: st.SearchStrategy[str] = st.sampled_from(["Words. ", " ", ""])
FINISHES: st.SearchStrategy[FinishReason | None] = st.sampled_from(
    [None, None, None, "stop", "length", "refusal"]
)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """Generate one answer: text, then calls, an error or neither."""
    words = draw(WORDS)
    if draw(st.integers(0, 5)) == 0:
        return Step((words, draw(TROUBLES)))
    calls = draw(st.lists(CALLS, max_size=4))
    return Step((words, *calls), draw(FINISHES))


LIMITS = st.builds(
    TurnLimits,
    max_steps=st.sampled_from([None, 1, 2, 5]),
    max_tokens=st.sampled_from([None, 1, 40]),
    max_cost_usd=st.sampled_from([None, 1e-5]),
    timeout_s=st.sampled_from([None, None, 0.0]),
    max_refunds=st.sampled_from([0, 3]),
)


class Play(Struct):
    """The events of one turn; `stopped_at` is the number of the event after which the user stops it."""

    steps: list[Step]
    limits: TurnLimits
    stopped_at: int | None
    has_letter: bool
    shares: CompactionShares


def repeat(step: Step) -> list[Step]:
    return [step] * 12


PLAYS = st.builds(
    Play,
    st.lists(steps(), max_size=8) | steps().map(repeat),
    LIMITS,
    st.none() | st.integers(0, 40),
    st.booleans(),
    st.sampled_from(
        [CompactionShares(), CompactionShares(at=0.1, keep=0.0), CompactionShares(at=None, keep=0.0)]
    ),
)


GOOD_CALLS = st.builds(ToolCall, st.just(""), st.sampled_from(["act", "tell", "tell", "fail"]), ARGUMENTS)


def busy(calls: list[ToolCall]) -> Step:
    return Step(("Words. ", *calls))


LONG_PLAYS = st.builds(
    Play,
    st.lists(st.lists(GOOD_CALLS, min_size=1, max_size=3).map(busy), min_size=4, max_size=10),
    st.just(TurnLimits()),
    st.none() | st.integers(10, 60),
    st.booleans(),
    st.sampled_from([CompactionShares(at=0.1, keep=0.0), CompactionShares(at=0.1, keep=0.05)]),
)
"""Turns that outgrow their window again and again."""


class StoppingJournal(MemoryJournal):
    """Cancel the turn after a given event."""

    def __init__(self, scope: anyio.CancelScope, stopped_at: int | None) -> None:
        super().__init__()
        self._scope = scope
        self._stopped_at = stopped_at

    def append(self, event: AnyEvent) -> AnyEvent:
        if len(self.events) == self._stopped_at:
            self._scope.cancel()
        return super().append(event)


class SlowReader:
    """An observer that is always slightly behind."""

    def show(self, event: Event) -> None:
        return

    async def drained(self) -> None:
        await anyio.lowlevel.checkpoint()


async def perform(play: Play) -> tuple[Turn, MemoryJournal, Ending]:
    provider = ScriptedProvider()
    provider.plays(*play.steps, *[Step(("Done.",))] * 4)
    scope = anyio.CancelScope()
    journal = StoppingJournal(scope, play.stopped_at)
    routing = routing_among({"scripted": provider}, ManualClock(), window_tokens=100)
    turn = open_turn(
        provider,
        journal,
        stages=turn_stages("first_line"),
        limits=play.limits,
        tools=toolbox(),
        routing=routing,
    )
    turn.deps = structs.replace(turn.deps, model_use=ModelUse(shares=play.shares))
    turn.ledger.admit(SlowReader())
    if play.has_letter:
        turn.inbox.put(InboxMessage((TextPart("And this."),)))
    ending = make_ending("cancelled")
    with anyio.fail_after(60), scope:
        ending = await run_to_ending(turn)
    return turn, journal, await finalize(turn, ending)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PLAYS)
def test_every_turn_keeps_the_invariants_and_has_a_named_ending(play: Play) -> None:
    check_turn(play)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(LONG_PLAYS)
def test_repeated_compaction_keeps_the_invariants(play: Play) -> None:
    check_turn(play)


def check_turn(play: Play) -> None:
    turn, journal, ending = anyio.run(perform, play)
    assert ending.reason in REASONS
    assert ending.sentence or ending.reason == "done"
    assert ending.reason != "cancelled" or play.stopped_at is not None
    check_calls(journal.events)
    check_history(turn.record)
    again = Record()
    for event in journal.events:
        again.apply(event)
    assert again.messages == turn.record.messages


def check_calls(events: list[Event]) -> None:
    """Check that every call is shown once and then has one outcome, in the order that the history defines."""
    made = [call.id for event in events if isinstance(event, StepEnded) for call in event.tool_calls]
    assert len(set(made)) == len(made)
    assert sorted(event.call_id for event in events if isinstance(event, CallEnded)) == sorted(made)
    shown: list[str] = []
    for event in events:
        if isinstance(event, CallProposed):
            shown.append(event.call_id)
        elif isinstance(event, CallEnded):
            assert shown.count(event.call_id) == 1


def check_history(record: Record) -> None:
    """Check that outcomes directly follow their step, and that two answers are never adjacent."""
    assert record.calls.of_model() == ()
    assert invariant_violations(record.messages) == []
    assert isinstance(record.messages[0], UserMessage)
