"""A child agent at work: a turn of its own, in a session of its own, for a call of another turn.

Knows: what a child is told, how its questions and grants reach whoever stands above, what of it is shown there.
Does not know: what it may use (`agent.delegation`), how a turn proceeds, editors.
"""

from collections.abc import Sequence
from typing import Final

import anyio
from msgspec import structs

from hermes_acp.agent.calls.call_progress import TAIL_CHARACTERS, CallProgress
from hermes_acp.agent.calls.flow_tracking import note_sources
from hermes_acp.agent.loop.turn_runner import run_unprompted
from hermes_acp.agent.system_prompt import child_instructions
from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.agent.turn.turn import Turn, TurnDependencies, TurnOrigin
from hermes_acp.agent.turn.turn_endings import SENTENCES
from hermes_acp.agent.turn.turn_inbox import Inbox
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.agent.turn.turn_usage import TurnUsage
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import (
    CallEnded,
    CallProgressed,
    CallProposed,
    CallStarted,
    ChildChanged,
    ChildReported,
    Event,
    ModeChanged,
    OptionsChanged,
    PermissionAnswered,
    PermissionAsked,
    PromptFrozen,
    StepEnded,
    TextSaid,
    TitleChanged,
    TurnEnded,
)
from hermes_acp.core.flow_labels import SourcesRead
from hermes_acp.core.messages import AssistantMessage
from hermes_acp.core.ports.child_ports import ChildRecords, DelegatedTask
from hermes_acp.core.ports.gate_ports import PermissionResponse, PermissionScope
from hermes_acp.core.proposals import Question, Reply, Result
from hermes_acp.core.record.session_record import Record

MAX_ANSWER_CHARACTERS: Final = 16_000
MAX_STATUS_CHARACTERS: Final = 100
UNFINISHED: Final = "[The child agent did not finish: {why}]"
CUT: Final = "\n[… {missing:,} more characters of this answer are in the session {child_id}]"


class ChildGroup:
    """The children of one call, and what they share."""

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
        self.asking = anyio.Lock()
        self._limits = limits
        self._began_at_s = self.turn.deps.clock.monotonic()
        self._standings = [f"{title}: waiting" for title in titles]
        self._report()

    def limits_now(self) -> TurnLimits:
        """Return what a child that begins now may use: of the time, what the others before it have left."""
        timeout_s = self._limits.timeout_s
        if timeout_s is None:
            return self._limits
        passed_s = self.turn.deps.clock.monotonic() - self._began_at_s
        return structs.replace(self._limits, timeout_s=max(0.0, timeout_s - passed_s))

    def stand(self, number: int, standing: str) -> None:
        """Show how one child stands, in a few lines."""
        self._standings[number] = standing
        self._report()

    def _report(self) -> None:
        """Show all of them, each in its share of the room."""
        room = TAIL_CHARACTERS // len(self._standings)
        lines = (f"{number}. {standing}"[: room - 1] for number, standing in enumerate(self._standings, 1))
        self.progress.board("\n".join(lines))


class ChildGate:
    """Whoever can be asked above, for one child: one question at a time among all children of a call."""

    def __init__(self, group: ChildGroup, title: str) -> None:
        self._group = group
        self._title = title
        self.own_ids: dict[str, str] = {}
        """Under which id the session above shows a call that was asked about."""

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Put the call to whoever the turn above asks, on a card of its own that says which child wants it."""
        above = self._group.turn
        async with self._group.asking, self._group.turn.calls.asking:
            own_id = above.deps.ids.fresh("call")
            card = structs.replace(call, call_id=own_id, title=f"{self._title}: {call.title}")
            self.own_ids[call.call_id] = own_id
            above.ledger.show(card)
            above.emit(PermissionAsked(own_id))
            await above.ledger.drained()
            return await above.gate.ask(card, permission_scope=permission_scope)

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Ask nobody: a child puts no questions but those for permission."""
        return None


