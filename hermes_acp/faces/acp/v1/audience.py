"""An editor as one of a session's audiences.

Knows: how an event becomes notifications on one connection. Does not know: where events come from.
"""

from hermes_acp.core.events import CommandsChanged, Event, ModeChanged, OptionsChanged, ThoughtSaid
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
        self._view = _view_of(desk, is_replay=False)
        self._past_view = _view_of(desk, is_replay=True)

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
        self._tell(event, self._view)
        if isinstance(event, ModeChanged | OptionsChanged):
            options = config_options(record, self._session.models, self._desk.capabilities)
            notify(self._desk, self._session.id, v1.ConfigOptionUpdate(config_options=options))
        elif isinstance(event, CommandsChanged):
            notify(self._desk, self._session.id, commands_update(self._session))

    def recall(self, event: Event) -> None:
        """Queue the updates of an event of the past; what is chosen now is told by the answer behind it."""
        self._tell(event, self._past_view)

    def _tell(self, event: Event, view: View) -> None:
        if isinstance(event, ThoughtSaid) and not self._session.record.options.shows_thoughts:
            return
        for update in to_updates(event, view):
            notify(self._desk, self._session.id, update)

    async def drained(self) -> None:
        """Wait while the editor reads too slowly."""
        await self._desk.connection.drained()


def watch(desk: Desk, session: Session) -> None:
    """Let the editor watch the session from now on; one that does so already goes on."""
    session.ledger.admit(EditorAudience(desk, session))


def _view_of(desk: Desk, *, is_replay: bool) -> View:
    """Say what this client takes."""
    session = desk.capabilities.session
    return View(
        is_replay=is_replay,
        takes_notices=bool(session and session.notices),
        takes_plan_updates=desk.takes_plan_updates,
        takes_compactions=bool(session and session.compaction),
    )


def commands_update(session: Session) -> v1.AvailableCommandsUpdate:
    """List the session's slash commands."""
    commands = [
        v1.AvailableCommand(
            name=offer.name,
            description=offer.description,
            input=v1.UnstructuredCommandInput(hint=offer.hint) if offer.hint else v1.UNSET,
        )
        for offer in session.commands.offered
    ]
    return v1.AvailableCommandsUpdate(available_commands=commands)


def notify(desk: Desk, session_id: str, update: v1.SessionUpdate) -> None:
    """Send one update."""
    desk.connection.notify("session/update", v1.SessionNotification(session_id=session_id, update=update))
