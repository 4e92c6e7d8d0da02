"""Words into frames, failures into further tries, calls into outcomes: all on record before it is shown."""

import anyio
import pytest

from hermes_acp.agent.loop import run_turn
from hermes_acp.agent.step import FRAME_S, Words, take_step
from hermes_acp.agent.turn import Patience, Turn
from hermes_acp.core.errors import BadReply, ModelDown, RateLimited, StorageTrouble
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    Noticed,
    PermissionAnswered,
    StepEnded,
    StepFailed,
    TextSaid,
    ThoughtSaid,
    UsageChanged,
)
from hermes_acp.core.messages import AssistantMessage
from tests.conversations.scripted_provider import Pause, ScriptedProvider, Step, call, step
from tests.unit.agent.turns import HeldClock, MemoryJournal, Watcher, open_turn
from tests.unit.tools.calls import MemoryWorkspace

pytestmark = pytest.mark.anyio


def played(*steps: Step) -> tuple[Turn, MemoryJournal, ScriptedProvider]:
    provider, journal = ScriptedProvider(), MemoryJournal()
    provider.plays(*steps)
    return open_turn(provider, journal), journal, provider


def said(journal: MemoryJournal) -> list[str]:
    return [event.text for event in journal.events if isinstance(event, TextSaid | ThoughtSaid)]


async def test_the_first_words_are_shown_at_once_and_later_ones_once_a_frame() -> None:
    turn, journal, _ = played()
    clock = turn.clock
    assert isinstance(clock, HeldClock)
    words = Words(turn, "msg")
    words.add(TextSaid, "a")
    assert said(journal) == ["a"]
    words.add(TextSaid, "b")
    clock.at_s += FRAME_S / 2
    words.add(TextSaid, "c")
    assert said(journal) == ["a"]
    clock.at_s += FRAME_S
    words.add(TextSaid, "d")
    assert said(journal) == ["a", "bcd"]
    words.flush()
    assert said(journal) == ["a", "bcd"]


async def test_thoughts_and_words_keep_their_order() -> None:
    turn, journal, _ = played()
    words = Words(turn, "msg")
    for event, text in ((ThoughtSaid, "1"), (ThoughtSaid, "2"), (TextSaid, "3"), (ThoughtSaid, "4")):
        words.add(event, text)
    words.flush()
    kinds = [
        (type(event), event.text) for event in journal.events if isinstance(event, TextSaid | ThoughtSaid)
    ]
    assert kinds == [(ThoughtSaid, "1"), (ThoughtSaid, "2"), (TextSaid, "3"), (ThoughtSaid, "4")]


async def test_five_thousand_words_at_once_make_few_events_and_lose_none() -> None:
    turn, journal, _ = played(step(*(f"{number} " for number in range(5000))))
    await take_step(turn)
    assert "".join(said(journal)) == "".join(f"{number} " for number in range(5000))
    assert len(said(journal)) < 10


async def test_words_are_shown_while_the_model_is_silent() -> None:
    pause = Pause()
    turn, journal, _ = played(step("one ", "two ", pause, "three"))
    watcher = Watcher(journal)
    turn.ledger.admit(watcher)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(take_step, turn)
            await pause.reached.wait()
            while said(journal) != ["one ", "two "]:
                await anyio.lowlevel.checkpoint()
            pause.go.set()
    assert said(journal) == ["one ", "two ", "three"]
    assert all(watcher.was_recorded)


async def test_a_failure_worth_it_is_tried_again_and_told() -> None:
    turn, journal, provider = played(
        step("Half", ModelDown("The line broke.", retryable=True)),
        step(RateLimited("Slower.", retry_after_s=0.0)),
        step("Whole."),
    )
    reply = await take_step(turn)
    assert reply.message.text == "Whole."
    assert [event.retried for event in journal.events if isinstance(event, StepFailed)] == [True, True]
    notices = [event.text for event in journal.events if isinstance(event, Noticed)]
    assert ["(2 of 3)" in notices[0], "(3 of 3)" in notices[1]] == [True, True]
    assert turn.record.messages[-1] == AssistantMessage("Whole.")
    assert len({event.message_id for event in journal.events if isinstance(event, TextSaid)}) == 2
    assert len(provider.requests) == 3


