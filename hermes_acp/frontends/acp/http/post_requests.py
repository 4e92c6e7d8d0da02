"""What a POST says: which connection it is for, whether it may be passed on.

Knows: the proposal's headers and status codes. Does not know: streams, sockets.
Source: the Agent Client Protocol's proposal "Streamable HTTP & WebSocket Transport".
"""

from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response

from hermes_acp.faces.acp.http.admission import Refusal
from hermes_acp.faces.acp.http.outbox import Numbered
from hermes_acp.faces.acp.http.routes import GREETING, session_in
from hermes_acp.faces.acp.http.visits import TooMany, Visit, Visits
from hermes_protocol import envelope
from hermes_protocol.envelope import Malformed, Notification, Reply
from hermes_protocol.errors import PeerGone

CONNECTION_ID: Final = "acp-connection-id"
SESSION_ID: Final = "acp-session-id"
NEEDS_SESSION_ID: Final = frozenset(
    {
        "session/prompt",
        "session/cancel",
        "session/close",
        "session/set_mode",
        "session/set_config_option",
    }
)
LONGEST_ID: Final = 256
GREETING_S: Final = 30.0
GONE: Final = Refusal(404, "There is no such connection; begin a new one with initialize.")


def refuse(refusal: Refusal) -> Response:
    """Say no, in a sentence."""
    headers = {"www-authenticate": 'Bearer realm="hermes-acp"'} if refusal.status == 401 else None
    return Response(f"{refusal.reason}\n", refusal.status, headers, "text/plain")


def find_visit(visits: Visits, request: Request) -> Visit | Refusal:
    """Find the connection a request names."""
    visit_id = request.headers.get(CONNECTION_ID)
    if visit_id is None:
        return Refusal(400, "The header Acp-Connection-Id is missing.")
    return visits.find(visit_id) or GONE


async def take_message(visits: Visits, request: Request, body: bytes) -> Response:
    """Pass one posted message on to its connection; answer an initialize that begins one."""
    message = envelope.classify(body)
    if isinstance(message, Malformed) and message.spoiled_reply_to is None:
        status = 501 if body.lstrip()[:1] == b"[" else 400
        return Response(message.encode(), status, media_type="application/json")
    is_greeting = isinstance(message, envelope.Request) and message.method == "initialize"
    if is_greeting and CONNECTION_ID not in request.headers:
        return await _greet(visits, message, body)
    visit = find_visit(visits, request)
    if isinstance(visit, Refusal):
        return refuse(visit)
    if visit.kind != "http":
        return refuse(Refusal(409, "This connection's messages go over its WebSocket."))
    if is_greeting:
        return refuse(Refusal(400, "This connection is initialized already."))
    if isinstance(message, envelope.Request | Notification) and (wrong := _misaddressed(request, message)):
        return refuse(wrong)
    if isinstance(message, envelope.Request) and not visit.routes.expect(message):
        return refuse(Refusal(400, "A request with this id is not answered yet."))
    visit.stir()
    try:
        await visit.transport.deliver(body)
    except PeerGone:
        return refuse(GONE)
    return Response(status_code=202)


def _misaddressed(request: Request, message: envelope.Request | Notification) -> Refusal | None:
    told = request.headers.get(SESSION_ID)
    meant = session_in(message.params)
    if told is None:
        needed = message.method in NEEDS_SESSION_ID
        return Refusal(400, "The header Acp-Session-Id is missing.") if needed else None
    if meant is not None and meant != told:
        return Refusal(400, "The header Acp-Session-Id names another session than the message.")
    return None


async def _greet(
    visits: Visits, message: envelope.Request | Reply | Malformed | Notification, body: bytes
) -> Response:
    assert isinstance(message, envelope.Request)
    try:
        visit = visits.begin("http")
    except TooMany:
        return refuse(Refusal(503, "This server takes no more connections just now."))
    visit.routes.expect(message)
    answer: list[Numbered] = []
    with anyio.move_on_after(GREETING_S):
        await visit.transport.deliver(body)
        answer = await visit.transport.outbox(GREETING).open(None).take()
    visit.transport.forget(GREETING)
    if not answer or visit.desk.greeted is None:
        visit.end_soon()
    if not answer:
        return refuse(Refusal(503, "This server is stopping."))
    status = 400 if visit.desk.greeted is None else 200
    return Response(answer[0].frame, status, {CONNECTION_ID: visit.id}, "application/json")
