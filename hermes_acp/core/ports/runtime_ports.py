"""Clock, identifiers, background tasks and the decision log."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol


class Clock(Protocol):
    """The time, injected so that tests control it."""

    def now(self) -> float:
        """Return seconds since the epoch, for records."""
        ...

    def monotonic(self) -> float:
        """Return monotonic seconds, for waiting and budgets."""
        ...


class Ids(Protocol):
    """New identifiers, injected so that tests control them."""

    def fresh(self, kind: str) -> str:
        """Return a new ID such as `turn_…` for kind `turn`."""
        ...


StartTask = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]
"""Start a background task that is owned by another component."""


class Log(Protocol):
    """The decision log: what the program decided and why; not part of any session."""

    def note(self, what: str, **facts: str | float | None) -> None:
        """Record one decision as names and numbers, without secrets or conversation text."""
        ...
