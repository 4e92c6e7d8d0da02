"""session/resume: open a stored session without replaying it."""

from msgspec import UNSET

from hermes_acp.core.events import Noticed
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.client_role import role_in
from hermes_acp.frontends.acp.session_setup.attachment import is_shared
from hermes_acp.frontends.acp.v1.audience import EditorAudience
from hermes_acp.frontends.acp.v1.mcp_servers import specs_of
from hermes_acp.frontends.acp.v1.session_opening import (
    announce_commands,
    ask_again,
    join,
    modes_state,
    open_stored,
    options_state,
)
from hermes_protocol import v1


async def resume_session(
    client: ClientConnection, params: v1.ResumeSessionRequest
) -> v1.ResumeSessionResponse:
    """Open the session, and send the notices that opening it produced. Raises SessionNotFound, Busy or BadRequest."""
    servers = specs_of(client, params.mcp_servers)
    has_servers, role = is_shared(client, params.session_id), role_in(params.meta)
    session, past = await open_stored(client, params, lambda session: join(client, session, role))
    for event in past.news:
        if isinstance(event, Noticed):
            EditorAudience(client, session).show(event)
    named = None if params.mcp_servers is UNSET else servers
    if not has_servers:
        await client.app.mcp_manager.equip(session, named, can_ask=client.can_ask)
    announce_commands(client, session)
    ask_again(client, session, role)
    if session.record.usage.used_tokens:
        client.after_answer(lambda: EditorAudience(client, session).show(session.record.usage))
    return v1.ResumeSessionResponse(
        modes=modes_state(session),
        config_options=options_state(client, session),
    )


METHOD = Method(v1.ResumeSessionRequest, resume_session, access="any")
