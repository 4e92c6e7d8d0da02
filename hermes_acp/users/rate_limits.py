"""Rate limits, with a token bucket for each key that refills over time."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

MAX_KEYS: Final = 10_000
"""The maximum number of keys; beyond that, the least recently used key is dropped."""


class RateLimit:
    """Allows at most `burst` requests at once, and `per_minute` in the long run, for each key."""

    def __init__(self, per_minute: float, burst: float, monotonic: Callable[[], float]) -> None:
        """Initialise with full buckets."""
        self._per_s = per_minute / 60
        self._burst = burst
        self._monotonic = monotonic
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, key: str) -> float:
        """Return 0 if a token is available, else the seconds until one is; does not take it."""
        left = self._left(key)
        return 0.0 if left >= 1 else (1 - left) / self._per_s

    def take(self, key: str) -> float:
        """Take a token and return 0, or return the seconds to wait if there is none."""
        left = self._left(key)
        if left < 1:
            return (1 - left) / self._per_s
        self._buckets[key] = left - 1, self._monotonic()
        self._buckets.move_to_end(key)
        if len(self._buckets) > MAX_KEYS:
            self._buckets.popitem(last=False)
        return 0.0

    def _left(self, key: str) -> float:
        left, since = self._buckets.get(key, (self._burst, self._monotonic()))
        return min(self._burst, left + (self._monotonic() - since) * self._per_s)
