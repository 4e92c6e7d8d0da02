"""Run a child agent in its own process, and show it in the parent's session as if it ran here.

The parent starts the child's record, the child process continues it, and the parent reads what is appended. Questions
come back over the process's pipes and are asked in the parent's session.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

import anyio
from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.agent.calls.call_checkpoints import checkpoint_everything
from hermes_acp.agent.calls.flow_tracking import exposure_of
from hermes_acp.agent.children.child_agents import ChildGroup, ChildObserver, child_setup, prompt_of
from hermes_acp.agent.children.child_answer import UNFINISHED, child_result, last_answer
from hermes_acp.agent.children.child_turn import note_inherited
from hermes_acp.agent.children.parent_gate import ParentCards, ParentGate
from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import SENTENCES
from hermes_acp.core.errors import HermesError
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import (
    CallProposed,
    ChildChanged,
    Event,
    ModeChanged,
    PermissionAnswered,
    StepEnded,
    TurnEnded,
)
from hermes_acp.core.flow_labels import SourcesRead
from hermes_acp.core.messages import Usage
from hermes_acp.core.ports.child_ports import ChildProcesses, DelegatedTask, DelegatedWork, InheritedRights
from hermes_acp.core.ports.gate_ports import PermissionResponse, PermissionScope
from hermes_acp.core.ports.run_ports import Crashed, DriveOutcome, Failed, RunBudget, RunOrder
from hermes_acp.core.proposals import Question, Reply, Result
from hermes_acp.core.record.session_record import Record

IN_WORKTREES: Final = (
    "Each works in its own git worktree, created from the last commit, and answers with the branch that contains its "
    "work. Merge it yourself."
)
ON_BRANCH: Final = "[The work is on the git branch {branch}. It is not merged.]"
NOT_REMOVED: Final = "[The git worktree could not be removed: {why}]"
NO_WORK: Final = "[Nothing was changed in the git worktree.]"
KILLED: Final = (
    "[The child agent did not finish: its process was killed. What it was doing may have taken effect, fully or in "
    "part: check the current state before doing it again.]"
)
ORIGIN: Final = "delegate"


async def run_child_process(
    processes: ChildProcesses, group: ChildGroup, number: int, delegated_task: DelegatedTask
) -> Result:
    """Carry out one task in a separate process; return its answer, or the reason why there is none.

    Raises StorageError or WorkspaceError.
    """
    parent = group.turn
    child = _ChildProcess(processes, group, number, delegated_task)
    if not processes.uses_worktrees:
        await checkpoint_everything(parent)
        return await child.run()
    name = f"{parent.outermost.record.session_id}.{parent.deps.ids.fresh('tree')}"
    work = ""
    try:
        folder = await processes.open_worktree(name, parent.record.cwd)
        if folder == parent.record.cwd:
            await checkpoint_everything(parent)
            return await child.run()
        result = await child.run(folder)
    finally:
        with anyio.CancelScope(shield=True):
            work = await _work_in(processes, name)
    return structs.replace(result, text=f"{result.text}\n{work}")


async def _work_in(processes: ChildProcesses, name: str) -> str:
    """Remove a worktree; return a sentence that tells the parent's model where to find the work."""
    try:
        branch = await processes.close_worktree(name)
    except HermesError as error:
        return NOT_REMOVED.format(why=error.sentence())
    return ON_BRANCH.format(branch=branch) if branch else NO_WORK


