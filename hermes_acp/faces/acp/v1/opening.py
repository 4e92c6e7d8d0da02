"""What opening a session means for an editor, however it was opened.

Knows: the modes offered, the commands announced, the workspace that an editor's own files and terminals make.
Does not know: new from loaded.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hermes_acp.core.events import Mode
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.v1.audience import EditorAudience
from hermes_acp.faces.acp.v1.editor import AcpEditor
from hermes_acp.sessions.manager import OpenWorkspace
from hermes_acp.sessions.session import Session
from hermes_protocol import v1

OFFERED_MODES: Final[Mapping[Mode, v1.SessionMode]] = MappingProxyType(
    {
        "ask": v1.SessionMode(id="ask", name="Ask", description="Asks before each edit and each command."),
        "accept_edits": v1.SessionMode(
            id="accept_edits", name="Accept edits", description="Edits files in the workspace; asks before commands."
        ),
        "plan": v1.SessionMode(id="plan", name="Plan", description="Reads and plans; changes nothing."),
    }
)


def mode_state(session: Session) -> v1.SessionModeState:
    """Give the modes and the one in force."""
    return v1.SessionModeState(
        current_mode_id=session.record.mode, available_modes=list(OFFERED_MODES.values())
    )


def workspace_opener(desk: Desk) -> OpenWorkspace:
    """Give what opens a workspace that prefers this editor's own files and terminals."""
    return lambda session_id, cwd, roots: desk.house.open_workspace(cwd, roots, AcpEditor(desk, session_id))


def admit(desk: Desk, session: Session) -> None:
    """Let the editor watch the session; its commands are announced right behind the answer."""
    session.ledger.admit(EditorAudience(desk, session.id))
    commands = [
        v1.AvailableCommand(name=command.name, description=command.description)
        for command in session.commands.offered
    ]
    update = v1.AvailableCommandsUpdate(available_commands=commands)
    notification = v1.SessionNotification(session_id=session.id, update=update)
    desk.after_answer(lambda: desk.connection.notify("session/update", notification))
