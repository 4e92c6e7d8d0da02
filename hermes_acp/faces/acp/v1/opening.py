"""What opening a session means for an editor, however it was opened.

Knows: the commands announced, the workspace that an editor's own files and terminals make.
Does not know: new from loaded.
"""

from msgspec import UnsetType

from hermes_acp.core.errors import BadRequest
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.v1.audience import EditorAudience
from hermes_acp.faces.acp.v1.editor import AcpEditor
from hermes_acp.faces.acp.v1.options import config_options
from hermes_acp.faces.acp.v1.system_prompt import instructions_of
from hermes_acp.sessions.manager import OpenWorkspace, Past
from hermes_acp.sessions.session import Session
from hermes_protocol import v1


def workspace_opener(desk: Desk) -> OpenWorkspace:
    """Give what opens a workspace that prefers this editor's own files and terminals."""
    return lambda session_id, cwd, roots: desk.house.open_workspace(cwd, roots, AcpEditor(desk, session_id))


async def open_stored(
    desk: Desk, session_id: str, cwd: str, system_prompt: v1.SystemPrompt | UnsetType | None
) -> tuple[Session, Past]:
    """Open a stored session with the client's own instructions; where these cannot be taken it is not opened.

    Raises NotFound, Busy, BadRequest, StorageTrouble.
    """
    sessions = desk.house.sessions
    instructions = instructions_of(system_prompt)
    was_open = sessions.get(session_id) is not None
    session, past = await sessions.load(session_id, cwd, workspace_opener(desk))
    try:
        session.instruct(instructions)
    except BadRequest:
        if not was_open:
            await sessions.close(session_id)
        raise
    return session, past


def options_state(desk: Desk, session: Session) -> list[v1.SessionConfigOption]:
    """Give the session's options as this client can show them."""
    return config_options(session.record, session.models, desk.capabilities)


def admit(desk: Desk, session: Session) -> None:
    """Let the editor watch the session; its commands are announced right behind the answer."""
    session.ledger.admit(EditorAudience(desk, session))
    commands = [
        v1.AvailableCommand(name=command.name, description=command.description)
        for command in session.commands.offered
    ]
    update = v1.AvailableCommandsUpdate(available_commands=commands)
    notification = v1.SessionNotification(session_id=session.id, update=update)
    desk.after_answer(lambda: desk.connection.notify("session/update", notification))
