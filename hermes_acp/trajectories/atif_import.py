"""Restore the events of a session from an ATIF trajectory.

Steps that this program exported have their events in `extra`; the steps of other agents are converted to equivalent
events. The document's content is unverified, so the caller ends the record with `SessionImported`.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    Event,
    NoteAdded,
    PromptFrozen,
    SessionOpened,
    StepEnded,
    TextSaid,
    ThoughtSaid,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import Usage
from hermes_acp.storage.tool_schema_store import OfferedTools
from hermes_acp.trajectories.atif_document import VERSIONS, AtifStep, Content, Trajectory
from hermes_acp.trajectories.event_fields import event_from
from hermes_acp.trajectories.message_content import own_extra, parts_of, text_of, tool_call_of
from hermes_acp.trajectories.recorded_sessions import TimedEvent
from hermes_acp.trajectories.restored_fields import AnswersByCall, restored
from hermes_acp.trajectories.tool_definitions import ToolSets, offered_from

NOT_RECORDED: Final = frozenset({"commands_changed", "edit_drafted", "child_reported", "session_imported"})


class ImportedSession(Struct, frozen=True):
    """A session described by a trajectory; `claimed_id` is the ID in the document."""

    claimed_id: str
    events: tuple[TimedEvent, ...]
    tools: dict[str, OfferedTools]
    children: "tuple[ImportedSession, ...]" = ()


def read_trajectories(content: bytes) -> list[Trajectory]:
    """Return the trajectories in a file: one JSON document, or one per line. Raises BadRequest."""
    try:
        if content.lstrip()[:1] != b"{":
            raise BadRequest("This is not an ATIF trajectory: it does not start with {.")
        try:
            found = [msgspec.json.decode(content, type=Trajectory)]
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:  # several documents
            found = msgspec.json.Decoder(Trajectory).decode_lines(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"This is not an ATIF trajectory: {error}.") from error
    for trajectory in found:
        _check(trajectory)
    return found


def _check(trajectory: Trajectory) -> None:
    if trajectory.schema_version not in VERSIONS:
        known = f"{VERSIONS[0]} to {VERSIONS[-1]}"
        raise BadRequest(f"Its format is {trajectory.schema_version[:40]!r}; this version reads {known}.")
    if not trajectory.steps:
        raise BadRequest("It has no steps.")
    for child in trajectory.subagent_trajectories or ():
        _check(child)


def session_from(trajectory: Trajectory, cwd: str) -> ImportedSession:
    """Return the session of a trajectory; `cwd` is used if the document names no folder. Raises BadRequest."""
    events = _Restorer(trajectory).events()
    claimed = trajectory.trajectory_id or trajectory.session_id or ""
    if not events or not isinstance(events[0][0], SessionOpened):
        at_ms = next((at_ms for _, at_ms in events if at_ms is not None), None)
        events.insert(0, (SessionOpened(claimed, cwd, (cwd,), (at_ms or 0) / 1000), at_ms))
    sets = own_extra(trajectory.agent.extra).get("tool_sets", {})
    definitions = trajectory.agent.tool_definitions or []
    return ImportedSession(
        claimed,
        tuple(events),
        offered_from(definitions, cast("ToolSets", sets)) if isinstance(sets, dict) else {},
        tuple(session_from(child, cwd) for child in trajectory.subagent_trajectories or ()),
    )


class _Restorer:
    """Restores the events of one trajectory."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._steps = trajectory.steps
        self._model = trajectory.agent.model_name or ""
        self._outcomes = _outcomes(trajectory.steps)
        self._answers = AnswersByCall(self._outcomes)
        self._turn = ""

    def events(self) -> list[TimedEvent]:
        """Return all events. Raises BadRequest."""
        found: list[TimedEvent] = []
        for step in self._steps:
            own = own_extra(step.extra).get("events")
            if isinstance(own, list):
                found += self._own_events(step, cast("list[Any]", own))
            else:
                at_ms = _milliseconds(step.timestamp)
                found += [(event, at_ms) for event in self._foreign_events(step)]
        if self._turn:
            found.append((TurnEnded(self._turn, "done"), found[-1][1]))
        return found

    def _own_events(self, step: AtifStep, entries: Sequence[Any]) -> Iterator[TimedEvent]:
        for entry in entries:
            match entry:
                case [int() | None as at_ms, {"type": str(kind), **rest}]:
                    if kind in NOT_RECORDED:
                        continue
                    fields = cast("dict[str, Any]", {"type": kind, **rest})
                    yield event_from(restored(fields, step, self._answers)), _valid_time(at_ms)
                case _:
                    raise BadRequest(f"Step {step.step_id} has an event that is not [time, event].")

    def _foreign_events(self, step: AtifStep) -> Iterator[Event]:
        name = f"step_{step.step_id}"
        if step.source == "user":
            if self._turn:
                yield TurnEnded(self._turn, "done")
            self._turn = f"turn_{name}"
            yield TurnStarted(self._turn)
            yield UserSaid(name, parts_of(step.message))
        elif step.source == "system":
            text = text_of(step.message)
            yield PromptFrozen((text,)) if step.step_id == 1 else NoteAdded(text)
        else:
            if not self._turn:
                self._turn = f"turn_{name}"
                yield TurnStarted(self._turn)
            yield from self._foreign_answer(step, name)

    def _foreign_answer(self, step: AtifStep, name: str) -> Iterator[Event]:
        if step.reasoning_content:
            yield ThoughtSaid(name, step.reasoning_content)
        if text := text_of(step.message):
            yield TextSaid(name, text)
        calls = tuple(tool_call_of(call) for call in step.tool_calls or ())
        used = step.metrics
        usage = Usage()
        if used:
            usage = Usage(used.prompt_tokens or 0, used.completion_tokens or 0, used.cached_tokens or 0)
        yield StepEnded(name, calls, (), usage, "", step.model_name or self._model)
        for call in step.tool_calls or ():
            yield CallProposed(
                call.tool_call_id, call.function_name, call.function_name, "other", call.arguments
            )
            content = self._outcomes.get(call.tool_call_id)
            parts = parts_of(content)[1:] if isinstance(content, list) else ()
            yield CallEnded(call.tool_call_id, call.function_name, "completed", text_of(content), parts=parts)


def _outcomes(steps: Sequence[AtifStep]) -> dict[str, Content | None]:
    found: dict[str, Content | None] = {}
    for step in steps:
        for result in step.observation.results if step.observation else ():
            call_id = result.source_call_id or own_extra(result.extra).get("call_id")
            if isinstance(call_id, str):
                found.setdefault(call_id, result.content)
    return found


def _valid_time(at_ms: int | None) -> int | None:
    return at_ms if at_ms is not None and 0 <= at_ms < 10**15 else None


def _milliseconds(timestamp: str | None) -> int | None:
    if timestamp is None:
        return None
    try:
        moment = datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
        return _valid_time(round(moment.timestamp() * 1000))
    except (ValueError, OverflowError):
        return None
