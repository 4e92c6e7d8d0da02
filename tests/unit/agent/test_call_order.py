"""Scheduling of the calls of one step: what runs concurrently, and that each call sees the results of earlier ones."""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.calls.call_scheduling import Footprint, footprint_of
from hermes_acp.agent.calls.tool_calls import run_tool_calls
from hermes_acp.agent.calls.tool_capabilities import undeclared_effects
from hermes_acp.core.event_types import Capability, PermissionAnswer
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    PermissionAnswered,
    PermissionAsked,
    StepEnded,
)
from hermes_acp.core.messages import ToolCall
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import (
    Calls,
    Deletes,
    Effect,
    Presses,
    Progress,
    Proposal,
    Reaches,
    Reads,
    Recalls,
    Result,
    Runs,
    Writes,
)
from hermes_acp.core.record.history_invariants import invariant_violations
from hermes_acp.core.tool_metadata import ToolMetadata
from tests.conversations.scripted_provider import ScriptedProvider, call
from tests.unit.agent.fake_tools import Does, FakeTool, succeed
from tests.unit.agent.turns import AllowingGate, MemoryJournal, MemoryLog, open_turn

pytestmark = pytest.mark.anyio
ALL: frozenset[Capability] = frozenset({"files", "network", "processes", "memory", "delegation"})
READ, WRITE, RUN = Reads("/project/a"), Writes("/project/a"), Runs("make", "/project")


class Actor(FakeTool):
    """A fake tool with effects that the test chooses."""

    def __init__(
        self,
        name: str,
        does: Does,
        *effects: Effect,
        is_repeatable: bool = True,
        has: frozenset[Capability] = ALL,
    ) -> None:
        is_cheap = all(isinstance(effect, Reads) for effect in effects)
        super().__init__(name, does, ToolMetadata(has, is_cheap, is_repeatable))
        self.effects = effects
        self.proposed_after: list[int] = []

    async def propose(self, arguments: dict[str, Any], workspace: Workspace) -> Proposal:
        self.proposed_after.append(len(self.ran))
        plain = await super().propose(arguments, workspace)
        return Proposal(plain.title, plain.kind, plain.perform, self.effects)


class Meeting:
    """An action that ends only when several calls run it at the same time."""

    def __init__(self, count: int) -> None:
        self._missing = count
        self._all_here = anyio.Event()

    async def __call__(self, progress: Progress, arguments: dict[str, Any]) -> Result:
        self._missing -= 1
        if not self._missing:
            self._all_here.set()
        await self._all_here.wait()
        return Result("met")


async def run(journal: MemoryJournal, toys: Sequence[FakeTool], *calls: ToolCall) -> list[str]:
    turn = open_turn(ScriptedProvider(), journal, tools={toy.name: toy for toy in toys})
    turn.emit(StepEnded("msg_1", calls))
    with anyio.fail_after(60):
        outcomes = await run_tool_calls(turn, calls, truncated=False)
    assert invariant_violations(turn.record.messages) == []
    return [outcome.text for outcome in outcomes]


def trace(journal: MemoryJournal) -> list[str]:
    """Return when calls started and ended, in the order of the record."""
    signs = {CallStarted: "+", CallEnded: "-"}
    return [
        f"{signs[type(event)]}{event.call_id}"
        for event in journal.events
        if isinstance(event, CallStarted | CallEnded)
    ]


async def test_read_only_calls_run_concurrently() -> None:
    meeting = Meeting(3)
    toys = Actor("look", meeting, READ), Actor("find", meeting, Reads("/project"))
    calls = call("look", "c1", n=1), call("look", "c2", n=2), call("find", "c3")
    assert await run(MemoryJournal(), toys, *calls) == ["met"] * 3


