"""Fold the events of a session, with their times, into finished spans, identically for live sessions and records.

A turn is `invoke_agent`; its model requests, tool calls and the questions about them are its children. A child agent's
turn is below the call that delegated to it, and the turns of a run are below the run. Texts are left out unless
`contents` collects them.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct, field

from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    ChildReported,
    Event,
    HistoryCompacted,
    PermissionAnswered,
    PermissionAsked,
    StepEnded,
    StepFailed,
    TurnEnded,
    TurnStarted,
)
from hermes_acp.core.messages import RequestTiming, Usage
from hermes_acp.core.record.session_record import Record
from hermes_acp.telemetry.trace_context import SpanContext, parse_trace_parent, span_id_of, turn_context
from hermes_acp.telemetry.traces import conventions as names
from hermes_acp.telemetry.traces.span_contents import SpanContents
from hermes_acp.telemetry.traces.spans import Attributes, FinishedSpan

MCP_PREFIX: Final = "mcp__"
GOOD_ENDINGS: Final = frozenset({"done", "input_required"})
MAX_KEPT_RUNS: Final = 100
NS: Final = 1_000_000_000
US: Final = 1_000_000
NS_IN_US: Final = 1000


class _Call(Struct):
    """An open call: when it was proposed, asked about and started."""

    name: str
    proposed_ns: int
    parent: SpanContext
    started_ns: int = 0
    asked_ns: int = 0


class _Turn(Struct):
    """The running turn, or the last one."""

    id: str
    context: SpanContext
    parent: SpanContext | None
    started_ns: int
    run_id: str = ""
    step_ns: int = 0
    steps: int = 0
    calls: int = 0
    model: Attributes = field(default_factory=dict[str, Any])


class SessionSpans:
    """The spans of one session and its child agents."""

    def __init__(
        self,
        session_id: str,
        version: str,
        clean: Callable[[str], str],
        *,
        with_contents: bool,
        record: Record | None = None,
    ) -> None:
        """Initialise; `clean` masks secrets, also in names from outside.

        `record` is the record of a live session, to which events have already been applied; without it, the history of
        requests is built from the events.
        """
        self._session_id = session_id
        self._version = version
        self._clean = clean
        self._with_contents = with_contents
        self._contents = SpanContents(clean, record) if with_contents else None
        self._names: dict[str, str] = {}
        self._turn: _Turn | None = None
        self._calls: dict[str, _Call] = {}
        self._runs: dict[str, tuple[int, SpanContext | None]] = {}
        self._children: dict[str, SessionSpans] = {}

    def after(self, event: Event, at: float) -> Iterator[FinishedSpan]:
        """Yield the spans that an event ends; `at` is the event's time in seconds since the epoch."""
        if self._contents:
            self._contents.note(event)
        if fold := _FOLDS.get(type(event)):
            yield from fold(self, event, round(at * US) * NS_IN_US)  # a float has microsecond precision here

    def start_turn(self, event: TurnStarted, at_ns: int) -> Iterator[FinishedSpan]:
        """Record that a turn started."""
        parent = parse_trace_parent(event.trace_parent)
        context = turn_context(event.turn_id, event.run_id, parent)
        if event.run_id:
            while len(self._runs) >= MAX_KEPT_RUNS:
                self._runs.pop(next(iter(self._runs)))
            self._runs.setdefault(event.run_id, (at_ns, parent))
            parent = SpanContext(context.trace_id, span_id_of(event.run_id), context.is_sampled)
        self._turn = _Turn(event.turn_id, context, parent, at_ns, event.run_id, step_ns=at_ns)
        self._calls.clear()
        yield from ()

    def end_turn(self, event: TurnEnded, at_ns: int) -> Iterator[FinishedSpan]:
        """Yield the turn's span, and its run's if that ends too."""
        turn = self._turn
        self._children.clear()
        if turn is None or turn.id != event.turn_id:
            return
        error = "" if event.reason in GOOD_ENDINGS else event.reason
        attributes = self._about(names.INVOKE_AGENT) | turn.model | _used(event.usage)
        attributes |= {
            names.AGENT_NAME: names.AGENT,
            names.AGENT_VERSION: self._version,
            names.TURN: turn.id,
            names.ENDING: event.reason,
            names.STEPS: turn.steps,
            names.TOOL_CALLS: turn.calls,
        }
        if event.cost_usd is not None:
            attributes[names.COST] = event.cost_usd
        if turn.run_id:
            attributes[names.RUN] = turn.run_id
        if self._contents:
            attributes |= self._contents.of_turn(event.reason)
        name = f"{names.INVOKE_AGENT} {names.AGENT}"
        yield _span(name, turn.context, turn.parent, (turn.started_ns, at_ns), attributes, error)
        if turn.run_id and turn.parent and event.reason != "input_required":
            yield self._run(turn, turn.parent, at_ns, error)

    def _run(self, turn: _Turn, context: SpanContext, at_ns: int, error: str) -> FinishedSpan:
        started_ns, parent = self._runs.pop(turn.run_id, (turn.started_ns, None))
        attributes = self._about(names.INVOKE_WORKFLOW) | {names.AGENT_NAME: "run", names.RUN: turn.run_id}
        return _span(f"{names.INVOKE_WORKFLOW} run", context, parent, (started_ns, at_ns), attributes, error)

    def end_step(self, event: StepEnded, at_ns: int) -> Iterator[FinishedSpan]:
        """Yield the span of an answered model request."""
        more = self._contents.of_step(event) if self._contents else {}
        yield from self._chat(event.message_id, event, at_ns, _used(event.usage) | more)

    def fail_step(self, event: StepFailed, at_ns: int) -> Iterator[FinishedSpan]:
        """Yield the span of a failed model request."""
        if event.timing or event.provider:  # other events only complete a text
            more: Attributes = {names.RETRIED: event.retried}
            if self._contents:
                more |= self._contents.of_failed_step(event)
            yield from self._chat(
                event.message_id, event, at_ns, more, event.error_code or names.FALLBACK_ERROR
            )

    def compact(self, event: HistoryCompacted, at_ns: int) -> Iterator[FinishedSpan]:
        """Yield the span of the model request that wrote a summary."""
        if event.summary:
            more = _used(event.usage) | {names.COMPACTION: True}
            if self._contents:
                more |= self._contents.of_compaction(event)
            yield from self._chat(event.compaction_id, event, at_ns, more)

    def _chat(
        self,
        name: str,
        event: StepEnded | StepFailed | HistoryCompacted,
        at_ns: int,
        more: Attributes,
        error: str = "",
    ) -> Iterator[FinishedSpan]:
        turn = self._turn
        if turn is None:
            return
        model, provider = self._named(event.model), self._named(event.provider)
        about: Attributes = {}
        if provider:
            about[names.PROVIDER] = names.PROVIDERS.get(provider, provider)
        if model:
            about[names.REQUEST_MODEL] = model
        turn.model = about or turn.model
        turn.steps += not error
        attributes = self._about(names.CHAT) | about | {names.REQUEST_STREAM: True} | more
        if model and not error:
            attributes[names.RESPONSE_MODEL] = model
        if event.timing and event.timing.first_chunk_s is not None:
            attributes[names.FIRST_CHUNK] = event.timing.first_chunk_s
        times = _times(event.timing, turn.step_ns, at_ns)
        turn.step_ns = at_ns
        context = self._below(turn.context, name)
        title = f"{names.CHAT} {model}" if model else names.CHAT
        yield _span(title, context, turn.context, times, attributes, error, kind="client")

    def propose_call(self, event: CallProposed, at_ns: int) -> Iterator[FinishedSpan]:
        """Record a call; a call that is changed before it runs is proposed again."""
        if turn := self._turn:
            known = self._calls.get(event.call_id)
            parent = turn.context
            if event.within and event.within != turn.id:
                parent = self._below(turn.context, event.within)
            proposed_ns = known.proposed_ns if known else at_ns
            self._calls[event.call_id] = _Call(self._named(event.name), proposed_ns, parent)
        yield from ()

    def ask(self, event: PermissionAsked, at_ns: int) -> Iterator[FinishedSpan]:
        """Record that a call waits for a person."""
        if call := self._calls.get(event.call_id):
            call.asked_ns = at_ns
        yield from ()

    def answer(self, event: PermissionAnswered, at_ns: int) -> Iterator[FinishedSpan]:
        """Yield the span of the wait for an answer."""
        call = self._calls.get(event.call_id)
        if call and call.asked_ns and self._turn:
            attributes = self._about_call(names.APPROVE_CALL, event.call_id, call)
            attributes[names.ANSWER] = event.answer
            context = self._below(self._turn.context, f"{event.call_id} approval")
            times = (call.asked_ns, at_ns)
            call.asked_ns = 0
            yield _span(f"{names.APPROVE_CALL} {call.name}", context, call.parent, times, attributes)

    def start_call(self, event: CallStarted, at_ns: int) -> Iterator[FinishedSpan]:
        """Record that a call is running."""
        if call := self._calls.get(event.call_id):
            call.started_ns = at_ns
        yield from ()

    def end_call(self, event: CallEnded, at_ns: int) -> Iterator[FinishedSpan]:
        """Yield the span of a call; one that did not run has no duration."""
        turn = self._turn
        if turn is None:
            return
        call = self._calls.pop(event.call_id, None) or _Call(self._named(event.name), at_ns, turn.context)
        turn.step_ns = at_ns
        turn.calls += 1
        attributes = self._about_call(names.EXECUTE_TOOL, event.call_id, call)
        attributes |= {names.TOOL_TYPE: "function", names.OUTCOME: event.status}
        if call.name.startswith(MCP_PREFIX):
            attributes[names.MCP_METHOD] = "tools/call"
        if self._contents:
            attributes |= self._contents.of_call(event)
        error = "" if event.status == "completed" else event.status
        yield _span(
            f"{names.EXECUTE_TOOL} {call.name}",
            self._below(turn.context, event.call_id),
            call.parent,
            (call.started_ns or at_ns, at_ns),
            attributes,
            error,
            is_measured=bool(call.started_ns),
        )

    def follow_child(self, event: ChildReported, at_ns: int) -> Iterator[FinishedSpan]:
        """Yield the spans that an event of a child agent ends."""
        child = self._children.get(event.child_id)
        if child is None:
            child = self._children[event.child_id] = SessionSpans(
                event.child_id, self._version, self._clean, with_contents=self._with_contents
            )
        yield from child.after(event.event, at_ns / NS)

    def _below(self, context: SpanContext, name: str) -> SpanContext:
        return SpanContext(context.trace_id, span_id_of(name), context.is_sampled)

    def _about(self, operation: str) -> Attributes:
        return {names.OPERATION: operation, names.CONVERSATION: self._session_id}

    def _about_call(self, operation: str, call_id: str, call: _Call) -> Attributes:
        return self._about(operation) | {names.TOOL_NAME: call.name, names.TOOL_CALL: call_id}

    def _named(self, name: str) -> str:
        """Return a name with secrets masked, because a model can make up any tool name."""
        if name not in self._names:
            if len(self._names) >= MAX_KEPT_RUNS:
                self._names.clear()
            self._names[name] = self._clean(name)
        return self._names[name]


