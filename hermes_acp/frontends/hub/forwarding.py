"""Forward requests and WebSockets to the process of a user's profile.

The user's credentials never reach that process, which gets its own token.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from typing import Final

import anyio
import httpx2
from httpx2.websockets import (
    AsyncWebSocketSession,
    WebSocketDisconnect,
    WebSocketNetworkError,
    WebSocketUpgradeError,
)
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Send
from starlette.websockets import WebSocket
from wsproto.events import BytesMessage, TextMessage

from hermes_acp.frontends.acp.http.post_requests import CONNECTION_ID
from hermes_acp.frontends.acp.http.request_admission import TOKEN_PROTOCOL
from hermes_acp.frontends.hub import messages
from hermes_acp.frontends.hub.authentication import UNAVAILABLE, Refusal
from hermes_acp.frontends.hub.profile_processes import Target
from hermes_protocol.framing import DEFAULT_MAX_FRAME_BYTES

FORWARDED: Final = frozenset(
    {"accept", "accept-encoding", "acp-connection-id", "acp-session-id", "content-type", "content-length"}
    | {"last-event-id", "user-agent"}
)
"""The request headers that the process needs; all others are dropped."""
KEPT_HERE: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "date", "server"})
NO_LIMITS: Final = httpx2.Limits(max_connections=None, max_keepalive_connections=64)


def local_client() -> httpx2.AsyncClient:
    """Return an HTTP client for processes on this machine; the caller must close it."""
    return httpx2.AsyncClient(timeout=None, limits=NO_LIMITS, trust_env=False, follow_redirects=False)


async def forward_request(http: httpx2.AsyncClient, request: Request, target: Target, send: Send) -> None:
    """Forward a request and stream its response. Raises Refusal if the process does not respond."""
    url = f"http://127.0.0.1:{target.port}{request.scope['path']}"
    # Over HTTP/2, a request can have a body without a header that announces it.
    has_body = request.method == "POST" or not {"content-length", "transfer-encoding"}.isdisjoint(
        request.headers
    )
    sent = anyio.Event()
    outgoing = http.build_request(
        request.method,
        url,
        headers=_headers(request.headers, target),
        content=_body(request, sent) if has_body else None,
    )
    if not has_body:
        sent.set()
    async with anyio.create_task_group() as tasks:

        async def notice_departure() -> None:
            await sent.wait()
            while (await request.receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(notice_departure)
        with suppress(ClientDisconnect):
            await _relay(http, outgoing, send)
        tasks.cancel_scope.cancel()


async def _relay(http: httpx2.AsyncClient, outgoing: httpx2.Request, send: Send) -> None:
    try:
        answer = await http.send(outgoing, stream=True)
    except httpx2.TransportError as error:
        raise Refusal(UNAVAILABLE, messages.PROCESS_ENDED, type(error).__name__) from error
    try:
        headers = [pair for pair in answer.headers.raw if pair[0].lower().decode("latin-1") not in KEPT_HERE]
        await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
        async for piece in answer.aiter_raw():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        with anyio.CancelScope(shield=True):
            await answer.aclose()


async def _body(request: Request, sent: anyio.Event) -> AsyncGenerator[bytes]:
    async for piece in request.stream():
        if piece:
            yield piece
    sent.set()


async def forward_socket(http: httpx2.AsyncClient, socket: WebSocket, target: Target) -> None:
    """Forward a WebSocket until either side closes it. Raises Refusal if the process does not respond."""
    offered: Sequence[str] = socket.scope["subprotocols"]
    passed_on = [each for each in offered if not each.startswith(TOKEN_PROTOCOL)]
    try:
        async with http.websocket(
            f"ws://127.0.0.1:{target.port}{socket.scope['path']}",
            headers=_headers(socket.headers, target),
            subprotocols=passed_on or None,
            max_message_size_bytes=DEFAULT_MAX_FRAME_BYTES,
            keepalive_ping_interval_seconds=None,
        ) as upstream:
            await socket.accept(upstream.subprotocol, _answer_headers(upstream))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_pass_answers, upstream, socket, tasks)
                await _pass_messages(socket, upstream)
                tasks.cancel_scope.cancel()
    except WebSocketUpgradeError as error:
        answer = error.response
        kind = answer.headers.get("content-type", "text/plain")
        await socket.send_denial_response(Response(await answer.aread(), answer.status_code, media_type=kind))
    except (httpx2.TransportError, WebSocketNetworkError) as error:
        raise Refusal(UNAVAILABLE, messages.PROCESS_ENDED, type(error).__name__) from error


async def _pass_messages(socket: WebSocket, upstream: AsyncWebSocketSession) -> None:
    """Forward the client's messages until it closes its side."""
    while True:
        message: Message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            with suppress(WebSocketNetworkError):
                await upstream.close(message.get("code") or 1000, message.get("reason"))
            return
        if (text := message.get("text")) is not None:
            await upstream.send_text(text)
        else:
            await upstream.send_bytes(message["bytes"])


async def _pass_answers(
    upstream: AsyncWebSocketSession, socket: WebSocket, tasks: anyio.abc.TaskGroup
) -> None:
    """Forward the process's messages until it closes its side."""
    try:
        while True:
            event = await upstream.receive()
            if isinstance(event, TextMessage):
                await socket.send_text(event.data)
            elif isinstance(event, BytesMessage):
                await socket.send_bytes(bytes(event.data))
    except WebSocketDisconnect as error:
        with suppress(RuntimeError):
            await socket.close(error.code, error.reason)
    tasks.cancel_scope.cancel()


def _answer_headers(upstream: AsyncWebSocketSession) -> list[tuple[bytes, bytes]]:
    answered: Mapping[str, str] = upstream.response.headers if upstream.response else {}
    connection_id = answered.get(CONNECTION_ID)
    return [(CONNECTION_ID.encode(), connection_id.encode())] if connection_id else []


def _headers(headers: Headers, target: Target) -> dict[str, str]:
    passed_on = {name: value for name, value in headers.items() if name in FORWARDED}
    return {**passed_on, "authorization": f"Bearer {target.token}"}