async def test_changes_to_different_files_run_concurrently() -> None:
    meeting = Meeting(2)
    toys = Actor("one", meeting, WRITE), Actor("two", meeting, Writes("/project/b"))
    assert await run(MemoryJournal(), toys, call("one", "c1"), call("two", "c2")) == ["met"] * 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (WRITE, READ),
        (READ, WRITE),
        (WRITE, Reads("/project")),
        (Deletes("/project/a"), WRITE),
        (RUN, READ),
        (WRITE, RUN),
        (RUN, RUN),
        (Calls("s", "t"), READ),
        (Calls("s", "t"), Calls("s", "t")),
    ],
)
async def test_conflicting_calls_run_in_order(first: Effect, second: Effect) -> None:
    journal = MemoryJournal()

    async def slow(progress: Progress, arguments: dict[str, Any]) -> Result:
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        return Result("done")

    toys = Actor("one", slow, first), Actor("two", slow, second)
    await run(journal, toys, call("one", "c1"), call("two", "c2"))
    assert trace(journal) == ["+c1", "-c1", "+c2", "-c2"]


async def test_a_call_is_interpreted_after_the_calls_it_conflicts_with() -> None:
    state = ["before"]

    async def change(progress: Progress, arguments: dict[str, Any]) -> Result:
        await anyio.lowlevel.checkpoint()
        state[0] = "after"
        return Result("changed")

    class Looker(Actor):
        async def propose(self, arguments: dict[str, Any], workspace: Workspace) -> Proposal:
            found = state[0]

            async def tell(progress: Progress) -> Result:
                return Result(found)

            return Proposal("Look", "read", tell, (READ,))

    texts = await run(
        MemoryJournal(),
        [Actor("change", change, WRITE), Looker("look", succeed)],
        call("change", "c1"),
        call("look", "c2"),
    )
    assert texts == ["changed", "after"]


async def test_a_call_that_cannot_be_interpreted_yet_is_retried_after_a_change() -> None:
    files: set[str] = set()

    async def make(progress: Progress, arguments: dict[str, Any]) -> Result:
        await anyio.lowlevel.checkpoint()
        files.add("a")
        return Result("made")

    class Needy(Actor):
        async def propose(self, arguments: dict[str, Any], workspace: Workspace) -> Proposal:
            return await super().propose({"impossible": "a" not in files}, workspace)

    journal = MemoryJournal()
    toys = Actor("make", make, WRITE), Needy("use", succeed, READ)
    texts = await run(journal, toys, call("make", "c1"), call("use", "c2"))
    assert texts[1].startswith("Done")


async def test_outcomes_are_in_the_order_of_their_calls_however_they_end() -> None:
    journal = MemoryJournal()

    async def wait(progress: Progress, arguments: dict[str, Any]) -> Result:
        while not any(isinstance(event, CallEnded) for event in journal.events):
            await anyio.lowlevel.checkpoint()
        return Result("late")

    async def go(progress: Progress, arguments: dict[str, Any]) -> Result:
        return Result("early")

    toys = Actor("wait", wait, READ), Actor("go", go, READ)
    assert await run(journal, toys, call("wait", "c1"), call("go", "c2")) == ["late", "early"]
    assert [event.call_id for event in journal.events if isinstance(event, CallEnded)] == ["c2", "c1"]


async def test_questions_are_asked_one_at_a_time_and_in_order_while_others_continue() -> None:
    looked = anyio.Event()

    class Slow(AllowingGate):
        async def ask(self, call: CallProposed, *, permission_scope: PermissionScope) -> PermissionAnswer:
            await looked.wait()
            return await super().ask(call, permission_scope=permission_scope)

    async def look(progress: Progress, arguments: dict[str, Any]) -> Result:
        looked.set()
        return Result("looked")

    journal = MemoryJournal()
    toys = (
        Actor("a", succeed, WRITE),
        Actor("b", succeed, Writes("/project/b")),
        Actor("look", look, Reads("/project/c")),
    )
    turn = open_turn(ScriptedProvider(), journal, tools={toy.name: toy for toy in toys})
    turn.gate = Slow()
    calls = call("a", "c1"), call("b", "c2"), call("look", "c3")
    turn.emit(StepEnded("msg_1", calls))
    with anyio.fail_after(60):
        await run_tool_calls(turn, calls, truncated=False)
    asked = [
        (type(event).__name__, event.call_id)
        for event in journal.events
        if isinstance(event, PermissionAsked | PermissionAnswered)
    ]
    assert asked == [
        ("PermissionAsked", "c1"),
        ("PermissionAnswered", "c1"),
        ("PermissionAsked", "c2"),
        ("PermissionAnswered", "c2"),
    ]


