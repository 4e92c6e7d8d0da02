"""session/load: open a stored session and replay it from the beginning."""

import anyio.to_thread

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.client_role import role_in
from hermes_acp.frontends.acp.extensions.meta_extensions import takes
from hermes_acp.frontends.acp.extensions.time_updates import PastTimes, read_past_times
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
from hermes_acp.sessions.clients.catch_up import CatchUp
from hermes_protocol import v1


async def load_session(client: ClientConnection, params: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
    """Replay everything, including events that happen in the meantime, then answer.

    Raises SessionNotFound, Busy or BadRequest.
    """
    servers = specs_of(client, params.mcp_servers)
    has_servers = is_shared(client, params.session_id)
    times = await _past_times(client, params.session_id)
    with CatchUp(lambda session: EditorAudience(client, session, times)) as catch_up:
        session, past = await open_stored(client, params, catch_up.join)
        await catch_up.hear(past)
    role = role_in(params.meta)
    join(client, session, role)
    if not has_servers:
        await client.app.mcp_manager.equip(session, servers, can_ask=client.can_ask)
    announce_commands(client, session)
    ask_again(client, session, role)
    return v1.LoadSessionResponse(
        modes=modes_state(session),
        config_options=options_state(client, session),
    )


async def _past_times(client: ClientConnection, session_id: str) -> PastTimes | None:
    """Return the times of a session's events, if the client shows them."""
    if not takes(client.capabilities, "times"):
        return None
    record = await client.app.sessions.record_of(session_id)
    return record and await anyio.to_thread.run_sync(read_past_times, record)


METHOD = Method(v1.LoadSessionRequest, load_session, access="any")
