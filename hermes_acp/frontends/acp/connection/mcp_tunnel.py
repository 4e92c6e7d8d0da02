"""Reach MCP servers that run in the client, over the client's ACP connection.

`mcp/message` has the same format in every protocol version. This module is imported before the event loop starts. An
error of the outer request is a transport error, not an error of the MCP server.
Source: Agent Client Protocol, unstable part.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from hermes_acp.frontends.acp.messages import editor
from hermes_protocol.errors import INTERNAL_ERROR, PeerError, PeerGone

if TYPE_CHECKING:
    from hermes_protocol.connection import Connection

METHOD: Final = "mcp/message"
UNAVAILABLE: Final = -33001
OnNotification = Callable[[str, Mapping[str, Any] | None], None]


class _Envelope(Struct, frozen=True, rename="camel", omit_defaults=True):
    server_id: str
    request_id: str
    method: str
    params: Mapping[str, Any] | None = None


class _Error(Struct, frozen=True):
    code: int
    message: str
    data: Any = None


class _Outcome(Struct, frozen=True):
    result: Any | UnsetType = UNSET
    error: _Error | UnsetType = UNSET


class McpTunnel:
    """The pending requests to one client's MCP servers."""

    def __init__(self, connection: "Callable[[], Connection]") -> None:
        self._connection = connection
        self._hearing: dict[tuple[str, str], OnNotification] = {}

    async def ask(
        self,
        server_id: str,
        request_id: str,
        method: str,
        params: Mapping[str, Any] | None,
        hear: OnNotification,
    ) -> Mapping[str, Any]:
        """Send a request and return its result or error; with both, the result counts. Raises TunnelClosed."""
        from hermes_acp.mcp.server_definitions import TunnelClosed

        key = server_id, request_id
        self._hearing[key] = hear
        try:
            envelope = _Envelope(server_id, request_id, method, params)
            raw = await self._connection().request(METHOD, envelope, msgspec.Raw)
            outcome = msgspec.json.decode(raw, type=_Outcome)
        except PeerGone as error:
            raise TunnelClosed(editor.MCP_EDITOR_GONE) from error
        except PeerError as error:
            if error.code == UNAVAILABLE:
                raise TunnelClosed(editor.MCP_WITHDRAWN) from error
            return _failure(error.message)
        except (msgspec.MsgspecError, RecursionError):
            return _failure(editor.MCP_BAD_ANSWER)
        finally:
            self._hearing.pop(key, None)
        if outcome.result is not UNSET:
            return {"result": outcome.result}
        if outcome.error is not UNSET:
            return {"error": msgspec.to_builtins(outcome.error)}
        return _failure(editor.MCP_EMPTY_ANSWER)

    def hear(self, server_id: str, request_id: str, method: str, params: Mapping[str, Any] | None) -> None:
        """Pass a notification on to its request; drop it if the request is no longer pending."""
        if hear := self._hearing.get((server_id, request_id)):
            hear(method, params)


def _failure(message: str) -> Mapping[str, Any]:
    return {"error": {"code": INTERNAL_ERROR, "message": message}}
