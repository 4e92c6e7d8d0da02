"""Run a child agent: a turn in a separate session that carries out a task for one of its parent's calls."""

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from hermes_acp.agent.calls.call_progress import TAIL_CHARACTERS, CallProgress
from hermes_acp.agent.calls.flow_tracking import note_sources
from hermes_acp.agent.children.child_answer import child_result
from hermes_acp.agent.children.child_turn import ChildSetup, child_session, open_child_turn
from hermes_acp.agent.children.parent_gate import ParentCards, ParentGate
from hermes_acp.agent.loop.turn_runner import run_unprompted
from hermes_acp.agent.system_prompt import child_instructions
from hermes_acp.agent.turn.turn import TurnDependencies, TurnOrigin
from hermes_acp.agent.turn.turn_endings import SENTENCES
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.core.event_types import ToolsOffered
from hermes_acp.core.events import (
    CallEnded,
    CallProgressed,
    CallProposed,
    CallStarted,
    ChildChanged,
    ChildReported,
    Event,
    PermissionAnswered,
    PermissionAsked,
    PromptFrozen,
    StepEnded,
    TextSaid,
    TurnEnded,
)
from hermes_acp.core.flow_labels import SourcesRead
from hermes_acp.core.ports.child_ports import ChildRecords, DelegatedTask
from hermes_acp.core.proposals import Result

MAX_STATUS_CHARACTERS: Final = 100


class ChildGroup:
    """The children of one call, with the state they share."""

    def __init__(
        self,
        progress: CallProgress,
        records: ChildRecords,
        deps: TurnDependencies,
        limits: TurnLimits,
        titles: Sequence[str],
    ) -> None:
        self.progress = progress
        self.turn = progress.turn
        self.records = records
        self.deps = deps
        self._limits = limits
        self._began_at_s = self.turn.deps.clock.monotonic()
        self._standings = [f"{title}: waiting" for title in titles]
        self._report()

    def limits_now(self) -> TurnLimits:
        """Return the limits for a child that starts now; its time limit is whatever time remains."""
        timeout_s = self._limits.timeout_s
        if timeout_s is None:
            return self._limits
        passed_s = self.turn.deps.clock.monotonic() - self._began_at_s
        return structs.replace(self._limits, timeout_s=max(0.0, timeout_s - passed_s))

    def show_status(self, number: int, standing: str) -> None:
        """Show the status of one child, in a few lines."""
        self._standings[number] = standing
        self._report()

    def _report(self) -> None:
        """Show the status of all children on the card, dividing the space equally among them."""
        room = TAIL_CHARACTERS // len(self._standings)
        lines = (f"{number}. {standing}"[: room - 1] for number, standing in enumerate(self._standings, 1))
        self.progress.board("\n".join(lines))


class ChildObserver:
    """Shows one child in the parent's session: its status, and the calls that needed approval.

    An "always" answer given to the child is recorded in the parent's session, so that it also applies there and to the
    other children.
    """

    def __init__(self, group: ChildGroup, number: int, title: str, cards: ParentCards, child_id: str) -> None:
        self._group = group
        self._number = number
        self._title = title
        self._cards = cards
        self._child_id = child_id
        self._steps = 0
        self._step = 1
        self._doing = self._call = "begins"
        self._words = self._last = ""

    def show(self, event: Event) -> None:
        """Handle an event of the child's session."""
        if isinstance(event, PromptFrozen | ToolsOffered):
            return
        parent = self._group.turn
        parent.ledger.show(ChildReported(self._child_id, event))
        if isinstance(event, SourcesRead):
            note_sources(parent, event.sources, self._cards.own_id(event.call_id))
        if isinstance(event, CallProposed | CallStarted | CallProgressed | CallEnded):
            self._cards.follow(event)
        elif isinstance(event, PermissionAnswered) and (own_id := self._cards.own_id(event.call_id)):
            parent.emit(structs.replace(event, call_id=own_id))
        self._follow(event)

    def _follow(self, event: Event) -> None:
        match event:
            case TextSaid():
                self._words = (self._words + event.text)[-TAIL_CHARACTERS:]
                self._last = _last_line(self._words) or self._last
                self._doing, self._step = "answers", self._steps + 1
            case CallProposed():
                self._doing = self._call = event.title
            case PermissionAsked():
                self._doing = f"waits for an answer: {self._call}"
            case PermissionAnswered():
                self._doing = self._call
            case CallProgressed():
                self._last = _last_line(event.text) or self._last
            case StepEnded():
                self._steps += 1
                self._words = ""
            case _:
                return
        doing = " ".join(self._doing.split())[:MAX_STATUS_CHARACTERS]
        last = f"\n   {self._last}" if self._last else ""
        self._group.show_status(self._number, f"{self._title}: step {self._step}, {doing}{last}")

    def end(self, ended: TurnEnded) -> None:
        """Show how the child ended."""
        how = "done" if ended.reason == "done" else ended.sentence
        steps = "1 step" if ended.steps == 1 else f"{ended.steps} steps"
        self._group.show_status(self._number, f"{self._title}: {how} ({steps})")

    async def drained(self) -> None:
        """Wait while any subscriber of the parent is too far behind."""
        await self._group.turn.ledger.drained()


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][-MAX_STATUS_CHARACTERS:] if lines else ""


async def run_child(group: ChildGroup, number: int, delegated_task: DelegatedTask) -> Result:
    """Carry out one task in a separate turn; return its answer, or the reason why there is none.

    Whatever happens, its record is closed and the parent's session records how it ended. Raises StorageError.
    """
    parent, title = group.turn, delegated_task.title
    began: ChildChanged | None = None
    ended = TurnEnded("", "storage_trouble", SENTENCES["storage_trouble"])
    try:
        async with child_session(parent, group.records) as ledger:
            record = ledger.record
            began = ChildChanged(group.progress.call_id, record.session_id, title)
            cards = ParentCards(parent, title)
            turn = open_child_turn(parent, ledger, child_setup(group, title), ParentGate(parent, cards))
            parent.emit(began)
            observer = ChildObserver(group, number, title, cards, record.session_id)
            ledger.admit(observer)
            try:
                ended = await run_unprompted(turn, prompt_of(delegated_task))
            except BaseException:
                ended = record.last_end or ended
                raise
            finally:
                observer.end(ended)
    finally:
        if began:
            parent.emit(
                structs.replace(began, reason=ended.reason, sentence=ended.sentence, cost_usd=ended.cost_usd)
            )
    return child_result(record, ended)


def child_setup(group: ChildGroup, title: str) -> ChildSetup:
    """Return the setup for a child that starts now."""
    parent, deps = group.turn, group.deps
    instructions = child_instructions(deps.toolbox.offered, parent.outermost.record.instructions)
    origin = TurnOrigin(delegator=parent, trace=parent.trace_below(group.progress.call_id))
    return ChildSetup(title, deps, group.limits_now(), origin, instructions)


def prompt_of(delegated_task: DelegatedTask) -> str:
    """Convert a task to the prompt for its child."""
    instructions, context = delegated_task.instructions, delegated_task.context
    return f"{instructions}\n\n{context}" if context else instructions
