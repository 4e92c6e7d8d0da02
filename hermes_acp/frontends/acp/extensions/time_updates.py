"""When calls ran and how a turn spent its time, for clients that announce `_meta.hermes.times`."""

import time

from hermes_acp.core.events import CallEnded, CallStarted, Event
from hermes_acp.core.record.turn_times import TurnTimer, TurnTimes
from hermes_protocol import v1


class TimeUpdates:
    """The updates about time, sent before the session's other live updates, because a card accepts none after its
    end.
    """

    def __init__(self) -> None:
        self._timer = TurnTimer()
        self._began: dict[str, int] = {}

    def take(self, event: Event) -> tuple[v1.SessionUpdate, ...]:
        """Return the updates about a live event."""
        now = time.time()
        spent = self._timer.take(event, now)
        now_ms = round(now * 1000)
        match event:
            case CallStarted():
                self._began[event.call_id] = now_ms
                return (_call_times(event.call_id, startedAtMs=now_ms),)
            case CallEnded() if event.call_id in self._began:
                began = self._began.pop(event.call_id)
                return (_call_times(event.call_id, startedAtMs=began, endedAtMs=now_ms),)
            case _:
                return (_turn_times(spent),) if spent else ()


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