def _span(
    name: str,
    context: SpanContext,
    parent: SpanContext | None,
    times: tuple[int, int],
    attributes: Attributes,
    error: str = "",
    **more: Any,
) -> FinishedSpan:
    if error:
        attributes[names.ERROR] = error
    start_ns, end_ns = times
    return FinishedSpan(
        name, context, parent, start_ns, max(start_ns, end_ns), attributes, error=error, **more
    )


def _times(timing: RequestTiming | None, since_ns: int, at_ns: int) -> tuple[int, int]:
    """Return when a request started and ended, which old records show only by the events before and after it."""
    if timing is None:
        return since_ns, at_ns
    return int(timing.started_at * NS), int((timing.started_at + timing.took_s) * NS)


def _used(usage: Usage) -> Attributes:
    used: Attributes = {names.INPUT_TOKENS: usage.input_tokens, names.OUTPUT_TOKENS: usage.output_tokens}
    return used | {names.CACHED_TOKENS: usage.cached_tokens} if usage.cached_tokens else used


_FOLDS: Final[Mapping[type[Event], Callable[[SessionSpans, Any, int], Iterator[FinishedSpan]]]] = (
    MappingProxyType(
        {
            TurnStarted: SessionSpans.start_turn,
            TurnEnded: SessionSpans.end_turn,
            StepEnded: SessionSpans.end_step,
            StepFailed: SessionSpans.fail_step,
            HistoryCompacted: SessionSpans.compact,
            CallProposed: SessionSpans.propose_call,
            PermissionAsked: SessionSpans.ask,
            PermissionAnswered: SessionSpans.answer,
            CallStarted: SessionSpans.start_call,
            CallEnded: SessionSpans.end_call,
            ChildReported: SessionSpans.follow_child,
        }
    )
)