class ChildObserver:
    """What the session above is shown of one child: how it stands, and the calls that were asked about.

    All of it is shown to those who take that. A standing answer given to the child is recorded above, so that it holds
    there and for the other children.
    """

    def __init__(self, group: ChildGroup, number: int, title: str, gate: ChildGate, child_id: str) -> None:
        self._group = group
        self._number = number
        self._title = title
        self._gate = gate
        self._child_id = child_id
        self._steps = 0
        self._step = 1
        self._doing = self._call = "begins"
        self._words = self._last = ""

    def show(self, event: Event) -> None:
        """Take one event of the child's."""
        if isinstance(event, PromptFrozen):
            return
        above = self._group.turn
        above.ledger.show(ChildReported(self._child_id, event))
        if isinstance(event, SourcesRead):
            note_sources(above, event.sources, self._gate.own_ids.get(event.call_id, ""))
        if isinstance(event, CallProposed | CallStarted | CallProgressed | CallEnded | PermissionAnswered):
            self._show_above(event)
        self._follow(event)

    def _show_above(
        self, event: CallProposed | CallStarted | CallProgressed | CallEnded | PermissionAnswered
    ) -> None:
        own_id = self._gate.own_ids.get(event.call_id)
        if own_id is None:
            return
        above, own = self._group.turn, structs.replace(event, call_id=own_id)
        if isinstance(own, PermissionAnswered):
            above.emit(own)
        else:
            above.ledger.show(own)

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
        self._group.stand(self._number, f"{self._title}: step {self._step}, {doing}{last}")

    def end(self, ended: TurnEnded) -> None:
        """Show how it ended."""
        how = "done" if ended.reason == "done" else ended.sentence
        steps = "1 step" if ended.steps == 1 else f"{ended.steps} steps"
        self._group.stand(self._number, f"{self._title}: {how} ({steps})")

    async def drained(self) -> None:
        """Wait while somebody above is too far behind."""
        await self._group.turn.ledger.drained()


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][-MAX_STATUS_CHARACTERS:] if lines else ""


async def run_child(group: ChildGroup, number: int, delegated_task: DelegatedTask) -> Result:
    """Carry out one errand in a turn of its own, and give its answer or why there is none.

    Whatever happens, its record is closed and the session above knows how it ended. Raises StorageError.
    """
    above = group.turn
    journal, record = await group.records.begin(above.record)
    began = ChildChanged(group.progress.call_id, record.session_id, delegated_task.title)
    ended = TurnEnded("", "storage_trouble", SENTENCES["storage_trouble"])
    try:
        gate = ChildGate(group, delegated_task.title)
        turn = _open(group, Ledger(journal, record), gate, delegated_task.title)
        above.emit(began)
        watch = ChildObserver(group, number, delegated_task.title, gate, record.session_id)
        turn.ledger.admit(watch)
        words = (
            f"{delegated_task.instructions}\n\n{delegated_task.context}"
            if delegated_task.context
            else delegated_task.instructions
        )
        try:
            ended = await run_unprompted(turn, words)
        except BaseException:
            ended = record.last_end or ended
            raise
        finally:
            watch.end(ended)
    finally:
        journal.close()
        above.emit(
            structs.replace(began, reason=ended.reason, sentence=ended.sentence, cost_usd=ended.cost_usd)
        )
    return child_result(record, ended)


def _open(group: ChildGroup, ledger: Ledger, gate: ChildGate, title: str) -> Turn:
    """Open the child's session: its title, its instructions, and what was chosen for the session above."""
    above, deps = group.turn, group.deps
    ledger.emit(TitleChanged(title))
    ledger.emit(child_instructions(deps.toolbox.names, above.outermost.record.instructions))
    ledger.emit(OptionsChanged(above.record.options))
    ledger.emit(ModeChanged(above.mode))
    return Turn(
        id=above.deps.ids.fresh("turn"),
        deps=deps,
        ledger=ledger,
        workspace=above.workspace,
        gate=gate,
        inbox=Inbox(),
        limits=group.limits_now(),
        spent=TurnUsage(above.deps.clock.monotonic(), above.spent),
        fallback_plan=deps.routing.fallback_plan(),
        origin=TurnOrigin(delegator=above),
    )


def child_result(record: Record, ended: TurnEnded) -> Result:
    """Return a child's answer, and why it did not finish if it did not."""
    answer = last_answer(record)
    if ended.reason == "done":
        return Result(answer)
    why = UNFINISHED.format(why=ended.sentence)
    return Result(f"{answer}\n{why}" if answer else why, is_error=True)


def last_answer(record: Record) -> str:
    """Return what a child said last, as much of it as whoever stands above should read."""
    said = (message.text for message in reversed(record.messages) if isinstance(message, AssistantMessage))
    answer = next((text for text in said if text.strip()), "")
    if (missing := len(answer) - MAX_ANSWER_CHARACTERS) > 0:
        return answer[:MAX_ANSWER_CHARACTERS] + CUT.format(missing=missing, child_id=record.session_id)
    return answer
