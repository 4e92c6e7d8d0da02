"""The clock and the dice.

Knows: the real time, and where fresh ids come from. Does not know: who needs them; tests bring their own.
"""

import os
import time


class SystemClock:
    """The machine's clocks."""

    def now(self) -> float:
        """Give seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Give seconds that never jump."""
        return time.monotonic()


class RandomIds:
    """Ids nobody can guess."""

    def fresh(self, kind: str) -> str:
        """Give `kind_` and 16 random hexadecimal digits."""
        return f"{kind}_{os.urandom(8).hex()}"
