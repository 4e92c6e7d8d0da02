"""A turn over a journal, a clock and a workspace held in memory."""

from typing import Any

from hermes_acp.agent.inbox import Inbox
from hermes_acp.agent.ledger import Ledger
from hermes_acp.agent.turn import Briefing, Kit, Limits, Patience, Spent, Turn
from hermes_acp.core.drawers import Drawer
from hermes_acp.core.errors import StorageTrouble
from hermes_acp.core.events import AnyEvent, CallProposed, Event, SessionOpened, TurnStarted, UserSaid
from hermes_acp.core.messages import TextPart
from hermes_acp.core.ports import Answer, ModelFacts
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.core.record import Record
from hermes_acp.policy.rules import Policy
from hermes_acp.telemetry.redaction import Redactor
from hermes_acp.tools.toolbox import Toolbox
from tests.conversations.house import CountedIds
from tests.conversations.scripted_provider import ScriptedProvider
from tests.unit.tools.calls import MemoryWorkspace


class HeldClock:
    """A stopwatch the test moves by hand."""

    def __init__(self) -> None:
        self.at_s = 100.0

    def now(self) -> float:
        return self.at_s

    def monotonic(self) -> float:
        return self.at_s


class MemoryJournal:
    """Events in a list; the disk is full from the event on that `is_full_at` names."""

    def __init__(self, is_full_at: type[Event] | None = None) -> None:
        self.events: list[Event] = []
        self.settled = 0
        self._is_full_at = is_full_at
        self._trouble: StorageTrouble | None = None

    def append(self, event: AnyEvent) -> AnyEvent:
        if self._is_full_at and isinstance(event, self._is_full_at):
            self._trouble = StorageTrouble("The disk is full.")
        if self._trouble:
            raise self._trouble
        self.events.append(event)
        return event

    async def settle(self) -> None:
        self.settled = len(self.events)


class Watcher:
    """An audience that notes how much was on record when it was shown something."""

    def __init__(self, journal: MemoryJournal) -> None:
        self.shown: list[Event] = []
        self.was_recorded: list[bool] = []
        self._journal = journal

    def show(self, event: Event) -> None:
        self.shown.append(event)
        self.was_recorded.append(event in self._journal.events)

    async def drained(self) -> None:
        return


class AlwaysYes:
    """A gate that allows, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[CallProposed] = []

    async def ask(self, call: CallProposed, *, can_last: bool) -> Answer:
        self.asked.append(call)
        return "allow_once"

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        return Reply("answered", f"{call_id}: yes")


async def brief_nothing(cwd: str) -> Briefing:
    return Briefing((cwd,))


def open_turn(
    provider: ScriptedProvider, journal: MemoryJournal, workspace: MemoryWorkspace | None = None
) -> Turn:
    """Open a turn in which the user has just spoken."""
    drawer: Drawer[Any] = Drawer("hermes_acp.tools.builtin", "TOOL")
    kit = Kit(
        provider=provider,
        model="scripted-1",
        facts=ModelFacts(window_tokens=1000, input_usd=1.0, output_usd=2.0),
        toolbox=Toolbox({name: drawer.open(name) for name in drawer}),
        policy=Policy("/home/me/.hermes"),
        patience=Patience(attempts=3, first_wait_s=0.0),
        stages=(),
        redactor=Redactor(()),
        brief=brief_nothing,
    )
    clock = HeldClock()
    ledger = Ledger(journal, Record())
    ledger.emit(SessionOpened("ses_1", "/project", ("/project",), 1.0))
    ledger.emit(TurnStarted("turn_1"))
    ledger.emit(UserSaid("msg_0", (TextPart("go"),)))
    return Turn(
        "turn_1",
        kit,
        ledger,
        workspace or MemoryWorkspace(),
        AlwaysYes(),
        Inbox(),
        Limits(),
        Spent(clock.monotonic()),
        clock,
        CountedIds(),
    )