async def test_a_repeated_read_runs_once_even_while_the_first_is_running() -> None:
    toy = Actor("look", Meeting(1), READ)
    texts = await run(MemoryJournal(), [toy], call("look", "c1"), call("look", "c2"))
    assert texts[0] == "met"
    assert "Not run again" in texts[1]
    assert len(toy.ran) == 1


@pytest.mark.parametrize(
    ("effect", "needed"),
    [
        (READ, "files"),
        (WRITE, "files"),
        (Deletes("/x"), "files"),
        (RUN, "processes"),
        (Reaches("example.org", "https://example.org"), "network"),
        (Presses(), "network"),
        (Calls("s", "t"), "network"),
        (Recalls(), "memory"),
    ],
)
async def test_a_call_beyond_its_tools_capabilities_never_runs(effect: Effect, needed: Capability) -> None:
    toy = Actor("sly", succeed, effect, has=ALL - {needed})
    turn = open_turn(ScriptedProvider(), MemoryJournal(), tools={"sly": toy})
    turn.emit(StepEnded("msg_1", (call("sly", "c1"),)))
    (outcome,) = await run_tool_calls(turn, (call("sly", "c1"),), truncated=False)
    assert (outcome.status, toy.ran) == ("failed", [])
    assert "bug in the agent" in outcome.text
    assert isinstance(turn.gate, AllowingGate)
    assert turn.gate.asked == []
    assert isinstance(turn.deps.log, MemoryLog)
    assert turn.deps.log.lines == [
        ("call_beyond_capabilities", {"tool": "sly", "effect": type(effect).__name__})
    ]
    assert undeclared_effects((effect,), frozenset({needed})) == ()


def test_calls_to_a_stateful_tool_run_in_order_and_others_concurrently() -> None:
    page = Reaches("example.org", "https://example.org")
    browser = Actor("browser", succeed, is_repeatable=False, has=frozenset({"network"}))
    fetcher = Actor("fetch", succeed, has=frozenset({"network"}))
    assert footprint_of(browser, (page,)).conflicts_with(footprint_of(browser, ()))
    uploading = footprint_of(browser, (READ, Presses(sends_text=True, uploads="/x", host="example.org")))
    assert uploading.conflicts_with(footprint_of(browser, (Presses(),)))
    assert not footprint_of(browser, (page,)).conflicts_with(footprint_of(fetcher, (page,)))
    assert not footprint_of(fetcher, (page,)).conflicts_with(footprint_of(fetcher, (page,)))
    delegate = Actor("delegate", succeed, is_repeatable=False, has=frozenset({"delegation"}))
    assert footprint_of(delegate, ()).conflicts_with(footprint_of(fetcher, (READ,)))
    assert not footprint_of(delegate, ()).conflicts_with(footprint_of(fetcher, ()))


PATHS = st.lists(st.sampled_from(["/", "/a", "/a/b", "/ab", "/c"]), max_size=2).map(tuple)
FOOTPRINTS = st.builds(Footprint, PATHS, PATHS, st.booleans(), st.sampled_from(["", "x"]))


@given(FOOTPRINTS, FOOTPRINTS)
def test_conflicts_are_symmetric(one: Footprint, other: Footprint) -> None:
    assert one.conflicts_with(other) is other.conflicts_with(one)
    if not one.changes_anything and not other.changes_anything and not one.place:
        assert not one.conflicts_with(other)
