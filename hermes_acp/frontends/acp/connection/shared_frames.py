"""Encode the frames of an event once, and reuse them for all clients that get the same frames."""

from collections.abc import Hashable, Sequence

from hermes_acp.core.events import Event


class SharedFrames:
    """Cache the frames of the latest event only, because every client is sent an event before the next one."""

    def __init__(self) -> None:
        self._event: Event | None = None
        self._frames: dict[Hashable, Sequence[bytes]] = {}

    def find(self, event: Event, form: Hashable) -> Sequence[bytes] | None:
        """Return the cached frames of an event, or None; `form` separates clients that need different frames."""
        return self._frames.get(form) if event is self._event else None

    def keep(self, event: Event, form: Hashable, frames: Sequence[bytes]) -> Sequence[bytes]:
        """Cache the frames of an event for the next clients, and return them."""
        if event is not self._event:
            self._event = event
            self._frames = {}
        self._frames[form] = frames
        return frames
