"""Child agents: the tools they get, their limits, and failures of children."""

import math
from collections.abc import Callable

import pytest

from hermes_acp.agent.calls.call_progress import TAIL_CHARACTERS
from hermes_acp.agent.children.child_answer import MAX_ANSWER_CHARACTERS
from hermes_acp.agent.children.delegation import ChildLimits, Delegation, child_limits, child_tools
from hermes_acp.agent.loop.turn_runner import run_to_ending
from hermes_acp.agent.setup.turn_stages import turn_stages
from hermes_acp.agent.stages.step_refund import refund_cheap_step
from hermes_acp.agent.turn.turn import Turn, TurnOrigin
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.agent.turn.turn_step import CallOutcome, TurnStep
from hermes_acp.agent.turn.turn_usage import TurnUsage
from hermes_acp.core.errors import BadRequest, ModelUnavailable, StorageError
from hermes_acp.core.event_types import Grant
from hermes_acp.core.events import (
    CallEnded,
    CallProgressed,
    ChildChanged,
    Event,
    PermissionAnswered,
    SessionOpened,
    TurnEnded,
)
from hermes_acp.core.messages import AssistantMessage, ModelReply, ModelRequest, TextPart, Usage, UserMessage
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.child_ports import DelegatedTask
from hermes_acp.core.record.session_record import Record
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.tools.toolbox import Toolbox
from tests.conversations.scripted_provider import ScriptedProvider, call, step
from tests.conversations.scripted_provider import Step as Played
from tests.unit.agent.fake_tools import FakeTool, succeed
from tests.unit.agent.turns import MemoryJournal, open_turn
from tests.unit.tools.tool_calling import MemoryWorkspace, RecordingDelegates, Report

pytestmark = pytest.mark.anyio
LEAF = PluginFolder[object]("hermes_acp.tools.builtin", "TOOL")


class ClosedJournal(MemoryJournal):
    """A journal that records that it was released."""

    def __init__(self) -> None:
        super().__init__()
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


class MemoryRecords:
    """Records of children in a list; the disk is full from the number `full_at` on."""

    def __init__(self, full_at: int = 99) -> None:
        self.journals: list[ClosedJournal] = []
        self._full_at = full_at

    async def begin(self, parent: Record, folder: str = "") -> tuple[ClosedJournal, Record]:
        if len(self.journals) >= self._full_at:
            raise StorageError("The disk is full.")
        journal, record = ClosedJournal(), Record()
        self.journals.append(journal)
        child_id = f"{parent.session_id}.child_{len(self.journals)}"
        opened = SessionOpened(child_id, parent.cwd, parent.roots, 1.0, parent_id=parent.session_id)
        record.apply(journal.append(opened))
        return journal, record

    async def read_from(self, child_id: str, start: int) -> tuple[list[Event], int]:
        events = self.journals[int(child_id.rpartition("_")[2]) - 1].events
        return events[start:], len(events)

    async def close_killed(self, child_id: str) -> None:
        raise AssertionError(f"the process of {child_id} was not killed")


def turn_with(
    answer: Callable[[ModelRequest], Played],
    records: MemoryRecords,
    *,
    bounds: ChildLimits | None = None,
    limits: TurnLimits | None = None,
) -> tuple[Turn, MemoryJournal]:
    provider, journal = ScriptedProvider(), MemoryJournal()
    provider.answer = answer
    delegation = Delegation(records, bounds or ChildLimits())
    tools = {
        name: FakeTool(name, succeed, ToolMetadata(is_cheap=name == "look"))
        for name in ("ask_user", "look", "act")
    }
    leaf = LEAF.open("delegate")
    turn = open_turn(
        provider,
        journal,
        stages=turn_stages("first_line"),
        limits=limits,
        tools={**tools, "delegate": vars(type(leaf))["bind"](leaf, delegation)},
    )
    return turn, journal


def first_words(request: ModelRequest) -> str:
    said = request.messages[0]
    assert isinstance(said, UserMessage)
    return "".join(part.text for part in said.parts if isinstance(part, TextPart))


def hands_over(*instructions: str, **more: object) -> Played:
    return step(
        call("delegate", tasks=[{"title": f"T {i}", "instructions": i} for i in instructions], **more)
    )


def parent_of(
    *instructions: str, **child: Callable[[ModelRequest], Played]
) -> Callable[[ModelRequest], Played]:
    """Have a parent delegate once and each child send the scripted replies for its instructions."""

    def answer(request: ModelRequest) -> Played:
        words = first_words(request)
        if words != "go":
            return child[words](request)
        return hands_over(*instructions) if len(request.messages) == 1 else step("All in.")

    return answer


def says(text: str) -> Callable[[ModelRequest], Played]:
    return lambda request: step(text)


def breaks(request: ModelRequest) -> Played:
    raise ZeroDivisionError


def is_gone(request: ModelRequest) -> Played:
    return step("Half a word", ModelUnavailable("Gone."))


