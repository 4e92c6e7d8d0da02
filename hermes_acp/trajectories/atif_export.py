"""Convert a cleaned session to an ATIF trajectory.

Each step contains in its `extra` all events up to the next step, without the values that are in standard fields. Thus
no event is lost, and `atif_import` restores them all.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct, field, structs

from hermes_acp.core.event_types import ToolsOffered
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    ChildChanged,
    Event,
    HistoryCompacted,
    NoteAdded,
    OptionsChanged,
    PromptFrozen,
    StepEnded,
    TextSaid,
    ThoughtSaid,
    UsageChanged,
    UserSaid,
)
from hermes_acp.core.messages import TextPart, ToolCall, Usage
from hermes_acp.trajectories.atif_document import (
    VERSION,
    AtifAgent,
    AtifStep,
    AtifToolCall,
    Content,
    Extra,
    FinalMetrics,
    Metrics,
    Observation,
    ObservationResult,
    SubagentRef,
    Trajectory,
)
from hermes_acp.trajectories.event_cleaning import CleanSession
from hermes_acp.trajectories.event_fields import NAMESPACE, fields_of
from hermes_acp.trajectories.message_content import arguments_of, content_of, parts_of
from hermes_acp.trajectories.recorded_sessions import TimedEvent
from hermes_acp.trajectories.tool_definitions import definitions_of

AGENT: Final = "hermes-acp"
UNKNOWN: Final = "unknown"
LAYER_SEAM: Final = "\n\n"
BEGINS_STEP: Final = (UserSaid, NoteAdded, HistoryCompacted, TextSaid, ThoughtSaid, StepEnded, CallEnded)


class _Draft(Struct):
    """A step under construction; `answer` is the ID of the model's answer in it."""

    source: str
    message: Content = ""
    answer: str = ""
    at_ms: int | None = None
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    results: dict[str, ObservationResult] = field(default_factory=dict[str, ObservationResult])
    events: list[list[Any]] = field(default_factory=list[list[Any]])


def trajectory_of(session: CleanSession) -> Trajectory:
    """Return a session and its child agents as one trajectory."""
    children = {child.id for child in session.children}
    builder = _TrajectoryBuilder(children)
    for event, at_ms in _with_prompt_first(session.events):
        builder.take(event, at_ms)
    steps = builder.steps()
    definitions, tool_sets = definitions_of(session.tools)
    return Trajectory(
        schema_version=VERSION,
        session_id=session.id,
        trajectory_id=session.id,
        agent=AtifAgent(
            AGENT,
            builder.version or UNKNOWN,
            builder.model or None,
            definitions or None,
            {NAMESPACE: {"tool_sets": tool_sets}} if tool_sets else None,
        ),
        steps=steps,
        final_metrics=builder.metrics(len(steps)),
        subagent_trajectories=[trajectory_of(child) for child in session.children] or None,
    )


def _with_prompt_first(events: Sequence[TimedEvent]) -> list[TimedEvent]:
    """Move the system prompt, which is recorded after the first prompt, before the first message, with its time.

    Trainers expect the system message first.
    """
    moved = list(events)
    first = next((place for place, (event, _) in enumerate(moved) if isinstance(event, BEGINS_STEP)), None)
    frozen = next((place for place, (event, _) in enumerate(moved) if isinstance(event, PromptFrozen)), None)
    if first is not None and frozen is not None and first < frozen:
        prompt, _ = moved.pop(frozen)
        moved.insert(first, (prompt, moved[first][1]))
    return moved


