"""Model steps: text becomes frames, failures become retries, calls become outcomes; all is recorded before it is
shown.
"""

from contextlib import ExitStack

import anyio
import anyio.lowlevel
import pytest
from msgspec import structs

from hermes_acp.agent.compaction.history_compaction import compact
from hermes_acp.agent.loop.model_step import StreamedText, run_step
from hermes_acp.agent.loop.turn_loop import run_turn
from hermes_acp.agent.turn.turn import ModelUse, Turn
from hermes_acp.core.errors import (
    BadReply,
    ConfigError,
    ModelError,
    ModelUnavailable,
    RateLimited,
    StorageError,
)
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
    UserSaid,
)
from hermes_acp.core.messages import AssistantMessage, TextPart, Usage
from hermes_acp.core.record.file_versions import file_version
from hermes_acp.models.routing.fallback_plan import RetryPolicy
from hermes_acp.models.routing.stream_load import FRAME_S, MAX_FRAME_S, StreamLoad
from tests.conversations.scripted_provider import Pause, ScriptedProvider, Step, call, step
from tests.unit.agent.turns import ManualClock, MemoryJournal, MemoryLog, Watcher, open_turn, routing_among
from tests.unit.tools.tool_calling import MemoryWorkspace

pytestmark = pytest.mark.anyio


def played(*steps: Step) -> tuple[Turn, MemoryJournal, ScriptedProvider]:
    provider, journal = ScriptedProvider(), MemoryJournal()
    provider.plays(*steps)
    return open_turn(provider, journal), journal, provider


def said(journal: MemoryJournal) -> list[str]:
    return [event.text for event in journal.events if isinstance(event, TextSaid | ThoughtSaid)]


async def test_the_first_text_is_shown_at_once_and_later_text_once_per_frame() -> None:
    turn, journal, _ = played()
    clock = turn.deps.clock
    assert isinstance(clock, ManualClock)
    words = StreamedText(turn, "msg")
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


def test_many_streams_are_shown_less_often_but_20_times_per_second() -> None:
    load = StreamLoad()
    with ExitStack() as streams:
        frames: list[tuple[bool, float]] = []
        for _ in range(300):
            streams.enter_context(load.stream())
            frames.append((load.is_high, load.frame_s))
    assert frames[0] == (False, FRAME_S)
    assert frames[49] == (False, FRAME_S)
    assert frames[99] == (True, 0.03)
    assert frames[-1] == (True, MAX_FRAME_S)
    assert (load.is_high, load.frame_s) == (False, FRAME_S)


async def test_the_text_of_many_streams_is_complete() -> None:
    turn, journal, _ = played(step("a", "b", "c", "d"))
    with ExitStack() as streams:
        for _ in range(300):
            streams.enter_context(turn.deps.routing.load.stream())
        await run_step(turn)
    assert "".join(said(journal)) == "abcd"


async def test_thoughts_and_text_keep_their_order() -> None:
    turn, journal, _ = played()
    words = StreamedText(turn, "msg")
    for event, text in ((ThoughtSaid, "1"), (ThoughtSaid, "2"), (TextSaid, "3"), (ThoughtSaid, "4")):
        words.add(event, text)
    words.flush()
    kinds = [
        (type(event), event.text) for event in journal.events if isinstance(event, TextSaid | ThoughtSaid)
    ]
    assert kinds == [(ThoughtSaid, "1"), (ThoughtSaid, "2"), (TextSaid, "3"), (ThoughtSaid, "4")]


async def test_five_thousand_words_at_once_make_few_events_and_lose_none() -> None:
    turn, journal, _ = played(step(*(f"{number} " for number in range(5000))))
    await run_step(turn)
    assert "".join(said(journal)) == "".join(f"{number} " for number in range(5000))
    assert len(said(journal)) < 10


async def test_text_is_shown_while_the_model_is_silent() -> None:
    pause = Pause()
    turn, journal, _ = played(step("one ", "two ", pause, "three"))
    watcher = Watcher(journal)
    turn.ledger.admit(watcher)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_step, turn)
            await pause.reached.wait()
            while said(journal) != ["one ", "two "]:
                await anyio.lowlevel.checkpoint()
            pause.go.set()
    assert said(journal) == ["one ", "two ", "three"]
    assert all(watcher.was_recorded)


