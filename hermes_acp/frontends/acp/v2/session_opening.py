"""The steps that all methods that open a session share.

In this version, no editor serves files or terminals.
"""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.session_setup.attachment import attach
from hermes_acp.frontends.acp.v2.audience import EditorAudience
from hermes_acp.frontends.acp.v2.gate import editor_gate
from hermes_acp.sessions.clients.attached_clients import Role
from hermes_acp.sessions.session import Session
from hermes_acp.sessions.session_manager import OpenWorkspace


def workspace_opener(client: ClientConnection) -> OpenWorkspace:
    """Return a function that opens a workspace without an editor's files or terminals."""
    return lambda _session_id, cwd, roots: client.app.open_workspace(cwd, roots, variables=client.variables)


def join(client: ClientConnection, session: Session, role: Role = "controller") -> None:
    """Attach the client to the session; doing so twice changes nothing."""
    attach(client, session, EditorAudience(client, session), editor_gate(client, session.id), role)
