"""The frames that show one event, encoded once for all clients that get the same."""

from collections.abc import Hashable, Sequence

from hermes_acp.core.events import Event


class SharedFrames:
    """Keeps the frames of the event that was shown last: every client is shown an event before the next one."""

    def __init__(self) -> None:
        self._event: Event | None = None
        self._frames: dict[Hashable, Sequence[bytes]] = {}

    def find(self, event: Event, form: Hashable) -> Sequence[bytes] | None:
        """Return an event's frames, or None; `form` distinguishes clients that get it in different forms."""
        return self._frames.get(form) if event is self._event else None

    def keep(self, event: Event, form: Hashable, frames: Sequence[bytes]) -> Sequence[bytes]:
        """Keep an event's frames for the clients that are shown it next, and return them."""
        if event is not self._event:
            self._event = event
            self._frames = {}
        self._frames[form] = frames
        return frames