async def test_the_last_failure_is_given_on() -> None:
    turn, journal, provider = played(*(step(ModelDown(f"No {n}.", retryable=True)) for n in range(4)))
    with pytest.raises(ModelDown, match=r"No 2\."):
        await take_step(turn)
    assert [event.retried for event in journal.events if isinstance(event, StepFailed)] == [True, True, False]
    assert len(provider.steps) == 1


async def test_an_answer_without_an_end_is_a_bad_reply() -> None:
    turn, _, provider = played()

    class Silent(ScriptedProvider):
        async def _events(self, played: Step):
            for _ in played.beats:
                raise BadReply("Garbled.", retryable=False)
            return
            yield

    silent = Silent()
    silent.answer = lambda request: step()
    bare = open_turn(silent, MemoryJournal())
    with pytest.raises(BadReply, match="without an end"):
        await take_step(bare)
    assert len(silent.requests) == turn.kit.patience.attempts
    assert provider.requests == []


def test_waiting_doubles_up_to_a_bound_and_heeds_the_endpoint() -> None:
    patience = Patience(attempts=9, first_wait_s=1.0, longest_wait_s=5.0)
    assert [patience.wait_s(attempt, None) for attempt in range(1, 6)] == [1, 2, 4, 5, 5]
    assert [patience.wait_s(1, wish) for wish in (0.0, 3.0, 600.0)] == [0.0, 3.0, 5.0]


async def test_use_and_cost_are_counted() -> None:
    turn, journal, _ = played(step("One."), step("Two."))
    await take_step(turn)
    await take_step(turn)
    changes = [event for event in journal.events if isinstance(event, UsageChanged)]
    assert [change.used_tokens for change in changes] == [15, 15]
    assert changes[1].cost_usd == pytest.approx(2 * (10 * 1.0 + 5 * 2.0) / 1e6)
    assert turn.spent.steps == 2


async def test_an_approved_call_goes_through_every_gate_in_order() -> None:
    workspace = MemoryWorkspace({"a": b"one\n"})
    provider, journal = ScriptedProvider(), MemoryJournal()
    provider.plays(step(call("edit_file", "c1", path="a", old_text="one", new_text="two")), step("Done."))
    turn = open_turn(provider, journal, workspace)
    assert (await run_turn(turn)).reason == "done"
    mine = [type(event).__name__ for event in journal.events if getattr(event, "call_id", "") == "c1"]
    assert mine == ["CallProposed", "PermissionAsked", "PermissionAnswered", "CallStarted", "CallEnded"]
    assert workspace.files["/project/a"] == b"two\n"


@pytest.mark.parametrize("full_at", [StepEnded, CallProposed, PermissionAnswered, CallStarted])
async def test_what_cannot_be_recorded_has_no_effect_and_is_not_shown(full_at: type[Event]) -> None:
    workspace = MemoryWorkspace({"a": b"one\n"})
    provider, journal = ScriptedProvider(), MemoryJournal(full_at)
    provider.plays(step("Now.", call("edit_file", "c1", path="a", old_text="one", new_text="two")))
    turn = open_turn(provider, journal, workspace)
    watcher = Watcher(journal)
    turn.ledger.admit(watcher)
    with pytest.raises(StorageTrouble, match="disk is full"):
        await run_turn(turn)
    assert workspace.files["/project/a"] == b"one\n"
    assert not any(isinstance(event, full_at) for event in watcher.shown)
    assert all(watcher.was_recorded)


async def test_an_outcome_that_cannot_be_recorded_ends_the_turn() -> None:
    provider, journal = ScriptedProvider(), MemoryJournal(CallEnded)
    provider.plays(step(call("read_file", "c1", path="a")))
    turn = open_turn(provider, journal, MemoryWorkspace({"a": b"one\n"}))
    with pytest.raises(StorageTrouble):
        await run_turn(turn)
    assert isinstance(turn.record.loose_ends()[0], CallEnded)
