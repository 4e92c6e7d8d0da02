"""Report the times of prompts, calls and turns to clients that announce `_meta.hermes.times`."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from hermes_acp.core.events import CallEnded, CallStarted, Event, TurnEnded, UserSaid
from hermes_acp.core.record.turn_times import TurnTimer, TurnTimes
from hermes_protocol import v1

Updates = tuple[v1.SessionUpdate, ...]


class TimeUpdates:
    """Creates the updates about times, which are sent before the event's own: a finished card accepts no updates.

    Only the update about a prompt is sent after the prompt.
    """

    def __init__(self) -> None:
        self._timer = TurnTimer()
        self._began: dict[str, int] = {}

    def take(self, event: Event, at: float | None) -> Updates:
        """Return the updates for an event; `at` is its time in seconds since the epoch, or None if unknown."""
        spent = self._timer.take(event, at)
        if at is None:
            return ()
        at_ms = round(at * 1000)
        match event:
            case UserSaid():
                said = {"messageId": event.message_id, "saidAtMs": at_ms}
                return (v1.SessionInfoUpdate(meta={"hermes": {"promptTimes": said}}),)
            case CallStarted():
                self._began[event.call_id] = at_ms
                return (_call_times(event.call_id, startedAtMs=at_ms),)
            case CallEnded() if event.call_id in self._began:
                began = self._began.pop(event.call_id)
                return (_call_times(event.call_id, startedAtMs=began, endedAtMs=at_ms),)
            case _:
                return (_turn_times(spent),) if spent else ()


class PastTimes:
    """The updates about the times of a session's past events, for a replay."""

    def __init__(self, updates: Mapping[tuple[str, str], Updates]) -> None:
        self._updates = updates

    def of(self, event: Event) -> Updates:
        """Return the updates for a past event."""
        return self._updates.get(_key_of(event), ())


def read_past_times(record: Path) -> PastTimes:
    """Read the times from a session's record; an unreadable record has none. Blocks."""
    from hermes_acp.storage.transcript import Transcript

    try:
        return past_times(Transcript.read_timed(record))
    except OSError:
        return PastTimes({})


def past_times(timed: Iterable[tuple[Event, float | None]]) -> PastTimes:
    """Create the updates for past events with their times."""
    times = TimeUpdates()
    taken = ((_key_of(event), times.take(event, at)) for event, at in timed)
    return PastTimes({key: updates for key, updates in taken if key[1] and updates})


def _key_of(event: Event) -> tuple[str, str]:
    """Return the kind and ID of the item that an event's times belong to; empty for events without times."""
    match event:
        case UserSaid():
            return "prompt", event.message_id
        case CallEnded():
            return "call", event.call_id
        case TurnEnded():
            return "turn", event.turn_id
        case _:
            return "", ""


def _call_times(call_id: str, **times: int) -> v1.SessionUpdate:
    return v1.SessionUpdateToolCallUpdate(tool_call_id=call_id, meta={"hermes": times})


def _turn_times(spent: TurnTimes) -> v1.SessionUpdate:
    times = {
        "beganAtMs": spent.began_at,
        "totalMs": spent.total_s,
        "modelMs": spent.model_s,
        "firstTokenMs": spent.first_token_s,
        "toolsMs": spent.tools_s,
        "waitingMs": spent.waiting_s,
    }
    told = {name: round(seconds * 1000) for name, seconds in times.items() if seconds is not None}
    return v1.SessionInfoUpdate(meta={"hermes": {"turnTimes": told}})