def never_ends(request: ModelRequest) -> Played:
    return step("On and on.", call("act", n=len(request.messages)))


def ends_of(journal: MemoryJournal) -> list[CallEnded]:
    return [event for event in journal.events if isinstance(event, CallEnded)]


async def test_every_child_answers_and_its_record_is_closed() -> None:
    records = MemoryRecords()
    turn, journal = turn_with(parent_of("one", "two", one=says("First."), two=says("Second.")), records)
    assert (await run_to_ending(turn)).reason == "done"
    (end,) = ends_of(journal)
    assert (end.status, end.text) == ("completed", "## 1. T one\nFirst.\n\n## 2. T two\nSecond.")
    assert [kept.is_closed for kept in records.journals] == [True, True]
    assert all(isinstance(kept.events[-1], TurnEnded) for kept in records.journals)
    changes = [event for event in journal.events if isinstance(event, ChildChanged)]
    assert sorted((event.title, event.reason) for event in changes if event.reason) == [
        ("T one", "done"),
        ("T two", "done"),
    ]
    assert [event.reason for event in changes[:2]] == [None, None]


async def test_a_child_failure_is_reported_and_ends_nothing_else() -> None:
    records = MemoryRecords()
    answer = parent_of("a", "b", "c", "d", a=breaks, b=is_gone, c=never_ends, d=says("Fine."))
    turn, journal = turn_with(answer, records, bounds=ChildLimits(max_parallel=4, max_steps=2))
    assert (await run_to_ending(turn)).reason == "done"
    (end,) = ends_of(journal)
    a, b, c, d = end.text.split("\n\n")
    assert a == "## 1. T a\n" + (
        "The child agent failed unexpectedly (ZeroDivisionError). Its work may be half done: check it before "
        "you continue."
    )
    assert (
        b
        == "## 2. T b\nHalf a word\n[The turn was interrupted here.]\n[The child agent did not finish: Gone.]"
    )
    assert c.startswith("## 3. T c\nOn and on.\n[The child agent did not finish: Stopped after ")
    assert (d, end.status) == ("## 4. T d\nFine.", "completed")
    assert sorted(str(e.reason) for e in journal.events if isinstance(e, ChildChanged) and e.reason) == [
        "done",
        "gave_up",
        "model_trouble",
        "out_of_steps",
    ]
    assert all(kept.is_closed for kept in records.journals)


async def test_a_child_without_a_record_is_reported_and_the_call_fails_if_none_has_one() -> None:
    turn, journal = turn_with(parent_of("a", a=says("Never.")), MemoryRecords(full_at=0))
    assert (await run_to_ending(turn)).reason == "done"
    (end,) = ends_of(journal)
    assert (end.status, end.text) == ("failed", "## 1. T a\nThe disk is full.")


async def test_an_answer_too_long_for_the_parent_is_cut() -> None:
    turn, journal = turn_with(parent_of("a", a=says("x" * (MAX_ANSWER_CHARACTERS + 5))), MemoryRecords())
    await run_to_ending(turn)
    assert "[… 5 more characters of this answer are in the session ses_1.child_1]" in ends_of(journal)[0].text


async def test_grandchildren_cannot_delegate_and_no_child_asks_the_user() -> None:
    offered: dict[str, list[str]] = {}

    def answer(request: ModelRequest) -> Played:
        words = first_words(request)
        offered[words] = [tool.name for tool in request.tools]
        if len(request.messages) > 1 or words == "deeper":
            return step(f"Done {words}.")
        return hands_over({"go": "deep", "deep": "deeper"}[words])

    records = MemoryRecords()
    turn, journal = turn_with(answer, records)
    assert (await run_to_ending(turn)).reason == "done"
    assert offered == {
        "go": ["act", "ask_user", "delegate", "look"],
        "deep": ["act", "delegate", "look"],
        "deeper": ["act", "look"],
    }
    assert [
        event.parent_id
        for kept in records.journals
        for event in kept.events
        if isinstance(event, SessionOpened)
    ] == [
        "ses_1",
        "ses_1.child_1",
    ]
    assert ends_of(journal)[0].text == "## 1. T deep\nDone deep."
    assert (turn.spent.steps, turn.spent.usage) == (5, Usage(50, 25))


async def test_the_tools_of_children_can_be_restricted_but_not_extended() -> None:
    turn, _ = turn_with(says("."), MemoryRecords())
    assert child_tools(turn, ["look"]).names == ("look",)
    for strange in ("ask_user", "no_such_tool"):
        with pytest.raises(BadRequest, match=strange):
            child_tools(turn, [strange])


