"""The part of `session/attach` that is specific to version 2.

This version sends every client all prompts and the session's state, so the RFD's own updates about them are left out.
"""

from hermes_acp.core.events import Event
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.extensions.peer_updates import PeerUpdates
from hermes_acp.frontends.acp.session_setup.attachment import attach
from hermes_acp.frontends.acp.translation.stop_reasons import stop_reason_of
from hermes_acp.frontends.acp.v2.audience import EditorAudience, notify
from hermes_acp.frontends.acp.v2.gate import editor_gate
from hermes_acp.frontends.acp.v2.session_opening import workspace_opener
from hermes_acp.sessions.clients.attached_clients import Role
from hermes_acp.sessions.session import Session
from hermes_acp.sessions.session_manager import OpenWorkspace
from hermes_protocol import v2


class PeerAudience(EditorAudience):
    """Sends a session's updates over one connection, including those about its other clients."""

    def __init__(self, client: ClientConnection, session: Session) -> None:
        super().__init__(client, session)
        self.peers = PeerUpdates(client, session, stop_reason_of)

    def show(self, event: Event) -> None:
        """Queue the updates for an event."""
        super().show(event)
        self.peers.show(event)

    def replay_event(self, event: Event) -> None:
        """Queue the updates for a past event."""
        super().replay_event(event)
        self.peers.show_past(event)


class SessionJoiner:
    """Joins a session in version 2."""

    def audience(self, client: ClientConnection, session: Session) -> PeerAudience:
        """Return the object that sends the session's events to the client."""
        return PeerAudience(client, session)

    def join(self, client: ClientConnection, session: Session, role: Role) -> None:
        """Attach the client, which is sent open questions after the response."""
        audience = self.audience(client, session)
        departures = audience.peers.report_departure
        attach(client, session, audience, editor_gate(client, session.id), role, departures)
        is_running = bool(session.record.open_turn)
        state = v2.SessionUpdateRunningStateUpdate() if is_running else v2.SessionUpdateIdleStateUpdate()
        notify(client, session.id, state)

    def workspace_opener(self, client: ClientConnection) -> OpenWorkspace:
        """Return a function that opens a workspace."""
        return workspace_opener(client)
