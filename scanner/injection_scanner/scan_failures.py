"""The representation of failed scans, and a deadline that is checked cooperatively between passages."""

import time
from collections.abc import Callable
from typing import Final

NOT_SCANNED: Final = "not-scanned"
"""The rule and category of the only finding in a text on which the scanner failed."""

BASE_TIMEOUT_S: Final = 10.0
S_PER_MB: Final = 8.0


class ScanTimeoutError(Exception):
    """The scan took longer than its deadline allows."""


class Deadline:
    """A point in time after which `check` raises ScanTimeoutError. Can be shared between threads."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._ends_at = now() + seconds

    def check(self) -> None:
        """Raise ScanTimeoutError once the time is up."""
        if self._now() > self._ends_at:
            raise ScanTimeoutError("it took too long")


def deadline_for(text: str) -> Deadline:
    """Return the deadline for scanning a text, in proportion to its length."""
    return Deadline(BASE_TIMEOUT_S + S_PER_MB * len(text) / 1e6)
