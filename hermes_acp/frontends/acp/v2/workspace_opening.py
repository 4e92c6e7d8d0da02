"""What opening a session means for an editor, however it was opened.

The workspace is always on this machine.
"""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.sessions.session_manager import OpenWorkspace


def workspace_opener(client: ClientConnection) -> OpenWorkspace:
    """Return a function that opens a workspace; in this version no editor serves files or terminals."""
    return lambda _session_id, cwd, roots: client.app.open_workspace(cwd, roots)