async def test_too_many_tasks_and_two_calls_in_a_step_are_refused() -> None:
    def answer(request: ModelRequest) -> Played:
        if first_words(request) != "go":
            return step("Fine.")
        if len(request.messages) > 1:
            return step("All in.")
        beats = (
            *hands_over("a", "b", "c").beats,
            call("delegate", "c2", tasks=[{"title": "D", "instructions": "d"}]),
        )
        return step(*beats)

    records = MemoryRecords()
    turn, journal = turn_with(answer, records, bounds=ChildLimits(max_children=2))
    await run_to_ending(turn)
    first, second = sorted(ends_of(journal), key=lambda end: end.text)
    assert first.text.startswith("3 tasks are more than one call may contain; the limit is 2.")
    assert second.text.startswith("Not run: a step may contain at most 1 calls of delegate")
    assert records.journals == []


def test_the_usage_of_a_child_counts_for_every_ancestor() -> None:
    top = TurnUsage(0.0)
    child = TurnUsage(0.0, top)
    grandchild = TurnUsage(0.0, child)
    grandchild.add(Usage(10, 5), 0.5)
    child.add(Usage(1, 1), None)
    grandchild.count_refund()
    assert [(each.steps, each.refunds, each.cost_usd) for each in (top, child, grandchild)] == [
        (2, 1, 0.5),
        (2, 1, 0.5),
        (1, 1, 0.5),
    ]
    assert top.usage == child.usage == Usage(11, 6)


async def test_children_and_parent_share_the_remaining_budget() -> None:
    limits = TurnLimits(max_steps=41, max_tokens=1000, max_cost_usd=1.0, timeout_s=100.0, max_refunds=9)
    turn, _ = turn_with(says("."), MemoryRecords(), limits=limits)
    turn.spent.add(Usage(150, 50), 0.2)
    share = child_limits(turn, 3, 40)
    assert (share.max_steps, share.max_tokens, share.max_refunds) == (10, 200, 2)
    assert share.max_cost_usd == pytest.approx(0.2)
    assert share.timeout_s == pytest.approx(90.0)
    assert child_limits(turn, 1, 5).max_steps == 5
    with pytest.raises(BadRequest, match="too small"):
        child_limits(turn, 40, 40)
    assert child_limits(
        open_turn(ScriptedProvider(), MemoryJournal(), limits=TurnLimits(max_steps=None)), 3, 40
    ) == TurnLimits(max_steps=40, max_refunds=5)


async def test_a_childs_refund_counts_for_its_parents() -> None:
    turn, _ = turn_with(says("."), MemoryRecords())
    turn.spent.add(Usage(), None)
    looked = TurnStep(
        ModelReply(AssistantMessage(), "tool_calls", Usage()),
        (CallOutcome("look", "look {}", "completed", "", is_understood=True, is_cheap=True),),
    )
    await refund_cheap_step(turn, looked)
    assert turn.spent.refunds == 1


async def test_grants_and_mode_apply_to_descendants() -> None:
    turn, _ = turn_with(says("."), MemoryRecords())
    below = open_turn(ScriptedProvider(), MemoryJournal())
    below.origin = TurnOrigin(delegator=turn)
    grant = Grant("write", "/project/a", allowed=True)
    turn.emit(PermissionAnswered("c1", "allow_always", (grant,)))
    assert (below.grants, below.depth, below.mode) == ((grant,), 1, "ask")
    turn.record.mode = "plan"
    assert below.mode == "plan"


async def test_the_progress_text_of_many_children_is_limited() -> None:
    many = [f"w{number}" for number in range(8)]
    children = {name: says(f"{name} " * 2000) for name in many}
    turn, journal = turn_with(parent_of(*many, **children), MemoryRecords())
    await run_to_ending(turn)
    boards = [event.text for event in journal.events if isinstance(event, CallProgressed)]
    assert all(len(board) <= TAIL_CHARACTERS for board in boards)


def test_a_toolbox_can_be_restricted() -> None:
    box = Toolbox({name: FakeTool(name, succeed) for name in ("b", "a")}).extended(
        {"c": FakeTool("c", succeed)}
    )
    assert box.names == ("a", "b", "c")
    assert box.only(["c", "a"]).names == ("a", "c")


async def test_the_tool_passes_tasks_on_unchanged() -> None:
    somebody = RecordingDelegates()
    leaf = LEAF.open("delegate")
    tool = vars(type(leaf))["bind"](leaf, somebody)
    tasks = [
        {"title": "A\n b", "instructions": "do", "context": "with care"},
        {"title": "C", "instructions": "see"},
    ]
    arguments = tool.arguments.model_validate({"tasks": tasks, "tools": ["look"]})
    proposal = await tool.propose(arguments, MemoryWorkspace())
    assert (proposal.title, proposal.effects, proposal.deadline_s) == ("Delegate: A b; C", (), math.inf)
    result = await proposal.perform(Report())
    assert result.text == "## 1. A b\nA b: done.\n\n## 2. C\nC: done."
    assert somebody.given == [
        ([DelegatedTask("A b", "do", "with care"), DelegatedTask("C", "see")], ["look"])
    ]
