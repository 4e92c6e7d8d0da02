"""What opening a session means for an editor, however it was opened.

Knows: the workspace, which is this machine's own. Does not know: new from resumed.
"""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.sessions.manager import OpenWorkspace


def workspace_opener(desk: Desk) -> OpenWorkspace:
    """Give what opens a workspace; in this version no editor serves files or terminals."""
    return lambda _session_id, cwd, roots: desk.house.open_workspace(cwd, roots)
