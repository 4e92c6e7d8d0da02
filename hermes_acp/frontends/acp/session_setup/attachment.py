"""Attach a client to a session, so that it gets the session's updates and questions."""

from collections.abc import Callable

from hermes_acp.core.ports.record_ports import Audience
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.sessions.clients.attached_clients import AttachedClient, ClientGate, Role
from hermes_acp.sessions.session import Session


def attach(
    client: ClientConnection,
    session: Session,
    audience: Audience,
    gate: ClientGate,
    role: Role,
    on_departure: Callable[[object], None] | None = None,
) -> None:
    """Attach a client; it is sent open questions right after the response to its current request.

    `on_departure` is called with the connection of every other client that leaves.
    """
    session.clients.attach(AttachedClient(client, client.name, audience, gate, role, on_departure))
    client.after_answer(lambda: session.clients.brief(client))


def is_shared(client: ClientConnection, session_id: str) -> bool:
    """Return whether other clients have the session open, so that its setup must not change."""
    session = client.app.sessions.get(session_id)
    return session is not None and any(
        attached.connection is not client for attached in session.clients.controllers
    )
