"""Ports for the clock, identifiers, background tasks and the decision log."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol


class Clock(Protocol):
    """The clock, injected so that tests control the time."""

    def now(self) -> float:
        """Return seconds since the epoch, for records."""
        ...

    def monotonic(self) -> float:
        """Return monotonic seconds, for measuring waits and budgets."""
        ...


class Ids(Protocol):
    """The source of new identifiers, injected so that tests control them."""

    def fresh(self, kind: str) -> str:
        """Return a new ID, such as `turn_…` for the kind `turn`."""
        ...


StartTask = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]
"""Starts a background task that is owned by another component."""


class Log(Protocol):
    """The decision log: what the program decided and why; it belongs to no session."""

    def note(self, what: str, **facts: str | float | None) -> None:
        """Record one decision as names and numbers, without secrets or text from conversations."""
        ...