class _TrajectoryBuilder:
    """Builds the steps of one trajectory from its events, in order."""

    def __init__(self, children: set[str]) -> None:
        self._children = children
        self._drafts: list[_Draft] = []
        self._before: list[list[Any]] = []
        self._step_of: dict[str, _Draft] = {}
        self._proposed: dict[str, CallProposed] = {}
        self._effort: str | None = None
        self._usage = Usage()
        self._cost_usd: float | None = None
        self.version = ""
        self.model = ""

    def take(self, event: Event, at_ms: int | None) -> None:
        """Add one event."""
        fields = self._placed(event, at_ms)
        entry = [at_ms, fields]
        if self._drafts:
            self._drafts[-1].events.append(entry)
        else:
            self._before.append(entry)

    def _placed(self, event: Event, at_ms: int | None) -> dict[str, Any]:
        """Move an event's values to standard fields if they fit; return the remaining fields."""
        match event:
            case UserSaid():
                return self._say("user", event, "parts", at_ms, content_of(event.parts))
            case NoteAdded():
                return self._say("system", event, "text", at_ms, event.text)
            case HistoryCompacted():
                self._usage += event.usage
                return self._say("system", event, "summary", at_ms, event.summary)
            case PromptFrozen():
                self._open("system", at_ms, LAYER_SEAM.join(event.layers))
                sizes = [len(layer) for layer in event.layers]
                return {**fields_of(event, {"layers"}), "layer_sizes": sizes}
            case TextSaid() | ThoughtSaid():
                draft = self._answer(event.message_id, at_ms)
                if isinstance(event, TextSaid):
                    draft.message = event.text
                else:
                    draft.values["reasoning_content"] = event.text
                return fields_of(event, {"text"})
            case StepEnded():
                return self._end_step(event, self._answer(event.message_id, at_ms))
            case CallProposed():
                return self._propose(event)
            case CallEnded():
                return self._end_call(event, at_ms)
            case _:
                self._note(event)
                return fields_of(event)

    def _note(self, event: Event) -> None:
        match event:
            case ToolsOffered():
                self.version = event.version or self.version
            case OptionsChanged():
                self._effort = event.options.effort
            case UsageChanged():
                self._cost_usd = event.cost_usd
            case ChildChanged():
                self._refer(event)
            case _:
                pass

    def _open(self, source: str, at_ms: int | None, message: Content = "", answer: str = "") -> _Draft:
        draft = _Draft(source, message, answer, at_ms)
        if not self._drafts:
            draft.events = self._before
        self._drafts.append(draft)
        return draft

    def _say(
        self, source: str, event: Event, name: str, at_ms: int | None, message: Content
    ) -> dict[str, Any]:
        """Start a step of the user or the system, and omit the event's field if the message restores it."""
        self._open(source, at_ms, message)
        value = getattr(event, name)
        restored = message if isinstance(value, str) else parts_of(message)
        return fields_of(event, {name} if restored == value else ())

    def _answer(self, message_id: str, at_ms: int | None) -> _Draft:
        """Return the step of a model's answer, created at the answer's first event."""
        if self._drafts and self._drafts[-1].answer == message_id:
            return self._drafts[-1]
        draft = self._open("agent", at_ms, answer=message_id)
        draft.values["reasoning_effort"] = self._effort
        return draft

    def _end_step(self, event: StepEnded, draft: _Draft) -> dict[str, Any]:
        self._usage += event.usage
        self.model = self.model or event.model
        without = {"tool_calls", "usage", "model"}
        draft.values["model_name"] = event.model or None
        if event.usage != Usage():
            usage = event.usage
            draft.values["metrics"] = Metrics(usage.input_tokens, usage.output_tokens, usage.cached_tokens)
        for call in event.tool_calls:
            draft.calls[call.id] = call
            self._step_of[call.id] = draft
        if len(draft.calls) != len(event.tool_calls):  # duplicate IDs identify nothing
            draft.calls.clear()
            without.discard("tool_calls")
        said = draft.values.get("reasoning_content")
        if len(event.thoughts) == 1 and event.thoughts[0].text == said:
            thought = structs.replace(event.thoughts[0], text="")
            return {**fields_of(event, {*without, "thoughts"}), "thought": _chosen_fields(thought)}
        if said is None and event.thoughts:
            draft.values["reasoning_content"] = "\n".join(each.text for each in event.thoughts) or None
        return fields_of(event, without)

    def _propose(self, event: CallProposed) -> dict[str, Any]:
        self._proposed[event.call_id] = event
        step = self._step_of.get(event.call_id)
        call = step.calls.get(event.call_id) if step else None
        is_as_written = call is not None and arguments_of(call)[0] == event.raw_input
        if is_as_written:
            return {**fields_of(event, {"raw_input"}), "is_as_written": True}
        return fields_of(event)

    def _end_call(self, event: CallEnded, at_ms: int | None) -> dict[str, Any]:
        step = self._step_of.get(event.call_id)
        home = step or (self._drafts[-1] if self._drafts else self._open("system", at_ms))
        before = home.results.get(event.call_id)
        if before is not None and before.content is not None:
            return fields_of(event)
        text = f"{event.text} {event.advice}" if event.advice else event.text
        content = content_of((TextPart(text), *event.parts)) if event.parts else text
        is_known = step is not None and event.call_id in step.calls
        home.results[event.call_id] = ObservationResult(
            source_call_id=event.call_id if is_known else None,
            content=content,
            subagent_trajectory_ref=before.subagent_trajectory_ref if before else None,
            extra=None if is_known else {NAMESPACE: {"call_id": event.call_id}},
        )
        without = {"text"}
        if parts_of(content)[1:] == event.parts or not event.parts:
            without.add("parts")
        proposed = self._proposed.get(event.call_id)
        if event.diffs and proposed and proposed.diffs == event.diffs:
            return {**fields_of(event, {*without, "diffs"}), "diffs_as_proposed": True}
        return fields_of(event, without)

    def _refer(self, event: ChildChanged) -> None:
        step = self._step_of.get(event.call_id)
        if step is None or event.child_id not in self._children:
            return
        result = step.results.get(event.call_id) or ObservationResult(event.call_id)
        refs = list(result.subagent_trajectory_ref or ())
        if all(ref.trajectory_id != event.child_id for ref in refs):
            refs.append(SubagentRef(event.child_id, event.child_id))
        step.results[event.call_id] = structs.replace(result, subagent_trajectory_ref=refs)

    def steps(self) -> list[AtifStep]:
        """Return the finished steps; an empty session has one empty step."""
        if not self._drafts:
            self._open("system", None)
        return [_step(number, draft) for number, draft in enumerate(self._drafts, 1)]

    def metrics(self, steps: int) -> FinalMetrics:
        """Return the totals of the trajectory; the cost includes child agents."""
        used = self._usage
        return FinalMetrics(
            used.input_tokens, used.output_tokens, used.cached_tokens, self._cost_usd, total_steps=steps
        )


