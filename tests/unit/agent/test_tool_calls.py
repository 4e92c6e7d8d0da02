"""Calls of one step: each has one outcome, and only what was requested is done, once and in bounded time."""

import math

import anyio
import pytest

from hermes_acp.agent.calls.deadline import Deadline
from hermes_acp.agent.calls.tool_calls import run_tool_calls
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.agent.turn.turn_step import CallOutcome
from hermes_acp.core.events import CallEnded, CallProposed, CallStarted, StepEnded
from hermes_acp.core.messages import UNNAMED, ToolCall, ToolMessage
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.core.tool_metadata import ToolMetadata
from tests.conversations.scripted_provider import ScriptedProvider, call
from tests.unit.agent.fake_tools import FakeTool, crash, fail, hang, inquire, succeed
from tests.unit.agent.turns import AllowingGate, MemoryJournal, open_turn
from tests.unit.tools.tool_calling import MemoryWorkspace

pytestmark = pytest.mark.anyio


class Bench:
    """A turn with fake tools, at the moment when the model has made its calls."""

    def __init__(self, *toys: FakeTool, limits: TurnLimits | None = None) -> None:
        self.journal = MemoryJournal()
        self.turn: Turn = open_turn(
            ScriptedProvider(), self.journal, tools={toy.name: toy for toy in toys}, limits=limits
        )

    async def run(self, *calls: ToolCall, truncated: bool = False) -> tuple[CallOutcome, ...]:
        self.turn.emit(StepEnded("msg_1", calls))
        outcomes = await run_tool_calls(self.turn, calls, truncated=truncated)
        reported = [message for message in self.turn.record.messages if isinstance(message, ToolMessage)]
        assert [message.call_id for message in reported[-len(calls) :]] == [each.id for each in calls]
        return outcomes


async def test_a_duplicate_call_runs_once_and_is_answered_twice() -> None:
    toy = FakeTool("look", succeed, ToolMetadata(is_cheap=True))
    first, second, other = await Bench(toy).run(
        call("look", "c1", at="a", to="b"),
        ToolCall("c2", "look", '{"to": "b",  "at": "a"}'),
        call("look", "c3", at="c"),
    )
    assert toy.ran == [{"at": "a", "to": "b"}, {"at": "c"}]
    assert (first.is_repeat, second.is_repeat, other.is_repeat) == (False, True, False)
    assert (second.status, second.is_understood) == ("completed", True)
    assert "Not run again" in second.text


async def test_a_duplicate_call_gets_the_outcome_of_the_first() -> None:
    outcomes = await Bench(FakeTool("try", fail)).run(call("try", "c1"), call("try", "c2"))
    assert [outcome.status for outcome in outcomes] == ["failed", "failed"]
    assert [outcome.is_repeat for outcome in outcomes] == [False, True]


async def test_a_call_is_not_a_duplicate_once_something_else_may_have_changed() -> None:
    test, edit = FakeTool("test", succeed), FakeTool("edit", succeed)
    calls = (call("test", "c1"), call("edit", "c2"), call("test", "c3"), call("test", "c4"))
    outcomes = await Bench(test, edit).run(*calls)
    assert [outcome.is_repeat for outcome in outcomes] == [False, False, False, True]
    assert len(test.ran) == 2


async def test_a_step_runs_no_more_calls_of_a_tool_than_it_allows() -> None:
    toy, free = FakeTool("delegate", succeed, ToolMetadata(max_per_step=2)), FakeTool("free", succeed)
    calls = [call("delegate", f"c{n}", n=n) for n in range(4)]
    outcomes = await Bench(toy, free).run(*calls, call("free", "c9"))
    assert [outcome.status for outcome in outcomes] == [
        "completed",
        "completed",
        "failed",
        "failed",
        "completed",
    ]
    assert "a step may contain 2 calls of delegate" in outcomes[2].text
    assert all(outcome.is_understood for outcome in outcomes)
    assert len(toy.ran) == 2