async def test_a_transient_failure_is_retried_and_reported() -> None:
    turn, journal, provider = played(
        step("Half", ModelUnavailable("The line broke.", retryable=True)),
        step(RateLimited("Slower.", retry_after_s=0.0)),
        step("Whole."),
    )
    reply = await run_step(turn)
    assert reply.message.text == "Whole."
    assert [event.retried for event in journal.events if isinstance(event, StepFailed)] == [True, True]
    notices = [event.text for event in journal.events if isinstance(event, Noticed)]
    assert ["(2 of 3)" in notices[0], "(3 of 3)" in notices[1]] == [True, True]
    assert turn.record.messages[-1] == AssistantMessage("Whole.")
    assert len({event.message_id for event in journal.events if isinstance(event, TextSaid)}) == 2
    assert len(provider.requests) == 3


async def test_the_last_failure_is_raised() -> None:
    turn, journal, provider = played(*(step(ModelUnavailable(f"No {n}.", retryable=True)) for n in range(4)))
    with pytest.raises(ModelUnavailable, match=r"No 2\."):
        await run_step(turn)
    assert [event.retried for event in journal.events if isinstance(event, StepFailed)] == [True, True, False]
    assert len(provider.steps) == 1


async def test_a_step_continues_on_another_model_and_every_decision_is_reported_and_logged() -> None:
    first, second = ScriptedProvider(), ScriptedProvider()
    first.plays(step("Half", ModelUnavailable("Gone.")), step("Unasked."))
    second.plays(step("Whole."), step("Again."))
    journal = MemoryJournal()
    routing = routing_among({"near": first, "far": second}, ManualClock(), keys=("KEY",))
    turn = open_turn(first, journal, routing=routing)
    assert (await run_step(turn)).message.text == "Whole."
    assert (await run_step(turn)).message.text == "Again."
    assert [event.text for event in journal.events if isinstance(event, Noticed)] == [
        "Gone. Continuing with far-1 (far)."
    ]
    ended = [event for event in journal.events if isinstance(event, StepEnded)]
    assert [(event.provider, event.model) for event in ended] == [("far", "far-1")] * 2
    assert (first.keys, second.keys) == (["KEY"], ["KEY", "KEY"])
    assert turn.record.used_at == {"far": Usage(20, 10)}
    assert isinstance(turn.deps.log, MemoryLog)
    ((what, facts),) = turn.deps.log.lines
    assert what == "model_call_failed"
    assert facts == {
        "session": "ses_1",
        "turn": "turn_1",
        "route": "near/near-1",
        "key": "KEY",
        "trouble": "model_down",
        "decision": "fall_back",
        "to_route": "far/far-1",
    }


async def test_a_declined_answer_is_requested_from_the_next_model_and_not_again_from_the_first() -> None:
    first, second = ScriptedProvider(), ScriptedProvider()
    first.plays(step("I beg", finish="refusal"))
    second.plays(step("Whole."), step("No.", finish="refusal"))
    journal = MemoryJournal()
    turn = open_turn(
        first, journal, routing=routing_among({"near": first, "far": second}, ManualClock(), keys=("KEY",))
    )
    assert (await run_step(turn)).message.text == "Whole."
    assert [event.text for event in journal.events if isinstance(event, Noticed)] == [
        "near-1 declined to answer this. Continuing with far-1 (far)."
    ]
    assert [event.retried for event in journal.events if isinstance(event, StepFailed)] == [True]
    assert turn.record.messages[1:] == [AssistantMessage("Whole.")]
    assert turn.spent.steps == 1
    assert turn.spent.usage == Usage(20, 10)  # Declined requests are billed as well.
    assert (await run_step(turn)).finish == "refusal"
    assert len(first.requests) == 1


async def test_the_effort_that_is_sent_is_one_that_the_model_supports() -> None:
    turn, _, provider = played(step("Yes."))
    turn.deps = structs.replace(turn.deps, model_use=ModelUse(effort="xhigh"))
    await run_step(turn)
    assert provider.requests[0].effort == "high"


async def test_a_route_that_cannot_be_opened_counts_as_a_model_that_does_not_answer() -> None:
    turn, _, _ = played()

    async def connect(key: str) -> ScriptedProvider:
        raise ConfigError("The address is none.", hint="Fix it.")

    routes = tuple(structs.replace(route, connect=connect) for route in turn.deps.routing.routes)
    turn.deps = structs.replace(turn.deps, routing=structs.replace(turn.deps.routing, routes=routes))
    with pytest.raises(ModelError, match="The address is none"):
        await run_step(turn)


