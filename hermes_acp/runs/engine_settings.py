"""Validated intervals and limits for engines."""

from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import ConfigError

MAX_HEARTBEAT_SHARE: Final = 1 / 3


class EngineSettings(Struct, frozen=True):
    """The limits for claims. Times are in seconds.

    A claim that is not renewed for `lease_s` may be taken over; the process renews it every `heartbeat_s`, whatever the
    model does. A run whose process was killed `max_crashes` times is parked. An attempt without progress for `stall_s`
    is ended. A worker polls for work every `poll_s` while it works on runs, and every `idle_poll_s` otherwise. Polling
    only matters if a process was killed between a commit and its wake-up call.
    """

    lease_s: float = 15.0
    heartbeat_s: float = 3.0
    max_crashes: int = 3
    stall_s: float = 7200.0
    poll_s: float = 1.0
    idle_poll_s: float = 5.0

    def __post_init__(self) -> None:
        """Reject settings that would make healthy workers lose their claims. Raises ConfigError."""
        if not 0 < self.heartbeat_s <= self.lease_s * MAX_HEARTBEAT_SHARE:
            raise ConfigError(
                f"The heartbeat of {self.heartbeat_s:g} s is more than a third of the lease of {self.lease_s:g} s.",
                hint="Shorten the heartbeat or lengthen the lease.",
            )
        if self.max_crashes < 1 or min(self.stall_s, self.poll_s, self.idle_poll_s) <= 0:
            raise ConfigError(
                "The crash limit, the time limit without progress and the poll interval must be positive."
            )