@pytest.mark.parametrize(
    "name", ["READ_FILE", "ReadFile", "read-file", "functions.read_file", "default_api.read_file"]
)
async def test_a_tool_name_spelled_differently_is_understood(name: str) -> None:
    toy = FakeTool("read_file", succeed)
    bench = Bench(toy, FakeTool("read_files", fail))
    (outcome,) = await bench.run(call(name, "c1"))
    assert (outcome.status, outcome.name) == ("completed", "read_file")
    assert [event.name for event in bench.journal.events if isinstance(event, CallProposed)] == [name]


@pytest.mark.parametrize("name", ["", UNNAMED])
async def test_a_call_without_a_name_is_reported_as_invalid(name: str) -> None:
    (outcome,) = await Bench(FakeTool("tool_manage", succeed)).run(call(name, "c1"))
    assert outcome.text.startswith("The call could not be read: it does not name a tool.")
    assert "tool_manage" not in outcome.text
    assert not outcome.is_understood


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (r'"{\"n\": 1}"', ""),
        (r'{"n": "a\ud800b"}', "they contain an escape for half a character"),
        ("[1]", "one JSON object"),
    ],
)
async def test_arguments_that_are_not_quite_an_object(arguments: str, reported: str) -> None:
    toy = FakeTool("look", succeed)
    (outcome,) = await Bench(toy).run(ToolCall("c1", "look", arguments))
    assert (toy.ran, outcome.status) == (([], "failed") if reported else ([{"n": 1}], "completed"))
    assert reported in outcome.text


@pytest.mark.parametrize("name", ["Ab", "functions.AB", "a", "abc", "functions."])
async def test_an_ambiguous_or_unknown_name_is_not_guessed(name: str) -> None:
    toys = FakeTool("a_b", succeed), FakeTool("a-b", succeed)
    (outcome,) = await Bench(*toys).run(call(name, "c1"))
    assert "There is no tool" in outcome.text
    assert not outcome.is_understood
    assert toys[0].ran == toys[1].ran == []


async def test_invalid_json_with_one_possible_meaning_runs_and_is_shown_repaired() -> None:
    toy = FakeTool("look", succeed, required=("at",))
    bench = Bench(toy)
    mended, unfitting, cut = await bench.run(
        ToolCall("c1", "look", "{'at': 'a',}"),
        ToolCall("c2", "look", "{'to': 'a',}"),
        ToolCall("c3", "look", '{"at": "a'),
    )
    assert toy.ran == [{"at": "a"}]
    shown = next(event for event in bench.journal.events if isinstance(event, CallProposed))
    assert shown.raw_input == {"at": "a"}
    assert mended.is_understood
    assert "not valid JSON" in unfitting.text
    assert "they are cut off" in cut.text


async def test_the_last_call_of_a_truncated_answer_is_not_run_even_if_it_looks_complete() -> None:
    toy = FakeTool("look", succeed)
    first, last = await Bench(toy).run(call("look", "c1", n=1), call("look", "c2", n=2), truncated=True)
    assert toy.ran == [{"n": 1}]
    assert (first.is_understood, last.is_understood) == (True, False)
    assert "cut off at its length limit" in last.text


async def test_a_crash_is_an_outcome() -> None:
    crashed, fine = await Bench(FakeTool("crash", crash), FakeTool("fine", succeed)).run(
        call("crash", "c1"), call("fine", "c2")
    )
    assert "ZeroDivisionError" in crashed.text
    assert (crashed.status, fine.status) == ("failed", "completed")


async def test_a_call_past_its_deadline_is_ended_and_reported_with_its_output_so_far() -> None:
    slow, usual = FakeTool("slow", hang, deadline_s=0.0), FakeTool("usual", hang)
    with anyio.fail_after(60):
        outcomes = await Bench(slow, usual, limits=TurnLimits(tool_timeout_s=0.0)).run(
            call("slow", "c1"), call("usual", "c2")
        )
    for outcome in outcomes:
        assert outcome.status == "failed"
        assert "Stopped after 0 s" in outcome.text


