"""Reach a server through a connection that a client maintains.

The connection has no handshake, so only the newest protocol version can be used. Source: Model Context Protocol
2026-07-28; Agent Client Protocol, `mcp/message`.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from hermes_acp.mcp.server_definitions import TunneledServer
from hermes_acp.mcp.stdio_transport import Streams

if TYPE_CHECKING:
    from mcp.types import JSONRPCNotification, JSONRPCRequest

MAX_QUEUED_MESSAGES: Final = 4096
NO_RESULT: Final = -32603


@asynccontextmanager
async def tunneled_streams(spec: TunneledServer) -> AsyncGenerator[Streams]:
    """Yield the message streams of a server behind a client. Raises TunnelClosed if it is no longer reachable."""
    to_us, arriving = anyio.create_memory_object_stream[Any](MAX_QUEUED_MESSAGES)
    leaving, from_us = anyio.create_memory_object_stream[Any](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_Tunnel(spec, to_us, tasks).carry, from_us)
            try:
                yield arriving, leaving
            finally:
                tasks.cancel_scope.cancel()
    finally:
        for stream in (to_us, arriving, leaving, from_us):
            stream.close()


class _Tunnel:
    """The pending requests on a connection."""

    def __init__(self, spec: TunneledServer, to_us: MemoryObjectSendStream[Any], tasks: TaskGroup) -> None:
        self._spec = spec
        self._to_us = to_us
        self._tasks = tasks
        self._mark = token_hex(6)
        self._standing: dict[int | str, anyio.CancelScope] = {}
        self._refusal: Mapping[str, Any] | None = None

    async def carry(self, from_us: MemoryObjectReceiveStream[Any]) -> None:
        from mcp.types import JSONRPCNotification, JSONRPCRequest

        async for outgoing in from_us:
            match outgoing.message:
                case JSONRPCRequest() as request:
                    self._standing[request.id] = scope = anyio.CancelScope()
                    self._tasks.start_soon(self._put, request, scope)
                case JSONRPCNotification(method="notifications/cancelled") as notification:
                    self._give_up(notification)
                case _:
                    pass

    def _give_up(self, notification: "JSONRPCNotification") -> None:
        if scope := self._standing.get((notification.params or {}).get("requestId", "")):
            scope.cancel()

    async def _put(self, request: "JSONRPCRequest", scope: anyio.CancelScope) -> None:
        try:
            with scope:
                outcome = await self._ask(request)
                await self._answer(request.id, outcome)
        finally:
            del self._standing[request.id]

    async def _ask(self, request: "JSONRPCRequest") -> Mapping[str, Any]:
        """Send a request to the client, but no `initialize` if the client refused `server/discover`."""
        if request.method == "initialize" and self._refusal:
            return self._refusal
        outcome = await self._spec.line.ask(
            self._spec.server_id, self._wire_id(request.id), request.method, request.params, self._hear
        )
        if request.method == "server/discover" and "result" not in outcome:
            self._refusal = outcome
        return outcome

    def _wire_id(self, request_id: int | str) -> str:
        """Return an ID that no other connection to the server uses; subscription names are already unique."""
        return request_id if isinstance(request_id, str) else f"{self._mark}-{request_id}"

    def _hear(self, method: str, params: Mapping[str, Any] | None) -> None:
        """Forward a notification; drop it if thousands are unread, so that nothing else has to wait."""
        from mcp.shared.message import SessionMessage
        from mcp.types import JSONRPCNotification

        told = {"params": dict(params)} if params is not None else {}
        message = JSONRPCNotification(jsonrpc="2.0", method=method, **told)
        with suppress(anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._to_us.send_nowait(SessionMessage(message))

    async def _answer(self, request_id: int | str, outcome: Mapping[str, Any]) -> None:
        from mcp.shared.message import SessionMessage
        from mcp.types import ErrorData, JSONRPCError, JSONRPCResponse

        result = outcome.get("result")
        if isinstance(result, dict):
            whole = cast("dict[str, Any]", result)
            answer = JSONRPCResponse(jsonrpc="2.0", id=request_id, result=whole)
        elif "result" in outcome:
            error = ErrorData(code=NO_RESULT, message="The result is not an object")
            answer = JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
        else:
            error = ErrorData.model_validate(outcome["error"])
            answer = JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
        await self._to_us.send(SessionMessage(answer))
