"""The stages before and after the steps of a turn."""

import pytest

from hermes_acp.agent.loop.final_answer import FINAL_ANSWER_PROMPT
from hermes_acp.agent.loop.final_reply import NUDGE, ending_for_reply
from hermes_acp.agent.loop.turn_runner import finalize, run_to_ending
from hermes_acp.agent.stages.ending_notice import show_ending
from hermes_acp.agent.stages.first_title import name_session
from hermes_acp.agent.stages.invalid_steps import count_invalid_steps
from hermes_acp.agent.stages.loop_detection import detect_loops
from hermes_acp.agent.stages.step_refund import refund_cheap_step
from hermes_acp.agent.stages.turn_budget import keep_within_budget, used_up
from hermes_acp.agent.turn.turn import Turn, TurnStages
from hermes_acp.agent.turn.turn_endings import Ending, make_ending
from hermes_acp.agent.turn.turn_inbox import InboxMessage
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.agent.turn.turn_step import CallOutcome, TurnStep
from hermes_acp.agent.turn.turn_usage import TurnUsage
from hermes_acp.core.errors import ConfigError, ModelUnavailable, StorageError, WorkspaceError
from hermes_acp.core.event_types import ExitReason
from hermes_acp.core.events import CallEnded, NoteAdded, Noticed, StepFailed, TitleChanged
from hermes_acp.core.messages import (
    AssistantMessage,
    FinishReason,
    ModelReply,
    TextPart,
    ToolMessage,
    Usage,
)
from hermes_acp.core.record.titles import title_of
from hermes_acp.core.tool_metadata import ToolMetadata
from tests.conversations.scripted_provider import ScriptedProvider, call, step
from tests.conversations.scripted_provider import Step as Played
from tests.unit.agent.fake_tools import FakeTool, succeed
from tests.unit.agent.turns import MemoryJournal, open_turn

pytestmark = pytest.mark.anyio


def played(
    *steps: Played, limits: TurnLimits | None = None, stages: TurnStages | None = None
) -> tuple[Turn, MemoryJournal]:
    provider, journal = ScriptedProvider(), MemoryJournal()
    provider.plays(*steps)
    toys = {name: FakeTool(name, succeed, ToolMetadata(is_cheap=name == "look")) for name in ("look", "act")}
    return open_turn(provider, journal, limits=limits, stages=stages, tools=toys), journal


def notes(journal: MemoryJournal) -> list[str]:
    return [event.text for event in journal.events if isinstance(event, NoteAdded)]


def replied(text: str = "", finish: FinishReason = "stop") -> ModelReply:
    return ModelReply(AssistantMessage(text), finish, Usage())


def came_of(*outcomes: CallOutcome) -> TurnStep:
    return TurnStep(replied(finish="tool_calls"), outcomes)


def outcome(
    name: str = "look", text: str = "seen", *, understood: bool = True, cheap: bool = True
) -> CallOutcome:
    status = "completed" if understood else "failed"
    return CallOutcome(name, f"{name} {{}}", status, text, is_understood=understood, is_cheap=cheap)


def spent_of(steps: int = 0, *, cost_usd: float | None = None, tokens: int = 0) -> TurnUsage:
    spent = TurnUsage(100.0)
    spent.steps, spent.cost_usd, spent.usage = steps, cost_usd, Usage(tokens, 1)
    return spent


USED_UP: dict[ExitReason, tuple[TurnLimits, TurnUsage]] = {
    "out_of_steps": (TurnLimits(max_steps=3), spent_of(3)),
    "out_of_tokens": (TurnLimits(max_tokens=1001), spent_of(tokens=1000)),
    "out_of_money": (TurnLimits(max_cost_usd=0.5), spent_of(cost_usd=0.5)),
    "out_of_time": (TurnLimits(timeout_s=10.0), spent_of()),
}


@pytest.mark.parametrize("reason", USED_UP)
def test_each_limit_ends_the_turn_with_its_own_reason(reason: ExitReason) -> None:
    limits, spent = USED_UP[reason]
    ending = used_up(limits, spent, 109.0)
    assert ending
    assert ending.reason == ending.error_code == reason
    assert ending.sentence.startswith("Stopped after ")


def test_without_limits_a_turn_does_not_end() -> None:
    unlimited = TurnLimits(max_steps=None)
    assert used_up(unlimited, spent_of(10**6, cost_usd=1e6, tokens=10**9), 1e9) is None
    assert used_up(TurnLimits(max_steps=3), spent_of(2), 100.0) is None
    assert used_up(TurnLimits(max_cost_usd=0.1), spent_of(2), 100.0) is None


def test_a_refunded_step_does_not_count() -> None:
    spent = spent_of(3)
    spent.refunds = 1
    assert used_up(TurnLimits(max_steps=3), spent, 100.0) is None


def test_time_is_reserved_for_a_final_answer() -> None:
    assert [TurnLimits(timeout_s=each).working_s for each in (10.0, 300.0, 3600.0)] == [9.0, 270.0, 3570.0]
    assert used_up(TurnLimits(timeout_s=10.0), spent_of(), 108.9) is None


