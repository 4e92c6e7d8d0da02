"""Metrics of a process's sessions, counted from their events."""

from collections.abc import Callable, Mapping, Set
from types import MappingProxyType
from typing import Any, Final, get_args

from hermes_acp.core.event_types import ExitReason
from hermes_acp.core.events import (
    CallEnded,
    CallStarted,
    ChildReported,
    Event,
    HistoryCompacted,
    PermissionAnswered,
    PermissionAsked,
    StepEnded,
    StepFailed,
    TextSaid,
    ThoughtSaid,
    TurnEnded,
    TurnStarted,
)
from hermes_acp.core.messages import Usage
from hermes_acp.core.ports.session_ports import RecordedSession
from hermes_acp.telemetry.metrics import OTHER, Counts, Histogram

TURN_BOUNDS_S: Final = (1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
STEP_BOUNDS_S: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 120.0, 300.0)
CALL_BOUNDS_S: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0)


class SessionMetrics:
    """The counts of all sessions of one process."""

    def __init__(self, monotonic: Callable[[], float], tools: Set[str] = frozenset()) -> None:
        """Initialise; calls are counted by tool for the names in `tools`, and all others together as `other`."""
        self.monotonic = monotonic
        # Only series that start at 0 show their first increase.
        self.turns = Counts((reason,) for reason in get_args(ExitReason))
        self.turn_s = Histogram(TURN_BOUNDS_S)
        self.tokens = Counts((("input",), ("output",)))
        self.cached_tokens = Counts(((),))
        self.model_requests = Counts()
        self.model_s = Histogram(STEP_BOUNDS_S)
        self.first_word_s = Histogram(STEP_BOUNDS_S)
        self.tool_calls = Counts()
        self.tool_s = Histogram(CALL_BOUNDS_S)
        self._tools = tools
        self._meters: dict[str, SessionMeter] = {}

    @property
    def open_sessions(self) -> int:
        """The number of open sessions."""
        return len(self._meters)

    @property
    def running_turns(self) -> int:
        """The number of running turns, excluding those of child agents."""
        return sum(meter.began_at is not None for meter in self._meters.values())

    @property
    def open_questions(self) -> int:
        """The number of open permission questions."""
        return sum(len(meter.questions) for meter in self._meters.values())

    def opened(self, session: RecordedSession) -> "SessionMeter":
        """Return the audience for a session that was opened."""
        meter = self._meters[session.record.session_id] = SessionMeter(self)
        return meter

    def closed(self, session_id: str) -> None:
        """Drop a closed session; its counts remain."""
        self._meters.pop(session_id, None)

    def tool_name(self, name: str) -> str:
        """Return the name under which a tool's calls are counted."""
        return name if name in self._tools else OTHER

    def spend(self, usage: Usage) -> None:
        """Count tokens."""
        self.tokens.add(("input",), usage.input_tokens)
        self.tokens.add(("output",), usage.output_tokens)
        self.cached_tokens.add((), usage.cached_tokens)


class SessionMeter:
    """The audience that counts the events of one session and of its child agents."""

    def __init__(self, metrics: SessionMetrics) -> None:
        self.began_at: float | None = None
        self.questions: set[str] = set()
        self._metrics = metrics
        self._calls: dict[str, float] = {}
        self._step_at = 0.0
        self._has_words = False
        self._children: dict[str, SessionMeter] = {}

    def show(self, event: Event) -> None:
        """Count one event."""
        if count := _COUNTED.get(type(event)):
            count(self, event)

    async def drained(self) -> None:
        """Return at once: there is nothing to wait for."""

    def start_turn(self, event: TurnStarted) -> None:
        """Record that a turn is running."""
        self.began_at = self._metrics.monotonic()
        self._await_step()

    def end_turn(self, event: TurnEnded) -> None:
        """Count a turn that has ended, and drop its open calls and questions."""
        self._metrics.turns.add((event.reason,))
        if self.began_at is not None:
            self._metrics.turn_s.observe(self._metrics.monotonic() - self.began_at)
        self.began_at = None
        self.questions.clear()
        self._calls.clear()
        self._children.clear()

    def _await_step(self) -> None:
        self._step_at, self._has_words = self._metrics.monotonic(), False

    def hear(self, event: TextSaid | ThoughtSaid) -> None:
        """Record the time to the first word of a step."""
        if not self._has_words:
            self._has_words = True
            self._metrics.first_word_s.observe(self._metrics.monotonic() - self._step_at)

    def end_step(self, event: StepEnded) -> None:
        """Count a model request that was completed."""
        self._metrics.model_requests.add((event.provider, "completed"))
        self._metrics.model_s.observe(self._metrics.monotonic() - self._step_at)
        self._metrics.spend(event.usage)
        self._await_step()

    def fail_step(self, event: StepFailed) -> None:
        """Count a model request that failed."""
        self._metrics.model_requests.add((event.provider, "retried" if event.retried else "failed"))
        self._await_step()

    def compact(self, event: HistoryCompacted) -> None:
        """Count the model request that wrote a summary."""
        if event.summary:
            self._metrics.model_requests.add((event.provider, "completed"))
            self._metrics.spend(event.usage)
        self._await_step()

    def start_call(self, event: CallStarted) -> None:
        """Record when a call started."""
        self._calls[event.call_id] = self._metrics.monotonic()

    def end_call(self, event: CallEnded) -> None:
        """Count a call."""
        self.questions.discard(event.call_id)
        self._metrics.tool_calls.add((self._metrics.tool_name(event.name), event.status))
        if (started_at := self._calls.pop(event.call_id, None)) is not None:
            self._metrics.tool_s.observe(self._metrics.monotonic() - started_at)
        self._await_step()

    def ask(self, event: PermissionAsked) -> None:
        """Count an open question."""
        self.questions.add(event.call_id)

    def answer(self, event: PermissionAnswered) -> None:
        """Count an answered question."""
        self.questions.discard(event.call_id)

    def follow_child(self, event: ChildReported) -> None:
        """Count a child's activity, except its questions, which are asked about calls of this session."""
        if event.child_id not in self._children:
            self._children[event.child_id] = SessionMeter(self._metrics)
        if not isinstance(event.event, PermissionAsked | TurnEnded):
            self._children[event.child_id].show(event.event)


_COUNTED: Final[Mapping[type[Event], Callable[[SessionMeter, Any], None]]] = MappingProxyType(
    {
        TurnStarted: SessionMeter.start_turn,
        TextSaid: SessionMeter.hear,
        ThoughtSaid: SessionMeter.hear,
        StepEnded: SessionMeter.end_step,
        StepFailed: SessionMeter.fail_step,
        HistoryCompacted: SessionMeter.compact,
        CallStarted: SessionMeter.start_call,
        CallEnded: SessionMeter.end_call,
        PermissionAsked: SessionMeter.ask,
        PermissionAnswered: SessionMeter.answer,
        ChildReported: SessionMeter.follow_child,
        TurnEnded: SessionMeter.end_turn,
    }
)