async def test_a_model_that_is_silent_for_long_is_reported_once() -> None:
    pause = Pause()
    journal, provider = MemoryJournal(), ScriptedProvider()
    provider.plays(step(pause, "Late."))
    retry_policy = RetryPolicy(quiet_s=0.001)
    turn = open_turn(
        provider, journal, routing=routing_among({"near": provider}, ManualClock(), retry_policy=retry_policy)
    )
    watcher = Watcher(journal)
    turn.ledger.admit(watcher)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_step, turn)
            while not any(isinstance(event, Noticed) for event in journal.events):
                await anyio.lowlevel.checkpoint()
            pause.go.set()
    notices = [event.text for event in journal.events if isinstance(event, Noticed)]
    assert notices == ["No output from near-1 for 0.001 s; still waiting."]
    assert turn.record.messages[-1] == AssistantMessage("Late.")


async def test_an_answer_without_an_end_is_a_bad_response() -> None:
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
        await run_step(bare)
    assert len(silent.requests) == turn.fallback_plan.attempts
    assert provider.requests == []


async def test_usage_and_cost_are_counted() -> None:
    turn, journal, _ = played(step("One."), step("Two."))
    await run_step(turn)
    await run_step(turn)
    changes = [event for event in journal.events if isinstance(event, UsageChanged)]
    assert [change.used_tokens for change in changes] == [15, 15]
    assert changes[1].cost_usd == pytest.approx(2 * (10 * 1.0 + 5 * 2.0) / 1e6)
    assert turn.spent.steps == 2


async def test_an_approved_call_passes_every_check_in_order() -> None:
    workspace = MemoryWorkspace({"a": b"one\n"})
    provider, journal = ScriptedProvider(), MemoryJournal()
    provider.plays(step(call("edit_file", "c1", path="a", old_text="one", new_text="two")), step("Done."))
    turn = open_turn(provider, journal, workspace)
    turn.record.seen["/project/a"] = file_version("/project/a", b"one\n").digest
    assert (await run_turn(turn)).reason == "done"
    mine = [type(event).__name__ for event in journal.events if getattr(event, "call_id", "") == "c1"]
    assert mine == ["CallProposed", "PermissionAsked", "PermissionAnswered", "CallStarted", "CallEnded"]
    assert workspace.files["/project/a"] == b"two\n"


@pytest.mark.parametrize("full_at", [StepEnded, CallProposed, PermissionAnswered, CallStarted])
async def test_a_call_that_cannot_be_recorded_has_no_effect_and_is_not_shown(full_at: type[Event]) -> None:
    workspace = MemoryWorkspace({"a": b"one\n"})
    provider, journal = ScriptedProvider(), MemoryJournal(full_at)
    provider.plays(step("Now.", call("edit_file", "c1", path="a", old_text="one", new_text="two")))
    turn = open_turn(provider, journal, workspace)
    turn.record.seen["/project/a"] = file_version("/project/a", b"one\n").digest
    watcher = Watcher(journal)
    turn.ledger.admit(watcher)
    with pytest.raises(StorageError, match="disk is full"):
        await run_turn(turn)
    assert workspace.files["/project/a"] == b"one\n"
    assert not any(isinstance(event, full_at) for event in watcher.shown)
    assert all(watcher.was_recorded)


async def test_an_outcome_that_cannot_be_recorded_ends_the_turn() -> None:
    provider, journal = ScriptedProvider(), MemoryJournal(CallEnded)
    provider.plays(step(call("read_file", "c1", path="a")))
    turn = open_turn(provider, journal, MemoryWorkspace({"a": b"one\n"}))
    with pytest.raises(StorageError):
        await run_turn(turn)
    assert isinstance(turn.record.closing_events()[0], CallEnded)


async def test_a_declined_summary_is_requested_from_the_next_model() -> None:
    first, second = ScriptedProvider(), ScriptedProvider()
    first.plays(step(finish="refusal"))
    second.answer = lambda request: step("All of it, in short.")
    turn = open_turn(
        first, MemoryJournal(), routing=routing_among({"near": first, "far": second}, ManualClock())
    )
    for number in range(6):
        turn.emit(UserSaid(f"u{number}", (TextPart("question " * 2000),)))
        turn.emit(TextSaid(f"a{number}", "answer"))
        turn.emit(StepEnded(f"a{number}"))
    done = await compact(turn, "asked")
    assert done
    assert (done.summary, done.provider, len(first.requests)) == ("All of it, in short.", "far", 1)