async def test_a_call_made_after_the_turns_time_limit_is_not_started() -> None:
    toy = FakeTool("late", succeed)
    bench = Bench(toy, limits=TurnLimits(timeout_s=20.0))
    bench.turn.spent.started_at_s -= 18.0
    (outcome,) = await bench.run(call("late", "c1"))
    assert (outcome.status, toy.ran) == ("failed", [])
    assert outcome.text.startswith("Not run: this turn has reached its time limit")
    assert not any(isinstance(event, CallStarted) for event in bench.journal.events)


async def test_a_call_that_runs_out_of_turn_time_says_so() -> None:
    bench = Bench(FakeTool("slow", hang), limits=TurnLimits(timeout_s=20.0))
    bench.turn.spent.started_at_s -= 17.999
    with anyio.fail_after(60):
        (outcome,) = await bench.run(call("slow", "c1"))
    assert "\nStopped: this turn has reached its time limit" in outcome.text


async def test_the_time_limit_of_a_call_is_reported_in_round_numbers() -> None:
    bench = Bench(FakeTool("slow", hang, deadline_s=0.0012345))
    with anyio.fail_after(60):
        (outcome,) = await bench.run(call("slow", "c1"))
    assert "Stopped after 0.00123 s" in outcome.text


async def test_time_spent_waiting_for_the_user_does_not_count_for_the_call() -> None:
    class Slow(AllowingGate):
        async def inquire(self, call_id: str, question: Question) -> Reply | None:
            return Reply("answered", str(anyio.current_effective_deadline()))

    bench = Bench(FakeTool("ask", inquire, deadline_s=1000.0))
    bench.turn.gate = Slow()
    (outcome,) = await bench.run(call("ask", "c1"))
    assert outcome.text == "inf"


async def test_a_paused_deadline_keeps_its_remaining_time() -> None:
    deadline = Deadline(1000.0)
    before = deadline.scope.deadline
    with deadline.paused():
        assert deadline.scope.deadline == math.inf
        with deadline.paused():
            pass
        assert deadline.scope.deadline == math.inf
    assert before <= deadline.scope.deadline < before + 100


async def test_an_expired_deadline_ends_what_waits() -> None:
    deadline = Deadline(0.0)
    with deadline.scope:
        await anyio.sleep(math.inf)
    assert deadline.scope.cancelled_caught


async def test_cancelling_gives_every_open_call_its_outcome() -> None:
    bench = Bench(FakeTool("hang", hang), FakeTool("fine", succeed))
    calls = (call("fine", "c1"), call("hang", "c2"), call("hang", "c3", again=True))
    with anyio.fail_after(60), anyio.CancelScope() as scope:

        async def stop_when_started() -> None:
            kinds = {(type(event), getattr(event, "call_id", "")) for event in bench.journal.events}
            while not {(CallEnded, "c1"), (CallStarted, "c2")} <= kinds:
                kinds = {(type(event), getattr(event, "call_id", "")) for event in bench.journal.events}
                await anyio.lowlevel.checkpoint()
            scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop_when_started)
            await bench.run(*calls)
    ended = [(event.call_id, event.status) for event in bench.journal.events if isinstance(event, CallEnded)]
    assert ended == [("c1", "completed"), ("c2", "cancelled"), ("c3", "cancelled")]


async def test_a_built_in_tool_gets_validated_arguments_after_a_repair() -> None:
    turn = open_turn(ScriptedProvider(), MemoryJournal(), MemoryWorkspace({"a": b"one\n"}))
    calls = (ToolCall("c1", "ReadFile", "{'path': 'a',}"), ToolCall("c2", "read_file", "{'colour': 'red',}"))
    turn.emit(StepEnded("msg_1", calls))
    read, wrong = await run_tool_calls(turn, calls, truncated=False)
    assert "one" in read.text
    assert read.is_cheap
    assert "not valid JSON" in wrong.text
