"""_hermes/mcp/list: the MCP servers that sessions in a folder can use."""

from typing import TYPE_CHECKING

import anyio
from anyio.to_thread import run_sync
from msgspec import UNSET

from hermes_acp.config.settings import load_settings
from hermes_acp.core.ports.tool_ports import ToolSource
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import overviews
from hermes_acp.mcp.server_overview import ServerOverview, server_overviews
from hermes_protocol import own

if TYPE_CHECKING:
    from hermes_acp.mcp.server_pool import ServerState

FIRST_WAIT_S = 2.0


async def list_servers(client: ClientConnection, params: own.McpListParams) -> own.McpListResult:
    """List the servers and their states, after waiting briefly for new connections.

    Raises BadRequest or ConfigError.
    """
    await run_sync(client.app.session_creator.checked_roots, params.cwd, ())
    app = client.app
    settings = await run_sync(load_settings, app.configuration.access.environment)
    await app.mcp_manager.share(settings)
    session = None if params.session_id is UNSET else client.session(params.session_id)
    found = await run_sync(app.workspace_trust.settings_of, params.cwd)
    trusted = {
        each.item
        for each in (found.servers if found else ())
        if app.workspace_trust.is_trusted(params.cwd, each.item)
    }
    own_source, workspace = (session.sources.own, session.sources.workspace) if session else (None, None)
    states = (
        await _states(own_source),
        await _states(app.mcp_manager.shared()),
        await _states(workspace),
    )
    config_file = str(app.configuration.access.environment.config_file)
    servers = server_overviews(settings, config_file, found, params.cwd, trusted, states)
    return own.McpListResult(
        servers=[_entry(each) for each in servers],
        config_file=config_file,
        notices=list(found.notices) if found else [],
    )


async def _states(source: ToolSource | None) -> "tuple[ServerState, ...]":
    from hermes_acp.mcp.server_pool import McpServerPool

    if not isinstance(source, McpServerPool):
        return ()
    with anyio.move_on_after(FIRST_WAIT_S):
        await source.settled()
    return tuple(source.states())


def _entry(server: ServerOverview) -> own.McpListServer:
    state = server.state
    return own.McpListServer(
        name=server.name,
        scope=server.scope,
        file=server.file,
        target=server.target,
        state=state.stands if state else overviews.server_state(server.is_enabled, server.is_trusted),
        is_connected=bool(state and state.is_connected),
        is_enabled=server.is_enabled,
        is_trusted=server.is_trusted,
        can_sign_in=bool(state and state.server_login),
        needs_sign_in=bool(state and state.server_login and state.server_login.needs_sign_in),
        tools=list(state.tools) if state else [],
        prompts=state.prompts if state else 0,
    )


EXTENSION = Method(own.McpListParams, list_servers, access="view")
