"""An editor as one of a session's audiences.

Knows: how an event becomes notifications on one connection. Does not know: where events come from.
"""

from hermes_acp.core.events import Event
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.v1.updates import View, to_updates
from hermes_protocol import v1


class EditorAudience:
    """One session's updates on one connection."""

    def __init__(self, desk: Desk, session_id: str) -> None:
        self._desk = desk
        self._session_id = session_id
        self._view = view_of(desk, is_replay=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EditorAudience) and (self._desk, self._session_id) == (
            other._desk,
            other._session_id,
        )

    def __hash__(self) -> int:
        return hash((id(self._desk), self._session_id))

    def show(self, event: Event) -> None:
        """Queue the event's updates."""
        notify_event(self._desk, self._session_id, event, self._view)

    async def drained(self) -> None:
        """Wait while the editor reads too slowly."""
        await self._desk.connection.drained()


def view_of(desk: Desk, *, is_replay: bool) -> View:
    """Say what this client takes."""
    session = desk.capabilities.session
    return View(is_replay=is_replay, takes_notices=bool(session and session.notices))


def notify_event(desk: Desk, session_id: str, event: Event, view: View) -> None:
    """Send the updates of one event."""
    for update in to_updates(event, view):
        desk.connection.notify("session/update", v1.SessionNotification(session_id=session_id, update=update))
