"""Validate the MCP servers that an editor configures.

Errors never quote a value, because it may be secret.
"""

from collections.abc import Iterable

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.mcp.server_definitions import StdioServer, TunneledServer

Pairs = tuple[tuple[str, str], ...]


def stdio_spec(name: str, command: str, args: Iterable[str], env: Pairs) -> StdioServer:
    """Return a server that runs as a local program. Raises BadRequest."""
    arguments = tuple(args)
    if not command or "\0" in "".join((command, *arguments, *map("".join, env))):
        raise unusable(name, errors.BAD_MCP_COMMAND)
    if any(not key or "=" in key for key, _ in env):
        raise unusable(name, errors.BAD_MCP_VARIABLE)
    return StdioServer(name, command, arguments, env)


def address(name: str, url: str) -> str:
    """Return the URL of a server. Raises BadRequest if it is not valid."""
    if not url.lower().startswith(("http://", "https://")) or not url.isprintable():
        raise unusable(name, errors.BAD_MCP_URL)
    return url


def headers(name: str, pairs: Pairs) -> Pairs:
    """Return the HTTP headers for a server. Raises BadRequest if they are not valid."""
    if not all(key and f"{key}{value}".isascii() and f"{key}{value}".isprintable() for key, value in pairs):
        raise unusable(name, errors.BAD_MCP_HEADER)
    return pairs


def carried_spec(client: ClientConnection, name: str, server_id: str) -> TunneledServer:
    """Return a server that the client itself provides. Raises BadRequest unless unstable features are enabled."""
    if not client.offers_unstable:
        raise unusable(name, errors.NO_MCP_OVER_ACP)
    return TunneledServer(name, server_id, client.mcp_tunnel)


def unusable(name: str, why: str) -> BadRequest:
    """Return the error for an unusable server."""
    return BadRequest(errors.unusable_mcp_server(name, why), hint=errors.MCP_SERVER_HINT)
