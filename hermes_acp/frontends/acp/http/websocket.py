"""Serve a client over a WebSocket.

Source: RFC 6455; the Agent Client Protocol's proposal "Streamable HTTP & WebSocket Transport".
"""

from typing import Final

import anyio
import anyio.abc
from starlette.types import Message
from starlette.websockets import WebSocket

from hermes_acp.frontends.acp.http.outbox import MessagesExpired, NeverSent, OutboxReader
from hermes_acp.frontends.acp.http.post_requests import CONNECTION_ID, GONE, full, refuse
from hermes_acp.frontends.acp.http.remote_clients import RemoteClient, RemoteClients, TooManyClients
from hermes_acp.frontends.acp.http.request_admission import AdmissionRefusal, agreed_protocol
from hermes_acp.frontends.acp.http.resume_position import SocketPosition, resume_position, socket_position
from hermes_acp.frontends.acp.messages import serving
from hermes_protocol.errors import PeerGone
from hermes_protocol.framing import DEFAULT_MAX_FRAME_BYTES

NORMAL: Final = 1000
GOING_AWAY: Final = 1001
TOO_BIG: Final = 1009
TAKEN_OVER: Final = 4001
LEFT: Final = 4000
"""The close code of a page that its user has left, so that the server does not wait for it to reconnect."""
GONE_CODE: Final = 4404
"""The close code if a page's connection has ended or cannot resume; browsers hide the status of a refused upgrade."""


async def serve_socket(clients: RemoteClients, socket: WebSocket) -> None:
    """Serve an admitted client from the upgrade to the end of its socket."""
    position = socket_position(socket.scope["subprotocols"])
    attached = _attach(clients, socket) if position is None else _attach_page(clients, position)
    if isinstance(attached, AdmissionRefusal):
        await _refuse(socket, attached, is_page=position is not None)
        return
    remote_client, reader = attached
    remote_client.arrive()
    try:
        await socket.accept(
            agreed_protocol(socket.scope["subprotocols"]),
            [(CONNECTION_ID.encode(), remote_client.id.encode())],
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_write, tasks, clients, reader, socket)
            await _read(remote_client, reader, socket, position and position.first)
            tasks.cancel_scope.cancel()
    finally:
        reader.close()
        remote_client.leave()


def _attach(
    clients: RemoteClients, socket: WebSocket
) -> tuple[RemoteClient, OutboxReader] | AdmissionRefusal:
    """Return a new connection, or the one that the client resumes, with its reader."""
    after = resume_position(socket.headers)
    if isinstance(after, AdmissionRefusal):
        return after
    client_id = socket.headers.get(CONNECTION_ID)
    if client_id is None:
        try:
            remote_client = clients.begin("websocket")
        except TooManyClients:
            return full(clients)
        remote_client.may_resume = after == 0
        return remote_client, remote_client.transport.outbox(None).open(None)
    remote_client = clients.find(client_id)
    if remote_client is None or not remote_client.may_resume:
        return GONE
    if remote_client.kind != "websocket":
        return AdmissionRefusal(409, serving.USES_HTTP)
    try:
        return remote_client, remote_client.transport.outbox(None).open(after)
    except MessagesExpired:
        return AdmissionRefusal(410, serving.EXPIRED)
    except NeverSent:
        return AdmissionRefusal(400, serving.NEVER_SENT)


def _attach_page(
    clients: RemoteClients, position: SocketPosition
) -> tuple[RemoteClient, OutboxReader] | AdmissionRefusal:
    """Return the connection with the ID that a page chose, and its reader; start it with the page's first socket."""
    remote_client = clients.find(position.client_id)
    if remote_client is None and position.is_new:
        try:
            remote_client = clients.begin("websocket", position.client_id)
        except TooManyClients:
            return full(clients)
        remote_client.may_resume = True
        return remote_client, remote_client.transport.outbox(None).open(None)
    if remote_client is None or remote_client.is_ending or position.first > remote_client.intake.received + 1:
        return GONE
    try:
        return remote_client, remote_client.transport.outbox(None).open(position.after)
    except (MessagesExpired, NeverSent):
        return GONE


async def _refuse(socket: WebSocket, refusal: AdmissionRefusal, *, is_page: bool) -> None:
    if not is_page or refusal is not GONE:
        await socket.send_denial_response(refuse(refusal))
        return
    await socket.accept(agreed_protocol(socket.scope["subprotocols"]))
    await socket.close(GONE_CODE, serving.CONNECTION_ENDED)


async def _read(
    remote_client: RemoteClient, reader: OutboxReader, socket: WebSocket, number: int | None
) -> None:
    """Deliver a socket's messages; if the client numbers them, the first one is `number`."""
    while True:
        message: Message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            if message.get("code") == LEFT and not reader.is_displaced:
                remote_client.end_soon()
            return
        text: str | None = message.get("text")
        if text is None or not text.strip():
            continue
        data = text.encode("utf-8", "replace")
        if len(data) > DEFAULT_MAX_FRAME_BYTES:
            await socket.close(TOO_BIG, serving.MESSAGE_TOO_LONG)
            return
        try:
            if not await remote_client.intake.take(data, number, lambda: not reader.is_displaced):
                return
        except PeerGone:
            return
        number = None if number is None else number + 1


async def _write(
    tasks: anyio.abc.TaskGroup, clients: RemoteClients, reader: OutboxReader, socket: WebSocket
) -> None:
    """Write until the connection ends, another socket takes over, or the client reads nothing for too long."""
    while batch := await reader.take():
        with anyio.move_on_after(clients.server_limits.stall_s) as stall:
            for message in batch:
                await socket.send_text(message.frame.decode())
                reader.confirm([message])
        if stall.cancelled_caught:
            break
    else:
        with anyio.move_on_after(1):
            await socket.close(*_last_words(clients, reader))
    tasks.cancel_scope.cancel()


def _last_words(clients: RemoteClients, reader: OutboxReader) -> tuple[int, str]:
    if reader.is_displaced:
        return TAKEN_OVER, serving.CONTINUED_ELSEWHERE
    return (
        (GOING_AWAY, serving.SERVER_STOPPING) if clients.is_stopping else (NORMAL, serving.CONNECTION_ENDED)
    )
