"""Shared resources: stations that serve requests in order, and accounts with limits per minute."""

import heapq
from collections.abc import Sequence


class Waits:
    """The waiting times for a shared part, in seconds."""

    def __init__(self) -> None:
        self._waits: list[float] = []

    def add(self, wait_s: float) -> None:
        """Record one wait."""
        self._waits.append(wait_s)

    def quantile(self, share: float) -> float:
        """Return the given quantile of the waits."""
        if not self._waits:
            return 0.0
        self._waits.sort()
        return self._waits[min(int(len(self._waits) * share), len(self._waits) - 1)]


class Station:
    """Serves requests in order of arrival, up to `servers` at once. Arrivals must be in chronological order."""

    def __init__(self, name: str, servers: int, service_s: float) -> None:
        self.name = name
        self._service_s = service_s
        self._free_at = [0.0] * servers
        self._busy_s = 0.0
        self.served = 0
        self.waits = Waits()

    def serve(self, now: float, amount: float = 1.0) -> float:
        """Serve a request that arrives at a given time; return when it is done."""
        begins = max(now, self._free_at[0])
        ends = begins + self._service_s * amount
        heapq.heapreplace(self._free_at, ends)
        self._busy_s += self._service_s * amount
        self.served += 1
        self.waits.add(begins - now)
        return ends

    def load(self, span_s: float) -> float:
        """Return the utilisation in a time span; more than 1 means that the queue grew."""
        return self._busy_s / (span_s * len(self._free_at))


class Account:
    """A per-minute limit that refills evenly, as with model providers; a full minute's worth can be used at once."""

    def __init__(self, name: str, per_minute: float) -> None:
        self.name = name
        self._per_s = per_minute / 60
        self._burst_s = 60.0
        self._paid_until = 0.0
        self._taken = 0.0
        self.waits = Waits()

    def take(self, now: float, amount: float) -> float:
        """Take an amount; return the time at which it is granted."""
        self._paid_until = max(self._paid_until, now - self._burst_s) + amount / self._per_s
        granted = max(now, self._paid_until)
        self._taken += amount
        self.waits.add(granted - now)
        return granted

    def load(self, span_s: float) -> float:
        """Return the utilisation in a time span."""
        return self._taken / (self._per_s * span_s)


SharedPart = Station | Account


def most_loaded(parts: Sequence[SharedPart], span_s: float) -> SharedPart:
    """Return the part that saturates first."""
    return max(parts, key=lambda part: part.load(span_s))
