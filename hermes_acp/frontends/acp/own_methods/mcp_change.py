"""_hermes/mcp/change: reconnect to an MCP server, sign in or out, or switch it on or off."""

from functools import partial
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from hermes_acp.config.settings import load_settings
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import overviews
from hermes_protocol import own

if TYPE_CHECKING:
    from hermes_acp.mcp.server_pool import McpServerPool, ServerState
    from hermes_acp.mcp.sign_in.server_login import ServerLogin


async def change_server(client: ClientConnection, params: own.McpChangeParams) -> own.McpChangeResult:
    """Carry out the change. Raises BadRequest for an unknown server, SessionNotFound, ConfigError or StorageError."""
    if params.action in ("enable", "disable"):
        return await _switch(client, params.name, is_enabled=params.action == "enable")
    pool, state = _find(client, params)
    if params.action == "reconnect":
        await pool.revive(params.name)
        stands = next(each.stands for each in pool.states() if each.name == params.name)
        return own.McpChangeResult(text=stands)
    login = state.server_login
    if login is None:
        raise BadRequest(overviews.no_sign_in(params.name))
    if params.action == "signOut":
        was_in = await login.sign_out()
        return own.McpChangeResult(text=overviews.SIGNED_OUT if was_in else overviews.WAS_NOT_SIGNED_IN)
    return await _sign_in(client, login)


def _find(client: ClientConnection, params: own.McpChangeParams) -> "tuple[McpServerPool, ServerState]":
    session = client.session(params.session_id) if isinstance(params.session_id, str) else None
    for pool in client.app.mcp_manager.servers_of(session):
        for state in pool.states():
            if state.name == params.name:
                return pool, state
    raise BadRequest(overviews.no_such_server(params.name), hint=overviews.SERVER_NAMES_HINT)


async def _sign_in(client: ClientConnection, login: "ServerLogin") -> own.McpChangeResult:
    """Start signing in, and return the page for the user; the sign-in continues after the response."""
    flow = login.flow()
    client.run_beyond_answer(flow.run)
    link = await flow.wait_for_link()
    login.has_prompted = True
    if not link:
        return own.McpChangeResult(text=flow.failure)
    return own.McpChangeResult(text=overviews.SIGN_IN_OPENED, link=link)


async def _switch(client: ClientConnection, name: str, *, is_enabled: bool) -> own.McpChangeResult:
    """Switch one of the user's own servers on or off, in config.yaml and in the sessions of this process."""
    from hermes_acp.mcp.server_switch import switch_server

    environment = client.app.configuration.access.environment
    if name not in (await run_sync(load_settings, environment)).mcp_servers:
        raise BadRequest(overviews.not_yours(name))
    await run_sync(partial(switch_server, environment.config_file, name, is_enabled=is_enabled))
    await client.app.mcp_manager.share(await run_sync(load_settings, environment))
    return own.McpChangeResult(text=overviews.SWITCHED_ON_TEXT if is_enabled else overviews.SWITCHED_OFF_TEXT)


EXTENSION = Method(own.McpChangeParams, change_server)
