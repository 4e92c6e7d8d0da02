"""One client's WebSocket.

Knows: text frames, how a client that counts its messages comes back to its connection. Does not know: what is said.
Source: RFC 6455; the Agent Client Protocol's proposal "Streamable HTTP & WebSocket Transport".
"""

from typing import Final

import anyio
import anyio.abc
from starlette.types import Message
from starlette.websockets import WebSocket

from hermes_acp.faces.acp.http.admission import Refusal, agreed_protocol
from hermes_acp.faces.acp.http.outbox import MessagesGone, NeverSent, Reading
from hermes_acp.faces.acp.http.places import place_after
from hermes_acp.faces.acp.http.posting import CONNECTION_ID, GONE, refuse
from hermes_acp.faces.acp.http.visits import TooMany, Visit, Visits
from hermes_protocol.errors import PeerGone
from hermes_protocol.framing import DEFAULT_MAX_FRAME_BYTES

NORMAL: Final = 1000
GOING_AWAY: Final = 1001
TOO_BIG: Final = 1009
TAKEN_OVER: Final = 4001


async def serve_socket(visits: Visits, socket: WebSocket) -> None:
    """Serve a client that was let in, from the upgrade to the end of its socket."""
    attached = _attach(visits, socket)
    if isinstance(attached, Refusal):
        await socket.send_denial_response(refuse(attached))
        return
    visit, reading = attached
    visit.arrive()
    try:
        await socket.accept(
            agreed_protocol(socket.scope["subprotocols"]),
            [(CONNECTION_ID.encode(), visit.id.encode())],
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_write, tasks, visits, reading, socket)
            await _read(visit, socket)
            tasks.cancel_scope.cancel()
    finally:
        reading.close()
        visit.leave()


def _attach(visits: Visits, socket: WebSocket) -> tuple[Visit, Reading] | Refusal:
    """Give a new connection, or the one that the client comes back to, each with its reading."""
    after = place_after(socket.headers)
    if isinstance(after, Refusal):
        return after
    visit_id = socket.headers.get(CONNECTION_ID)
    if visit_id is None:
        try:
            visit = visits.begin("websocket")
        except TooMany:
            return Refusal(503, "This server takes no more connections just now.")
        visit.may_resume = after == 0
        return visit, visit.transport.outbox(None).open(None)
    visit = visits.find(visit_id)
    if visit is None or not visit.may_resume:
        return GONE
    if visit.kind != "websocket":
        return Refusal(409, "This connection's messages go over HTTP.")
    try:
        return visit, visit.transport.outbox(None).open(after)
    except MessagesGone:
        return Refusal(
            410, "What followed that message is no longer kept; begin a new connection and load the session."
        )
    except NeverSent:
        return Refusal(400, "Last-Event-ID names a message that was not sent.")


async def _read(visit: Visit, socket: WebSocket) -> None:
    while True:
        message: Message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        text: str | None = message.get("text")
        if text is None or not text.strip():
            continue
        data = text.encode("utf-8", "replace")
        if len(data) > DEFAULT_MAX_FRAME_BYTES:
            await socket.close(TOO_BIG, "message too long")
            return
        try:
            await visit.transport.deliver(data)
        except PeerGone:
            return


async def _write(tasks: anyio.abc.TaskGroup, visits: Visits, reading: Reading, socket: WebSocket) -> None:
    """Write until the connection ends, another socket takes over, or the client takes nothing for too long."""
    while batch := await reading.take():
        with anyio.move_on_after(visits.patience.stall_s) as patience:
            for message in batch:
                await socket.send_text(message.frame.decode())
                reading.confirm([message])
        if patience.cancelled_caught:
            break
    else:
        with anyio.move_on_after(1):
            await socket.close(*_last_words(visits, reading))
    tasks.cancel_scope.cancel()


def _last_words(visits: Visits, reading: Reading) -> tuple[int, str]:
    if reading.is_displaced:
        return TAKEN_OVER, "the connection goes on over another socket"
    return (
        (GOING_AWAY, "the server is stopping") if visits.is_stopping else (NORMAL, "the connection has ended")
    )
