"""A token bucket that says when the next message may be sent.

It is given the time, and never waits itself.
"""

from hermes_acp.frontends.gateway.port.platform_port import Limits


class RateLimit:
    """The rate limit of one platform."""

    def __init__(self, limits: Limits, now: float) -> None:
        """Start with a full bucket."""
        self._burst = float(max(1, limits.burst))
        self._gap_s = limits.send_gap_s
        self._tokens = self._burst
        self._filled_at = now
        self._closed_until = now

    def take(self, now: float) -> float:
        """Take a token and return 0, or return how many seconds to wait before trying again."""
        if now < self._closed_until:
            return self._closed_until - now
        if self._gap_s > 0:
            grown = (now - self._filled_at) / self._gap_s
            self._tokens = min(self._burst, self._tokens + grown)
        else:
            self._tokens = self._burst
        self._filled_at = now
        if self._tokens < 1:
            return (1 - self._tokens) * self._gap_s
        self._tokens -= 1
        return 0.0

    def close(self, until: float) -> None:
        """Block sending until a time that the platform requested."""
        self._closed_until = max(self._closed_until, until)
        self._tokens = min(self._tokens, 1.0)
