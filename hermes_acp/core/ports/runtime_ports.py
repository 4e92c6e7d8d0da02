"""Clock, identifiers, background tasks and the decision log."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol


class Clock(Protocol):
    """The time, injected so that tests own it."""

    def now(self) -> float:
        """Return seconds since the epoch, for records."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never jump, for waiting and budgets."""
        ...


class Ids(Protocol):
    """Fresh identifiers, injected so that tests own them."""

    def fresh(self, kind: str) -> str:
        """Return a new ID such as `turn_…` for kind `turn`."""
        ...


StartTask = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]
"""Starts some work in the background, in a task that somebody else owns."""


class Log(Protocol):
    """The decision log: what the program decided and why; not part of any session."""

    def note(self, what: str, **facts: str | float | None) -> None:
        """Record one decision by names and numbers: no secret, no words of a conversation."""
        ...