class _ChildProcess:
    """One child: its record as read so far, and what the parent shows of it."""

    def __init__(
        self, processes: ChildProcesses, group: ChildGroup, number: int, delegated_task: DelegatedTask
    ) -> None:
        self._processes = processes
        self._group = group
        self._number = number
        self._task = delegated_task
        self._cards = ParentCards(group.turn, delegated_task.title)
        self._record = Record()
        self._read_bytes = 0
        self._used = Usage()
        self._steps = 0
        self._reading = anyio.Lock()
        self._advanced = anyio.Event()

    async def run(self, folder: str = "") -> Result:
        """Run the process until it exits; whatever happens, the child's record is closed."""
        parent, title = self._group.turn, self._task.title
        order = await self._begin(folder)
        child_id = order.session_id
        observer = ChildObserver(self._group, self._number, title, self._cards, child_id)
        began = ChildChanged(self._group.progress.call_id, child_id, title)
        parent.emit(began)
        outcome: DriveOutcome = Crashed()
        ended = _ending_of(outcome)
        try:
            async with background_tasks(lambda: self._follow(observer)):
                agent = _Parent(self, observer, parent, ParentGate(parent, self._cards))
                outcome = await self._processes.run(order, self._work(), agent, lambda: self._advanced.set())
        finally:
            with anyio.CancelScope(shield=True):
                ended = await self._end(child_id, observer, outcome)
            observer.end(ended)
            parent.emit(
                structs.replace(began, reason=ended.reason, sentence=ended.sentence, cost_usd=ended.cost_usd)
            )
        return self._result(outcome, ended)

    async def catch_up(self, observer: ChildObserver) -> None:
        """Show what the process has recorded since the last call."""
        async with self._reading:
            records, child_id = self._group.records, self._record.session_id
            events, self._read_bytes = await records.read_from(child_id, self._read_bytes)
            for event in events:
                self._record.apply(event)
                observer.show(event)
                if isinstance(event, StepEnded):
                    self._used += event.usage
                    self._steps += 1

    async def _begin(self, folder: str) -> RunOrder:
        """Start the child's record with what it inherits, and return the order for its process. Raises StorageError."""
        group, parent = self._group, self._group.turn
        setup = child_setup(group, self._task.title)
        journal, self._record = await group.records.begin(parent.record, folder)
        try:
            ledger = Ledger(journal, self._record)
            ledger.redactor = parent.deps.redactor
            note_inherited(parent, ledger, setup)
            if parent.grants:
                ledger.emit(PermissionAnswered("", "allow_always", parent.grants))
            if sources := exposure_of(parent).sources():
                ledger.emit(SourcesRead(sources))
            await ledger.settle()
        finally:
            journal.close()
        child_id, limits = self._record.session_id, setup.limits
        _, self._read_bytes = await group.records.read_from(child_id, 0)
        budget = RunBudget(limits.max_steps, limits.max_tokens, limits.max_cost_usd, limits.timeout_s)
        place, trace_parent = self._record.cwd, setup.origin.trace.parent
        return RunOrder(
            child_id,
            child_id,
            "",
            place,
            parent.mode,
            budget=budget,
            origin=ORIGIN,
            trace_parent=trace_parent,
        )

    def _work(self) -> DelegatedWork:
        return DelegatedWork(
            prompt_of(self._task), self._group.deps.toolbox.names, self._group.turn.depth + 1
        )

    async def _follow(self, observer: ChildObserver) -> None:
        while True:
            await self._advanced.wait()
            self._advanced = anyio.Event()
            await self.catch_up(observer)
            await observer.drained()

    async def _end(self, child_id: str, observer: ChildObserver, outcome: DriveOutcome) -> TurnEnded:
        """Close the record if the process could not, and count the child's usage; return how the child ended."""
        await self.catch_up(observer)
        if self._record.last_end is None:
            await self._group.records.close_killed(child_id)
            await self.catch_up(observer)
        ended = self._record.last_end or _ending_of(outcome)
        is_whole = ended.steps >= self._steps
        usage, steps = (ended.usage, ended.steps) if is_whole else (self._used, self._steps)
        self._group.turn.spent.include(steps, usage, ended.cost_usd)
        return ended

    def _result(self, outcome: DriveOutcome, ended: TurnEnded) -> Result:
        if isinstance(outcome, Crashed):
            why = KILLED
        elif isinstance(outcome, Failed) and not ended.turn_id:
            why = UNFINISHED.format(why=outcome.sentence)
        else:
            return child_result(self._record, ended)
        answer = last_answer(self._record)
        return Result(f"{answer}\n{why}" if answer else why, is_error=True)


class _Parent:
    """The parent side of a child process; implements `ParentAgent`.

    Questions are asked on the parent's cards, once everything that the process recorded before them has been shown.
    """

    def __init__(self, child: _ChildProcess, observer: ChildObserver, turn: Turn, gate: ParentGate) -> None:
        self._child = child
        self._observer = observer
        self._turn = turn
        self._gate = gate

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Ask the parent's user about a call."""
        await self._child.catch_up(self._observer)
        return await self._gate.ask(call, permission_scope=permission_scope)

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Return None: a child only asks for permission."""
        return await self._gate.inquire(call_id, question)

    @contextmanager
    def follow(self, changed: Callable[[InheritedRights], None]) -> Generator[None]:
        """Report the permissions of the session that the child works for, now and whenever they change."""
        viewer, ledger = _RightsViewer(self._turn, changed), self._turn.outermost.ledger
        ledger.admit(viewer)
        try:
            viewer.report()
            yield
        finally:
            ledger.dismiss(viewer)


class _RightsViewer:
    """Reports changes to the mode and to "always" answers in a turn's session."""

    def __init__(self, turn: Turn, changed: Callable[[InheritedRights], None]) -> None:
        self._turn = turn
        self._changed = changed

    def report(self) -> None:
        self._changed(InheritedRights(self._turn.mode, self._turn.grants))

    def show(self, event: Event) -> None:
        """Report the permissions if the event changed them."""
        if isinstance(event, ModeChanged | PermissionAnswered):
            self.report()

    async def drained(self) -> None:
        """Return at once: nothing is buffered."""


def _ending_of(outcome: DriveOutcome) -> TurnEnded:
    """Return how a child ended, for use when its record does not say."""
    if isinstance(outcome, Failed):
        return TurnEnded("", "gave_up", outcome.sentence)
    return TurnEnded("", "cancelled", SENTENCES["cancelled"])
