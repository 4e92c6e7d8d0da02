"""The running calls of a session, each of which can be stopped separately.

A call is listed from just before its start is shown until its work has ended.
"""

from collections.abc import Generator
from contextlib import contextmanager

import anyio

from hermes_acp.core.event_types import CallStatus
from hermes_acp.core.events import CallProposed


class RunningCall:
    """A running call; `ends_as` is the status it gets if it is stopped."""

    def __init__(self, card: CallProposed) -> None:
        self.card = card
        self.scope = anyio.CancelScope()
        self.ends_as: CallStatus = "cancelled"

    def stop(self, ends_as: CallStatus = "cancelled") -> None:
        """Stop only this call, unless it finishes first; return at once. The turn continues."""
        self.ends_as = ends_as
        self.scope.cancel()


class RunningCalls:
    """The running calls, by ID."""

    def __init__(self) -> None:
        self._calls: dict[str, RunningCall] = {}

    @contextmanager
    def hold(self, card: CallProposed) -> Generator[RunningCall]:
        """List a call while the block runs; stopping the call cancels the block."""
        call = self._calls[card.call_id] = RunningCall(card)
        try:
            with call.scope:
                yield call
        finally:
            del self._calls[card.call_id]

    def stop_all(self) -> None:
        """Stop every running call; return at once."""
        for call in self._calls.values():
            call.stop()

    def find(self, call_id: str) -> RunningCall | None:
        """Return the running call with this ID, or None."""
        return self._calls.get(call_id)
