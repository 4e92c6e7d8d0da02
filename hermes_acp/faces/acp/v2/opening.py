"""What opening a session means for an editor, however it was opened.

Knows: the workspace, which is this machine's own, and the commands announced. Does not know: new from resumed.
"""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.sessions.manager import OpenWorkspace
from hermes_acp.sessions.session import Session
from hermes_protocol import v2


def workspace_opener(desk: Desk) -> OpenWorkspace:
    """Give what opens a workspace; in this version no editor serves files or terminals."""
    return lambda _session_id, cwd, roots: desk.house.open_workspace(cwd, roots)


def available_commands(session: Session) -> list[v2.AvailableCommand]:
    """List the session's slash commands."""
    return [
        v2.Command(name=command.name, description=command.description) for command in session.commands.offered
    ]
