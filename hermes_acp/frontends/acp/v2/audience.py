"""Send a session's events to an editor as session updates."""

from hermes_acp.core.events import (
    CommandsChanged,
    Event,
    ModeChanged,
    OptionsChanged,
    ThoughtSaid,
)
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.extensions.edit_notifications import notify_edits
from hermes_acp.frontends.acp.v2.options import config_options
from hermes_acp.frontends.acp.v2.updates import UpdateStream
from hermes_acp.sessions.session import Session
from hermes_protocol import v2


class EditorAudience:
    """Sends the updates of one session over one connection."""

    def __init__(self, client: ClientConnection, session: Session) -> None:
        self._client = client
        self._session = session
        self._updates = UpdateStream(session.workspace.cwd)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EditorAudience) and (self._client, self._session) == (
            other._client,
            other._session,
        )

    def __hash__(self) -> int:
        return hash((id(self._client), id(self._session)))

    def show(self, event: Event) -> None:
        """Queue the updates for an event; if an option has changed, the whole list of options is sent."""
        self._show(event, is_replay=False)
        if isinstance(event, ModeChanged | OptionsChanged):
            self.notify(v2.ConfigOptionUpdate(config_options=config_options(self._session)))
        elif isinstance(event, CommandsChanged):
            self.notify(v2.AvailableCommandsUpdate(available_commands=available_commands(self._session)))
        notify_edits(self._client, self._session.id, self._session.record.reviews, event)

    def replay_event(self, event: Event) -> None:
        """Queue the updates for a past event; the response that follows the replay has the current options."""
        self._show(event, is_replay=True)

    def _show(self, event: Event, *, is_replay: bool) -> None:
        if isinstance(event, ThoughtSaid) and not self._session.record.options.shows_thoughts:
            return
        for update in self._updates.tell(event, is_replay=is_replay):
            self.notify(update)

    def notify(self, update: v2.SessionUpdate) -> None:
        """Send one update."""
        notify(self._client, self._session.id, update)

    async def drained(self) -> None:
        """Wait until the editor has read enough of what was queued."""
        await self._client.connection.drained()


def available_commands(session: Session) -> list[v2.AvailableCommand]:
    """List the session's slash commands."""
    return [
        v2.Command(
            name=offer.name,
            description=offer.description,
            input=v2.TextCommandInput(hint=offer.hint) if offer.hint else v2.UNSET,
        )
        for offer in session.commands.offered
    ]


def notify(client: ClientConnection, session_id: str, update: v2.SessionUpdate) -> None:
    """Send one update of a session."""
    notification = v2.UpdateSessionNotification(session_id=session_id, update=update)
    client.connection.notify("session/update", notification)
