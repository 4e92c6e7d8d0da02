"""Check a posted message and pass it on to its connection.

Source: the Agent Client Protocol's proposal "Streamable HTTP & WebSocket Transport".
"""

from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response

from hermes_acp.frontends.acp.http.outbox import NumberedMessage
from hermes_acp.frontends.acp.http.remote_clients import RemoteClient, RemoteClients, TooManyClients
from hermes_acp.frontends.acp.http.request_admission import AdmissionRefusal
from hermes_acp.frontends.acp.http.stream_routes import GREETING, session_in
from hermes_acp.frontends.acp.messages import serving
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
MAX_ID_LENGTH: Final = 256
HANDSHAKE_TIMEOUT_S: Final = 30.0
GONE: Final = AdmissionRefusal(404, serving.NO_CONNECTION)


def refuse(refusal: AdmissionRefusal) -> Response:
    """Convert a refusal to an HTTP response."""
    headers = {"www-authenticate": 'Bearer realm="hermes-acp"'} if refusal.status == 401 else None
    return Response(f"{refusal.reason}\n", refusal.status, headers, "text/plain")


def full(clients: RemoteClients) -> AdmissionRefusal:
    """Return the refusal of a new client, which says why no more are accepted."""
    return AdmissionRefusal(503, serving.STOPPING if clients.is_closed else serving.NO_ROOM)


def find_remote_client(clients: RemoteClients, request: Request) -> RemoteClient | AdmissionRefusal:
    """Return the connection that a request names, or a refusal."""
    client_id = request.headers.get(CONNECTION_ID)
    if client_id is None:
        return AdmissionRefusal(400, serving.NO_CONNECTION_ID)
    return clients.find(client_id) or GONE


async def take_message(clients: RemoteClients, request: Request, body: bytes) -> Response:
    """Pass a posted message on to its connection; answer an initialize that starts a connection."""
    message = envelope.classify(body)
    if isinstance(message, Malformed) and message.spoiled_reply_to is None:
        status = 501 if body.lstrip()[:1] == b"[" else 400
        return Response(message.encode(), status, media_type="application/json")
    is_greeting = isinstance(message, envelope.Request) and message.method == "initialize"
    if is_greeting and CONNECTION_ID not in request.headers:
        return await _greet(clients, message, body)
    remote_client = find_remote_client(clients, request)
    if isinstance(remote_client, AdmissionRefusal):
        return refuse(remote_client)
    if remote_client.kind != "http":
        return refuse(AdmissionRefusal(409, serving.USES_WEBSOCKET))
    if is_greeting:
        return refuse(AdmissionRefusal(400, serving.ALREADY_INITIALIZED))
    if isinstance(message, envelope.Request | Notification) and (wrong := _misaddressed(request, message)):
        return refuse(wrong)
    if isinstance(message, envelope.Request) and not remote_client.routes.expect(message):
        return refuse(AdmissionRefusal(400, serving.ID_IN_USE))
    remote_client.touch()
    try:
        await remote_client.transport.deliver(body)
    except PeerGone:
        return refuse(GONE)
    return Response(status_code=202)


def _misaddressed(request: Request, message: envelope.Request | Notification) -> AdmissionRefusal | None:
    told = request.headers.get(SESSION_ID)
    meant = session_in(message.params)
    if told is None:
        needed = message.method in NEEDS_SESSION_ID
        return AdmissionRefusal(400, serving.NO_SESSION_ID) if needed else None
    if meant is not None and meant != told:
        return AdmissionRefusal(400, serving.OTHER_SESSION_ID)
    return None


async def _greet(
    clients: RemoteClients, message: envelope.Request | Reply | Malformed | Notification, body: bytes
) -> Response:
    assert isinstance(message, envelope.Request)
    try:
        remote_client = clients.begin("http")
    except TooManyClients:
        return refuse(full(clients))
    remote_client.routes.expect(message)
    answer: list[NumberedMessage] = []
    with anyio.move_on_after(HANDSHAKE_TIMEOUT_S):
        await remote_client.transport.deliver(body)
        answer = await remote_client.transport.outbox(GREETING).open(None).take()
    remote_client.transport.forget(GREETING)
    if not answer or remote_client.client.greeted is None:
        remote_client.end_soon()
    if not answer:
        return refuse(AdmissionRefusal(503, serving.STOPPING))
    status = 400 if remote_client.client.greeted is None else 200
    return Response(answer[0].frame, status, {CONNECTION_ID: remote_client.id}, "application/json")
