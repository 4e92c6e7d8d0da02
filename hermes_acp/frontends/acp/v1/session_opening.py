"""The steps that all methods that open a session share: announce its commands, and open a workspace with the
editor's files and terminals.
"""

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.extensions.client_role import role_in
from hermes_acp.frontends.acp.extensions.editor_diagnostics import attach_diagnostics
from hermes_acp.frontends.acp.extensions.editor_trust import apply_editor_trust
from hermes_acp.frontends.acp.extensions.meta_extensions import takes
from hermes_acp.frontends.acp.session_setup.attachment import attach, is_shared
from hermes_acp.frontends.acp.v1.audience import EditorAudience, commands_update, notify
from hermes_acp.frontends.acp.v1.client_instructions import instructions_of
from hermes_acp.frontends.acp.v1.gate import editor_gate
from hermes_acp.frontends.acp.v1.options import config_options
from hermes_acp.frontends.acp.v1.session_editor import SessionEditor
from hermes_acp.frontends.acp.v1.session_modes import mode_state
from hermes_acp.sessions.clients.attached_clients import Role
from hermes_acp.sessions.session import Session
from hermes_acp.sessions.session_manager import OnOpened, OpenWorkspace, SessionHistory
from hermes_protocol import v1


def workspace_opener(client: ClientConnection) -> OpenWorkspace:
    """Return a function that opens a workspace with this editor's files and terminals."""
    return lambda session_id, cwd, roots: client.app.open_workspace(
        cwd, roots, SessionEditor(client, session_id), variables=client.variables
    )


async def open_stored(
    client: ClientConnection,
    params: v1.LoadSessionRequest | v1.ResumeSessionRequest,
    begin_to_watch: OnOpened,
) -> tuple[Session, SessionHistory]:
    """Open a stored session with the client's own instructions; close it again if these are invalid.

    `begin_to_watch` is called at the end of the replayed history. Raises SessionNotFound, Busy, BadRequest,
    StorageError.
    """
    sessions = client.app.sessions
    session_id, role = params.session_id, role_in(params.meta)
    more_roots = None if is_shared(client, session_id) else params.additional_directories or ()
    instructions = instructions_of(params.system_prompt)
    was_open = sessions.get(session_id) is not None
    session, past = await sessions.load(
        session_id,
        params.cwd,
        workspace_opener(client),
        more_roots,
        begin_to_watch,
        keeps_questions=_can_be_asked_again(client, role),
        may_follow=True,
    )
    try:
        session.instruct(instructions)
    except BadRequest:
        if not was_open:
            await sessions.close(session_id)
        raise
    if role == "controller":
        apply_editor_trust(client, session, params.meta)
        attach_diagnostics(client, session)
    return session, past


def options_state(client: ClientConnection, session: Session) -> list[v1.SessionConfigOption]:
    """Return the session's options in a form that this client can show."""
    return config_options(session.record, session.offers, client.capabilities)


def modes_state(session: Session) -> v1.SessionModeState:
    """Return the modes of this session and the current one."""
    return mode_state(session.record, allows_bypass=session.offers.allows_bypass)


def admit(client: ClientConnection, session: Session) -> None:
    """Attach the editor to the session, and announce the commands after the response."""
    attach_diagnostics(client, session)
    join(client, session)
    announce_commands(client, session)


def join(
    client: ClientConnection,
    session: Session,
    role: Role = "controller",
) -> None:
    """Attach the client to the session; doing so twice changes nothing."""
    audience = EditorAudience(client, session)
    attach(client, session, audience, editor_gate(client, session.id), role)
    if not session.clients.is_prompting(client):
        audience.report_running_turn()


def ask_again(client: ClientConnection, session: Session, role: Role) -> None:
    """Ask the question again that was open when the last process ended, right after the response."""
    if _can_be_asked_again(client, role):
        client.after_answer(lambda: client.app.turn_tasks.ask_again(session))


def _can_be_asked_again(client: ClientConnection, role: Role) -> bool:
    """Return whether the client supports turns that it did not start."""
    return role == "controller" and takes(client.capabilities, "turnStates")


def announce_commands(client: ClientConnection, session: Session) -> None:
    """Announce the session's commands right after the response."""
    client.after_answer(lambda: notify(client, session.id, commands_update(session)))
