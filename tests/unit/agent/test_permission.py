"""A call whose policy check crashes or times out needs the user's approval."""

from collections.abc import Iterable

import anyio
import anyio.lowlevel
import pytest
from msgspec import structs

from hermes_acp.agent.calls.call_checkpoints import checkpoint_before
from hermes_acp.agent.calls.call_permission import TOO_HARD, judge
from hermes_acp.agent.calls.tool_calls import run_tool_calls
from hermes_acp.agent.turn.turn_checkpoints import TurnCheckpoints
from hermes_acp.core.event_types import Grant, Mode
from hermes_acp.core.events import StepEnded
from hermes_acp.core.proposals import Effect, Progress, Proposal, Result, Runs
from hermes_acp.policy.information_flow import NO_FLOW, FlowState
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.verdicts import Verdict
from tests.conversations.scripted_provider import ScriptedProvider, call
from tests.unit.agent.fake_tools import FakeTool, succeed
from tests.unit.agent.turns import MemoryJournal, open_turn

pytestmark = pytest.mark.anyio


async def nothing(progress: Progress) -> Result:
    return Result("")


class BrokenPolicy(Policy):
    """A policy that always crashes."""

    def judge(
        self,
        effects: Iterable[Effect],
        mode: Mode,
        grants: Iterable[Grant],
        *,
        tool: str = "",
        place: str = "",
        folder: str = "",
        flow: FlowState = NO_FLOW,
    ) -> Verdict:
        raise RuntimeError("a fault in the policy")


async def test_a_policy_that_crashes_lets_nothing_run() -> None:
    toy = FakeTool("touch", succeed)
    turn = open_turn(ScriptedProvider(), MemoryJournal(), tools={"touch": toy})
    turn.deps = structs.replace(turn.deps, policy=BrokenPolicy("/h/.hermes"))
    asked = call("touch", "c1")
    turn.emit(StepEnded("msg_1", (asked,)))
    (outcome,) = await run_tool_calls(turn, (asked,), truncated=False)
    assert (outcome.status, toy.ran) == ("failed", [])


async def test_a_huge_command_is_checked_in_a_worker_and_needs_approval() -> None:
    toy = FakeTool("touch", succeed)
    turn = open_turn(ScriptedProvider(), MemoryJournal(), tools={"touch": toy})
    proposal = Proposal("huge", "execute", nothing, (Runs("true; " * 200_000 + "x", "/"),))
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await anyio.lowlevel.checkpoint()
            beats += 1

    verdicts: list[Verdict] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beat)
        verdicts.append(await judge(turn, toy, proposal, turn.record.exposure))
        tasks.cancel_scope.cancel()
    assert [verdict.decision for verdict in verdicts] == ["ask"]
    assert beats > 1
    assert TOO_HARD.decision == "ask"


async def test_the_effects_of_a_huge_command_are_determined_in_a_worker() -> None:
    turn = open_turn(ScriptedProvider(), MemoryJournal())
    turn.calls.checkpoints = TurnCheckpoints(lambda: None, turn.ledger)
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await anyio.lowlevel.checkpoint()
            beats += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beat)
        await checkpoint_before(turn, (Runs("true; " * 500 + "x", "/"),))
        tasks.cancel_scope.cancel()
    assert beats > 1
