"""Delegate tasks to child agents: choose their tools, their depth and their share of the budget.

A child's tools are fixed before it starts, so delegation cannot exceed the maximum depth.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

import anyio
from msgspec import Struct, structs

from hermes_acp.agent.calls.call_messages import CallNote
from hermes_acp.agent.calls.call_progress import CallProgress
from hermes_acp.agent.calls.tool_calls import outcome_of
from hermes_acp.agent.children.child_agents import ChildGroup, run_child
from hermes_acp.agent.children.child_process import IN_WORKTREES, run_child_process
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.core.errors import BadRequest, InternalError, StorageError
from hermes_acp.core.ports.child_ports import ChildProcesses, ChildRecords, DelegatedTask
from hermes_acp.core.proposals import Progress, Result
from hermes_acp.tools.toolbox import Toolbox
from hermes_acp.workspaces.draft_workspace import DraftWorkspace

MAX_DEPTH: Final = 2
"""The maximum number of ancestors that a child may have."""
HANDS_ON: Final = "delegate"
WITHHELD: Final = frozenset({"ask_user", "memory", "skill_manage", "tool_manage"})
"""Tools that no child has: a child cannot ask anyone, and only the session's own agent writes notes, skills and tools.
"""
CRASHED: Final = CallNote(
    "The child agent failed unexpectedly ({kind}). Its work may be half done: check it before you continue."
)


class ChildLimits(Struct, frozen=True):
    """Limits on children: the maximum number per call, how many run concurrently, and how many steps each may take."""

    max_parallel: int = 3
    max_children: int = 8
    max_steps: int = 40


class Delegation:
    """The `TaskDelegator` of this process."""

    def __init__(
        self, records: ChildRecords, bounds: ChildLimits, processes: ChildProcesses | None = None
    ) -> None:
        """Create the delegator; with `processes`, children run in their own processes where possible."""
        self._records = records
        self._bounds = bounds
        self._processes = processes

    @property
    def about(self) -> str:
        """What the model needs to know about where child agents work."""
        return IN_WORKTREES if self._processes and self._processes.uses_worktrees else ""

    async def run_tasks(
        self, delegated_tasks: Sequence[DelegatedTask], tools: Sequence[str] | None, progress: Progress
    ) -> Sequence[Result]:
        """Run a child for each task, a few at a time; return each answer, or the reason why there is none.

        Raises BadRequest if there are too many tasks, if a tool is not available to children, or if the remaining
        budget is too small.
        """
        if not isinstance(progress, CallProgress):
            raise InternalError("Work was delegated outside of a turn.")
        turn, bounds = progress.turn, self._bounds
        if len(delegated_tasks) > bounds.max_children:
            raise BadRequest(
                f"{len(delegated_tasks)} tasks are more than one call may contain; the limit is {bounds.max_children}.",
                hint="Delegate fewer, or larger ones.",
            )
        deps = structs.replace(turn.deps, toolbox=child_tools(turn, tools))
        limits = child_limits(turn, len(delegated_tasks), bounds.max_steps)
        await turn.ledger.settle()
        group = ChildGroup(
            progress,
            self._records,
            deps,
            limits,
            [delegated_task.title for delegated_task in delegated_tasks],
        )
        outcomes = [Result("")] * len(delegated_tasks)
        slots = anyio.Semaphore(bounds.max_parallel)
        run = self._runner_for(turn)

        async def run_one(number: int, delegated_task: DelegatedTask) -> None:
            async with slots:
                outcomes[number] = await outcome_of(
                    partial(_finish, run, group, number, delegated_task), CRASHED
                )

        async with anyio.create_task_group() as tasks:
            for number, delegated_task in enumerate(delegated_tasks):
                tasks.start_soon(run_one, number, delegated_task)
        return outcomes

    def _runner_for(self, turn: Turn) -> "RunChild":
        """Return the function that runs a turn's children.

        A separate process is possible only if the files are on this machine.
        """
        if self._processes is None or turn.workspace.is_remote or isinstance(turn.workspace, DraftWorkspace):
            return run_child
        return partial(run_child_process, self._processes)


RunChild = Callable[[ChildGroup, int, DelegatedTask], Awaitable[Result]]


async def _finish(run: RunChild, group: ChildGroup, number: int, delegated_task: DelegatedTask) -> Result:
    """Run one child to its end; if its record cannot be written, only this child ends."""
    try:
        return await run(group, number, delegated_task)
    except StorageError as error:
        return Result(error.sentence(), is_error=True)


def child_tools(turn: Turn, wanted: Sequence[str] | None) -> Toolbox:
    """Return the tools for a turn's child: the turn's own, except those not available to children or at this depth.

    `wanted` restricts them further. Raises BadRequest for an unknown name.
    """
    withheld = WITHHELD if turn.depth + 1 < MAX_DEPTH else WITHHELD | {HANDS_ON}
    names = [name for name in turn.deps.toolbox.names if name not in withheld]
    if wanted is None:
        return turn.deps.toolbox.only(names)
    if unknown := [name for name in wanted if name not in names]:
        raise BadRequest(
            f"A child agent has no tool {unknown[0][:80]!r}.",
            hint=f"It may use: {', '.join(name for name in turn.deps.toolbox.offered if name in names)}.",
        )
    return turn.deps.toolbox.only(wanted)


def child_limits(turn: Turn, children: int, most_steps: int) -> TurnLimits:
    """Return the limits for each child: an equal share of the remaining budget, counting the turn itself as one.

    Time passes for all at once, so it is not divided: children end before the time reserved for the turn's final
    answer.

    Raises BadRequest if a share would be zero.
    """
    limits, spent, heads = turn.limits, turn.spent, children + 1
    steps = most_steps
    if limits.max_steps is not None:
        steps = min(steps, (limits.max_steps - spent.steps + spent.refunds) // heads)
    tokens = None
    if limits.max_tokens is not None:
        tokens = (limits.max_tokens - spent.usage.total_tokens) // heads
    cost_usd = None
    if limits.max_cost_usd is not None:
        cost_usd = (limits.max_cost_usd - (spent.cost_usd or 0.0)) / heads
    timeout_s = None
    if limits.working_s is not None:
        timeout_s = limits.working_s - (turn.deps.clock.monotonic() - spent.started_at_s)
    shares = (steps, tokens, cost_usd, timeout_s)
    if any(share is not None and share <= 0 for share in shares):
        raise BadRequest(
            f"The remaining budget of this turn is too small to share among {children} child agents.",
            hint="Delegate less, or do it yourself.",
        )
    return structs.replace(
        limits,
        max_steps=steps,
        max_tokens=tokens,
        max_cost_usd=cost_usd,
        timeout_s=timeout_s,
        max_refunds=max(0, limits.max_refunds - spent.refunds) // heads,
    )
