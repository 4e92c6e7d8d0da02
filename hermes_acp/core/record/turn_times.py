"""Derive how a turn spent its time from the times of its events.

Each moment counts once. A running tool takes precedence, then an open question, then the model. The model's time is the
time between the previous event and its text, its reasoning or the end of a step. Other time (hooks, policy, summarising
a long conversation) is only in the total. Tools that ask the user something, and calls whose inner calls are asked
about, count as waiting for a person.
"""

from msgspec import Struct

from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    PermissionAnswered,
    PermissionAsked,
    StepEnded,
    StepFailed,
    TextSaid,
    ThoughtSaid,
    TurnEnded,
    TurnStarted,
)
from hermes_acp.core.record.interrupted_calls import ASKING_TOOLS


class TurnTimes(Struct, frozen=True, gc=False):
    """When a turn started, in seconds since the epoch, and how long it took, in seconds.

    `first_token_s` is the wait for the turn's first text or reasoning, or None if there was none.
    """

    began_at: float
    total_s: float
    model_s: float
    first_token_s: float | None
    tools_s: float
    waiting_s: float


class _Spent(Struct, gc=False):
    began_at: float
    last_at: float
    model_s: float = 0.0
    first_token_s: float | None = None
    tools_s: float = 0.0
    waiting_s: float = 0.0
    is_answering: bool = False


class TurnTimer:
    """Derives the times of each turn from timed events."""

    def __init__(self) -> None:
        self._spent: _Spent | None = None
        self._names: dict[str, str] = {}
        self._within: dict[str, str] = {}
        self._running: set[str] = set()
        self._asked: set[str] = set()

    def take(self, event: Event, at: float | None) -> TurnTimes | None:
        """Process an event recorded at the time `at` (None if unknown); if it ends a turn, return the turn's times."""
        if isinstance(event, TurnStarted):
            self._spent = None if at is None else _Spent(at, at)
            self._names, self._within, self._running, self._asked = {}, {}, set(), set()
            return None
        spent = self._spent
        if spent is None:
            return None
        if at is None:
            self._spent = None
            return None
        self._advance(spent, event, max(spent.last_at, at))
        self._follow(event)
        if not isinstance(event, TurnEnded):
            return None
        self._spent = None
        return TurnTimes(
            spent.began_at,
            _rounded(spent.last_at - spent.began_at),
            _rounded(spent.model_s),
            None if spent.first_token_s is None else _rounded(spent.first_token_s),
            _rounded(spent.tools_s),
            _rounded(spent.waiting_s),
        )

    def _advance(self, spent: _Spent, event: Event, at: float) -> None:
        """Count the time since the last event."""
        passed_s, spent.last_at = at - spent.last_at, at
        is_said = isinstance(event, TextSaid | ThoughtSaid)
        if self._is_working():
            spent.tools_s += passed_s
        elif self._asked or self._running:
            spent.waiting_s += passed_s
        elif spent.is_answering or is_said or isinstance(event, StepEnded | StepFailed):
            spent.model_s += passed_s
            if is_said and spent.first_token_s is None:
                spent.first_token_s = passed_s
        if is_said:
            spent.is_answering = True
        elif isinstance(event, StepEnded | StepFailed):
            spent.is_answering = False

    def _is_working(self) -> bool:
        """Return whether any running call is doing work rather than waiting for a person."""
        waiting = set(self._asked)
        for call in self._asked:
            outer = self._within.get(call, "")
            while outer and outer not in waiting:
                waiting.add(outer)
                outer = self._within.get(outer, "")
        return any(
            call not in waiting and self._names.get(call) not in ASKING_TOOLS for call in self._running
        )

    def _follow(self, event: Event) -> None:
        match event:
            case CallProposed():
                self._names[event.call_id] = event.name
                self._within[event.call_id] = event.within
            case PermissionAsked():
                self._asked.add(event.call_id)
            case PermissionAnswered():
                self._asked.discard(event.call_id)
            case CallStarted():
                self._running.add(event.call_id)
            case CallEnded():
                self._asked.discard(event.call_id)
                self._running.discard(event.call_id)
            case _:
                pass


def _rounded(seconds: float) -> float:
    return round(seconds, 3)
