"""The calls of a session that are being carried out, each of which can be stopped alone.

Knows: that a call is found from before anybody is told of its start until its work has ended. Does not know: who stops
one, or what its tool does.
"""

from collections.abc import Generator
from contextlib import contextmanager

import anyio

from hermes_acp.core.event_types import CallStatus
from hermes_acp.core.events import CallProposed


class RunningCall:
    """One call at work; `ends_as` is its status where it is stopped."""

    def __init__(self, card: CallProposed) -> None:
        self.card = card
        self.scope = anyio.CancelScope()
        self.ends_as: CallStatus = "cancelled"

    def stop(self, ends_as: CallStatus = "cancelled") -> None:
        """End this call alone, unless its work is done first; returns at once, and the turn goes on."""
        self.ends_as = ends_as
        self.scope.cancel()


class RunningCalls:
    """The calls at work, by their ids."""

    def __init__(self) -> None:
        self._calls: dict[str, RunningCall] = {}

    @contextmanager
    def hold(self, card: CallProposed) -> Generator[RunningCall]:
        """Let a call be found while the block runs, which just ends where the call is stopped."""
        call = self._calls[card.call_id] = RunningCall(card)
        try:
            with call.scope:
                yield call
        finally:
            del self._calls[card.call_id]

    def stop_all(self) -> None:
        """End each of them alone; returns at once."""
        for call in self._calls.values():
            call.stop()

    def find(self, call_id: str) -> RunningCall | None:
        """Return a call that is at work."""
        return self._calls.get(call_id)
