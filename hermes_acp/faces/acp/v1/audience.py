"""An editor as one of a session's audiences.

Knows: how an event becomes notifications on one connection. Does not know: where events come from.
"""

from hermes_acp.core.events import Event, ModeChanged, OptionsChanged, ThoughtSaid
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.v1.options import config_options
from hermes_acp.faces.acp.v1.updates import View, to_updates
from hermes_acp.sessions.session import Session
from hermes_protocol import v1


class EditorAudience:
    """One session's updates on one connection."""

    def __init__(self, desk: Desk, session: Session) -> None:
        self._desk = desk
        self._session = session
        self._view = view_of(desk, is_replay=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EditorAudience) and (self._desk, self._session) == (
            other._desk,
            other._session,
        )

    def __hash__(self) -> int:
        return hash((id(self._desk), id(self._session)))

    def show(self, event: Event) -> None:
        """Queue the event's updates; a changed mode or option is shown with all the others."""
        record = self._session.record
        if isinstance(event, ThoughtSaid) and not record.options.shows_thoughts:
            return
        notify_event(self._desk, self._session.id, event, self._view)
        if isinstance(event, ModeChanged | OptionsChanged):
            options = config_options(record, self._session.models, self._desk.capabilities)
            notify(self._desk, self._session.id, v1.ConfigOptionUpdate(config_options=options))

    async def drained(self) -> None:
        """Wait while the editor reads too slowly."""
        await self._desk.connection.drained()


def view_of(desk: Desk, *, is_replay: bool) -> View:
    """Say what this client takes."""
    session = desk.capabilities.session
    return View(
        is_replay=is_replay,
        takes_notices=bool(session and session.notices),
        takes_plan_updates=desk.takes_plan_updates,
    )


def notify_event(desk: Desk, session_id: str, event: Event, view: View) -> None:
    """Send the updates of one event."""
    for update in to_updates(event, view):
        notify(desk, session_id, update)


def notify(desk: Desk, session_id: str, update: v1.SessionUpdate) -> None:
    """Send one update."""
    desk.connection.notify("session/update", v1.SessionNotification(session_id=session_id, update=update))
