"""The part of `session/attach` that is specific to version 1."""

from hermes_acp.core.events import Event, UserSaid
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.extensions.peer_updates import PeerUpdates
from hermes_acp.frontends.acp.session_setup.attachment import attach
from hermes_acp.frontends.acp.translation.stop_reasons import stop_reason_of
from hermes_acp.frontends.acp.v1.audience import EditorAudience
from hermes_acp.frontends.acp.v1.gate import editor_gate
from hermes_acp.frontends.acp.v1.session_opening import workspace_opener
from hermes_acp.frontends.acp.v1.updates import prompt_blocks
from hermes_acp.sessions.clients.attached_clients import Role
from hermes_acp.sessions.session import Session
from hermes_acp.sessions.session_manager import OpenWorkspace


class PeerAudience(EditorAudience):
    """Sends a session's updates over one connection, including those about its other clients.

    A prompt from another client is sent once, in the format of the RFD.
    """

    def __init__(self, client: ClientConnection, session: Session) -> None:
        super().__init__(client, session)
        self.peers = PeerUpdates(client, session, stop_reason_of)

    def show(self, event: Event) -> None:
        """Queue the updates for an event."""
        if isinstance(event, UserSaid) and self.peers.sent_by_another(event):
            self.peers.report_prompt(event, prompt_blocks(event))
            self.report_running_turn()
            return
        super().show(event)
        self.peers.show(event)

    def replay_event(self, event: Event) -> None:
        """Queue the updates for a past event."""
        super().replay_event(event)
        self.peers.show_past(event)


class SessionJoiner:
    """Joins a session in version 1."""

    def audience(self, client: ClientConnection, session: Session) -> PeerAudience:
        """Return the object that sends the session's events to the client."""
        return PeerAudience(client, session)

    def join(self, client: ClientConnection, session: Session, role: Role) -> None:
        """Attach the client, which is sent open questions after the response."""
        audience = self.audience(client, session)
        departures = audience.peers.report_departure
        attach(client, session, audience, editor_gate(client, session.id), role, departures)
        audience.report_running_turn()

    def workspace_opener(self, client: ClientConnection) -> OpenWorkspace:
        """Return a function that opens a workspace with this editor's files and terminals."""
        return workspace_opener(client)