async def test_the_model_has_one_final_call_without_tools() -> None:
    turn, journal = played(step("All I know."), limits=TurnLimits(max_steps=1))
    turn.spent.steps = 1
    ending = await keep_within_budget(turn)
    assert ending
    assert ending.reason == "out_of_steps"
    assert notes(journal) == [FINAL_ANSWER_PROMPT]
    assert turn.record.messages[-1] == AssistantMessage("All I know.")
    assert turn.deps.toolbox.schemas


async def test_the_final_call_offers_no_tool_and_runs_none() -> None:
    provider, journal = ScriptedProvider(), MemoryJournal()
    provider.plays(step("Still", call("act", "c1")))
    toy = FakeTool("act", succeed)
    turn = open_turn(provider, journal, limits=TurnLimits(max_steps=1), tools={"act": toy})
    turn.spent.steps = 1
    assert await keep_within_budget(turn)
    assert [request.tools for request in provider.requests] == [()]
    assert toy.ran == []
    reported = turn.record.messages[-1]
    assert isinstance(reported, ToolMessage)
    assert "No tools can be used now" in reported.text


async def test_a_failed_final_call_does_not_change_the_ending() -> None:
    turn, journal = played(step(ModelUnavailable("Gone.")), limits=TurnLimits(max_steps=1))
    turn.spent.steps = 1
    ending = await keep_within_budget(turn)
    assert ending
    assert ending.reason == "out_of_steps"
    assert [event.retried for event in journal.events if isinstance(event, StepFailed)] == [False]


async def test_a_step_of_cheap_calls_is_refunded_up_to_a_limit() -> None:
    turn, _ = played(limits=TurnLimits(max_refunds=2))
    for _ in range(4):
        await refund_cheap_step(turn, came_of(outcome(), outcome()))
    assert turn.spent.refunds == 2


@pytest.mark.parametrize(
    "taken",
    [came_of(), came_of(outcome(), outcome(cheap=False)), came_of(outcome(understood=False))],
    ids=["an answer", "a dear call among cheap ones", "a call that was not understood"],
)
async def test_other_steps_are_not_refunded(taken: TurnStep) -> None:
    turn, _ = played()
    await refund_cheap_step(turn, taken)
    assert turn.spent.refunds == 0


async def test_three_steps_without_a_valid_call_end_the_turn() -> None:
    turn, _ = played()
    bad, good = came_of(outcome(understood=False), outcome(understood=False)), came_of(outcome())
    ends = [await count_invalid_steps(turn, taken) for taken in (bad, bad, good, bad, bad)]
    assert ends == [None] * 5
    ending = await count_invalid_steps(turn, bad)
    assert ending
    assert ending.reason == ending.error_code == "bad_calls"
    assert "seen" in ending.sentence


async def test_a_long_error_is_cut_between_words() -> None:
    turn, _ = played()
    bad = came_of(outcome(text="There are: " + "apply_patch, " * 30, understood=False))
    ending = [await count_invalid_steps(turn, bad) for _ in range(3)][-1]
    assert ending
    assert ending.sentence.endswith(" apply_patch, …")


async def test_empty_answers_get_a_reminder_and_then_end_the_turn() -> None:
    turn, journal = played()
    assert [ending_for_reply(turn, replied(" \n")) for _ in range(2)] == [None, None]
    assert notes(journal) == [NUDGE, NUDGE]
    ending = ending_for_reply(turn, replied())
    assert ending
    assert ending.reason == "empty"


async def test_empty_answers_and_invalid_calls_are_counted_together_and_text_resets_the_count() -> None:
    turn, _ = played()
    assert ending_for_reply(turn, replied()) is None
    assert await count_invalid_steps(turn, came_of(outcome(understood=False))) is None
    await count_invalid_steps(turn, TurnStep(replied("Words.")))
    assert turn.guards.invalid_steps == 0


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (replied("Yes."), "done"),
        (replied("Ye", "length"), "truncated"),
        (replied("", "length"), "truncated"),
        (replied("", "refusal"), "refused"),
    ],
)
async def test_an_answer_is_an_ending(reply: ModelReply, reason: ExitReason) -> None:
    turn, _ = played()
    assert ending_for_reply(turn, reply) == make_ending(reason)


async def test_an_answer_does_not_end_the_turn_while_a_message_waits() -> None:
    turn, journal = played()
    turn.inbox.put(InboxMessage((TextPart("wait"),)))
    assert ending_for_reply(turn, replied("Yes.")) is None
    assert ending_for_reply(turn, replied("")) is None
    assert (turn.guards.invalid_steps, notes(journal)) == (0, [])


async def test_repetitions_cause_a_warning_and_then_end_the_turn() -> None:
    turn, journal = played()
    ends = [await detect_loops(turn, came_of(outcome())) for _ in range(5)]
    assert ends[:4] == [None] * 4
    assert ends[4]
    assert ends[4].reason == "looping"
    assert "look" in ends[4].sentence
    (warning,) = notes(journal)
    assert "the same call of look 3 times" in warning


