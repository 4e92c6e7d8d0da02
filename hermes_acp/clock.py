"""The machine's clocks."""

import time


class SystemClock:
    """The system clocks."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()
