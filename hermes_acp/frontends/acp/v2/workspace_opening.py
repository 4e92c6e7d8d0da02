"""What opening a session means for an editor, however it was opened.

Knows: the workspace, which is this machine's own. Does not know: new from resumed.
"""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.sessions.session_manager import OpenWorkspace


def workspace_opener(client: ClientConnection) -> OpenWorkspace:
    """Return a function that opens a workspace; in this version no editor serves files or terminals."""
    return lambda _session_id, cwd, roots: client.app.open_workspace(cwd, roots)