def _step(number: int, draft: _Draft) -> AtifStep:
    results = list(draft.results.values())
    extra: Extra | None = {NAMESPACE: {"events": draft.events}} if draft.events else None
    return AtifStep(
        step_id=number,
        timestamp=timestamp(draft.at_ms),
        source="user" if draft.source == "user" else "agent" if draft.source == "agent" else "system",
        message=draft.message,
        tool_calls=[_tool_call(call) for call in draft.calls.values()] or None,
        observation=Observation(results) if results else None,
        extra=extra,
        **draft.values,
    )


def _tool_call(call: ToolCall) -> AtifToolCall:
    arguments, style = arguments_of(call)
    kept: dict[str, Any] = {}
    if style is None:
        kept["raw_arguments"] = call.arguments
    elif style != "compact":
        kept["style"] = style
    kept |= {name: value for name in ("signature", "vendor_id", "via") if (value := getattr(call, name))}
    return AtifToolCall(call.id, call.name, arguments, {NAMESPACE: kept} if kept else None)


def _chosen_fields(thought: Struct) -> Mapping[str, Any]:
    """Return the fields of a value that differ from their defaults."""
    return {name: value for name, value in structs.asdict(thought).items() if value}


def timestamp(at_ms: int | None) -> str | None:
    """Return a time as ISO 8601 in UTC."""
    if at_ms is None:
        return None
    moment = datetime.fromtimestamp(at_ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03}Z"