async def test_a_result_that_changes_is_not_a_repetition() -> None:
    turn, journal = played()
    for number in range(9):
        assert await detect_loops(turn, came_of(outcome(text=f"{number}"))) is None
    assert notes(journal) == []


async def test_crashes_count_as_repetitions_whatever_their_message() -> None:
    turn, _ = played()
    crashed = [CallOutcome("act", "act {}", "failed", f"crash {n}", is_understood=True) for n in range(5)]
    ends = [await detect_loops(turn, came_of(each)) for each in crashed]
    assert [bool(ending) for ending in ends] == [False] * 4 + [True]


async def test_a_duplicate_that_did_not_run_is_not_counted() -> None:
    turn, journal = played()
    repeat = CallOutcome("look", "look {}", "completed", "Not run", is_understood=True, is_repeat=True)
    await detect_loops(turn, came_of(outcome(), *[repeat] * 9))
    assert notes(journal) == []


async def test_a_session_gets_a_title_once_after_its_first_prompt() -> None:
    turn, journal = played()
    await name_session(turn)
    await name_session(turn)
    assert [event.title for event in journal.events if isinstance(event, TitleChanged)] == ["go"]


def test_a_title_is_one_short_line() -> None:
    assert title_of("\n  Fix it \nplease") == "Fix it"
    assert title_of(" \n") == "Untitled"
    assert len(title_of("long " * 50)) <= 60


@pytest.mark.parametrize(
    ("reason", "reported"), [("truncated", 1), ("done", 0), ("cancelled", 0), ("looping", 0)]
)
async def test_a_bare_stop_reason_is_reported_in_words(reason: ExitReason, reported: int) -> None:
    turn, journal = played()
    await show_ending(turn, make_ending(reason))
    assert [event.level for event in journal.events if isinstance(event, Noticed)] == ["warning"] * reported


async def test_stages_run_in_order_and_each_may_end_the_turn() -> None:
    ran: list[str] = []

    def stage(name: str, ending: Ending | None = None):
        async def run(turn: Turn, _: object = None) -> Ending | None:
            ran.append(name)
            return ending

        return run

    stages = TurnStages((stage("first"),), (stage("before"),), (stage("after"),))
    turn, _ = played(step(call("look", "c1")), step("Done."), stages=stages)
    assert (await run_to_ending(turn)).reason == "done"
    assert ran == ["first", "before", "after", "before", "after"]
    ran.clear()
    turn, journal = played(stages=TurnStages((stage("first", make_ending("denied")), stage("second"))))
    assert (await run_to_ending(turn)).reason == "denied"
    assert ran == ["first"]
    assert not any(isinstance(event, CallEnded) for event in journal.events)


@pytest.mark.parametrize(
    ("trouble", "reason", "code"),
    [
        (ModelUnavailable("Gone."), "model_trouble", "model_down"),
        (StorageError("Full."), "storage_trouble", "storage_trouble"),
        (ConfigError("Odd."), "gave_up", "bad_config"),
    ],
)
async def test_an_error_is_an_ending_with_a_name(trouble: Exception, reason: ExitReason, code: str) -> None:
    async def fail(turn: Turn) -> Ending | None:
        raise trouble

    turn, _ = played(stages=TurnStages(before_step=(fail,)))
    ending = await run_to_ending(turn)
    assert (ending.reason, ending.error_code) == (reason, code)


async def test_a_turn_past_its_time_limit_ends_wherever_it_is() -> None:
    turn, _ = played(step("Late."), limits=TurnLimits(timeout_s=0.0))
    assert (await run_to_ending(turn)).reason == "out_of_time"


async def test_work_after_a_turn_runs_completely_and_its_failure_is_reported() -> None:
    ran: list[str] = []

    async def fail_here(turn: Turn, ending: Ending) -> None:
        raise WorkspaceError("The memory could not be kept.")

    async def note(turn: Turn, ending: Ending) -> None:
        ran.append(ending.reason)

    turn, journal = played(stages=TurnStages(postflight=(fail_here, note)))
    assert await finalize(turn, make_ending("cancelled")) == make_ending("cancelled")
    assert ran == ["cancelled"]
    assert [event.text for event in journal.events if isinstance(event, Noticed)] == [
        "The memory could not be kept."
    ]


async def test_nothing_runs_after_a_record_that_cannot_be_written() -> None:
    async def write(turn: Turn, ending: Ending) -> None:
        raise StorageError("Full.")

    turn, _ = played(stages=TurnStages(postflight=(write, write)))
    assert (await finalize(turn, make_ending("done"))).reason == "storage_trouble"
    full = make_ending("storage_trouble")
    assert await finalize(turn, full) == full


def test_a_call_gets_the_time_it_requests_within_the_limits_of_user_and_turn() -> None:
    assert TurnLimits().call_s(None, 0.0) == 600.0
    assert TurnLimits().call_s(1200.0, 0.0) == 1200.0
    assert TurnLimits(tool_timeout_s=5.0).call_s(1200.0, 0.0) == 5.0
    assert TurnLimits(timeout_s=10.0).call_s(1200.0, 4.0) == 5.0
    assert TurnLimits(timeout_s=10.0).call_s(None, 9.5) == 0.0
