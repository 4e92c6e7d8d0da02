"""What opening a session means for an editor, however it was opened.

Knows: the commands announced, the workspace that an editor's own files and terminals make.
Does not know: new from loaded.
"""

from hermes_acp.core.errors import BadRequest
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.diagnoses import take_diagnoses
from hermes_acp.faces.acp.v1.audience import commands_update, notify, watch
from hermes_acp.faces.acp.v1.editor import AcpEditor
from hermes_acp.faces.acp.v1.modes import mode_state
from hermes_acp.faces.acp.v1.options import config_options
from hermes_acp.faces.acp.v1.system_prompt import instructions_of
from hermes_acp.faces.acp.workspace_trust import heed
from hermes_acp.sessions.manager import OpenWorkspace, Past, Watch
from hermes_acp.sessions.session import Session
from hermes_protocol import v1


def workspace_opener(desk: Desk) -> OpenWorkspace:
    """Give what opens a workspace that prefers this editor's own files and terminals."""
    return lambda session_id, cwd, roots: desk.house.open_workspace(cwd, roots, AcpEditor(desk, session_id))


async def open_stored(
    desk: Desk, params: v1.LoadSessionRequest | v1.ResumeSessionRequest, begin_to_watch: Watch
) -> tuple[Session, Past]:
    """Open a stored session with the client's own instructions; where these cannot be taken it is not opened.

    `begin_to_watch` is called where the past ends. Raises NotFound, Busy, BadRequest, StorageTrouble.
    """
    sessions = desk.house.sessions
    session_id, more_roots = params.session_id, params.additional_directories or ()
    instructions = instructions_of(params.system_prompt)
    was_open = sessions.get(session_id) is not None
    session, past = await sessions.load(
        session_id, params.cwd, workspace_opener(desk), more_roots, begin_to_watch
    )
    try:
        session.instruct(instructions)
    except BadRequest:
        if not was_open:
            await sessions.close(session_id)
        raise
    heed(desk, session, params.meta)
    take_diagnoses(desk, session)
    return session, past


def options_state(desk: Desk, session: Session) -> list[v1.SessionConfigOption]:
    """Give the session's options as this client can show them."""
    return config_options(session.record, session.offers, desk.capabilities)


def modes_state(session: Session) -> v1.SessionModeState:
    """Give the modes this session can be in, and the one in force."""
    return mode_state(session.record, allows_bypass=session.offers.allows_bypass)


def admit(desk: Desk, session: Session) -> None:
    """Let the editor watch the session; its commands are announced right behind the answer."""
    take_diagnoses(desk, session)
    watch(desk, session)
    announce_commands(desk, session)


def announce_commands(desk: Desk, session: Session) -> None:
    """Tell the editor of the session's commands, right behind the answer that is being made."""
    desk.after_answer(lambda: notify(desk, session.id, commands_update(session)))
