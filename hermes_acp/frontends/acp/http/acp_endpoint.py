"""The one endpoint `/acp`: POST, GET, DELETE, and the upgrade to a WebSocket.

Source: the Agent Client Protocol's proposal "Streamable HTTP & WebSocket Transport".
"""

from collections.abc import Callable
from typing import Final

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from hermes_acp.frontends.acp.http.event_stream import respond_with_events
from hermes_acp.frontends.acp.http.health import Health
from hermes_acp.frontends.acp.http.outbox import MessagesExpired, NeverSent, OutboxReader
from hermes_acp.frontends.acp.http.post_requests import (
    CONNECTION_ID,
    GONE,
    MAX_ID_LENGTH,
    SESSION_ID,
    find_remote_client,
    refuse,
    take_message,
)
from hermes_acp.frontends.acp.http.remote_clients import RemoteClient, RemoteClients
from hermes_acp.frontends.acp.http.request_admission import AdmissionPolicy, AdmissionRefusal
from hermes_acp.frontends.acp.http.request_bodies import BodyReader, BodyRefused, drain
from hermes_acp.frontends.acp.http.resume_position import resume_position
from hermes_acp.frontends.acp.http.webhooks import Webhooks
from hermes_acp.frontends.acp.http.websocket import serve_socket
from hermes_acp.frontends.acp.messages import serving
from hermes_acp.frontends.web.page_files import PageFile, PageFiles

PATH: Final = "/acp"
METHODS: Final = "GET, POST, DELETE, OPTIONS"
REFUSAL_S: Final = 5.0
TOO_LONG: Final = 413


class Endpoint:
    """The ASGI application."""

    def __init__(
        self,
        policy: AdmissionPolicy,
        clients: RemoteClients,
        health: Health,
        webhooks: Webhooks,
        note_request: Callable[[tuple[str, int]], None] = lambda _: None,
    ) -> None:
        """Prepare the endpoint; `note_request` is called with the peer's address and port for each complete request."""
        self._policy = policy
        self._clients = clients
        self._health = health
        self._webhooks = webhooks
        self._note_request = note_request
        self._page = PageFiles()
        self._bodies = BodyReader(clients.server_limits.bodies_bytes, clients.server_limits.body_s)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, one WebSocket, or the server's own startup and shutdown."""
        if client := scope.get("client"):
            self._note_request((client[0], client[1]))
        if scope["type"] == "websocket":
            await self._upgrade(WebSocket(scope, receive, send))
        elif scope["type"] == "http":
            await self._serve(Request(scope, receive), receive, send)
        else:
            for stage in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{stage}.complete"})

    async def _upgrade(self, socket: WebSocket) -> None:
        refusal = self._policy.check(socket.headers)
        if refusal is None and socket.scope["path"] != PATH:
            refusal = AdmissionRefusal(404, serving.wrong_path(PATH))
        if refusal is None:
            await serve_socket(self._clients, socket)
        else:
            await socket.send_denial_response(refuse(refusal))

    async def _serve(self, request: Request, receive: Receive, send: Send) -> None:
        if answer := await self._health.answer(request, self._policy):
            await self._respond(
                request, refuse(answer) if isinstance(answer, AdmissionRefusal) else answer, send
            )
            return
        if self._webhooks.is_webhook(request):
            await self._take_webhook(request, send)
            return
        if file := await self._find_page_file(request):
            await self._respond(request, _response_of(file), send)
            return
        refusal = self._check(request)
        if refusal is None and request.method == "GET":
            await self._stream(request, receive, send)
            return
        try:
            if refusal:
                raise BodyRefused(refusal)
            response = await self._answer(request)
        except BodyRefused as error:
            response = refuse(error.refusal)
            with anyio.move_on_after(REFUSAL_S):
                if not await drain(request):
                    return
        except ClientDisconnect:
            return
        await self._respond(request, response, send)

    async def _take_webhook(self, request: Request, send: Send) -> None:
        """Answer a signed webhook request, unless it comes from a page of another origin."""
        answer = self._policy.check_host_and_origin(request.headers) or await self._webhooks.answer(request)
        if isinstance(answer, AdmissionRefusal) and answer.status == TOO_LONG:
            with anyio.move_on_after(REFUSAL_S):
                if not await drain(request):
                    return
        response = refuse(answer) if isinstance(answer, AdmissionRefusal) else answer
        await self._respond(request, response, send)

    async def _find_page_file(self, request: Request) -> PageFile | None:
        """Return a file of the web page. Files need no token, but the Host header must name this server."""
        if request.method not in ("GET", "HEAD") or request.url.path == PATH:
            return None
        if self._policy.check_host_and_origin(request.headers):
            return None
        takes_gzip = "gzip" in request.headers.get("accept-encoding", "")
        return await self._page.find(request.url.path, takes_gzip=takes_gzip)

    async def _respond(self, request: Request, response: Response, send: Send) -> None:
        """Respond while draining the rest of the body, because a client that is still sending does not read."""
        response.headers.update(self._cross_origin(request))
        with anyio.move_on_after(REFUSAL_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(drain, request)
                await response(request.scope, request.receive, send)

    def _check(self, request: Request) -> AdmissionRefusal | None:
        if request.method == "OPTIONS":
            return self._policy.check_host_and_origin(request.headers)
        refusal = self._policy.check(request.headers)
        if refusal is None and request.url.path != PATH:
            return AdmissionRefusal(404, serving.wrong_path(PATH))
        return refusal

    async def _answer(self, request: Request) -> Response:
        if request.method == "POST":
            return await self._post(request)
        if request.method == "DELETE":
            return self._delete(request)
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"allow": METHODS})
        return Response("", 405, {"allow": METHODS}, "text/plain")

    async def _post(self, request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise BodyRefused(AdmissionRefusal(415, serving.NOT_JSON))
        return await take_message(self._clients, request, await self._bodies.read(request))

    def _delete(self, request: Request) -> Response:
        remote_client = find_remote_client(self._clients, request)
        if isinstance(remote_client, AdmissionRefusal):
            return refuse(remote_client)
        if remote_client.is_ending:
            return refuse(GONE)
        remote_client.end_soon()
        return Response(status_code=202)

    async def _stream(self, request: Request, receive: Receive, send: Send) -> None:
        opened = self._open(request)
        if isinstance(opened, AdmissionRefusal):
            await self._respond(request, refuse(opened), send)
            return
        remote_client, reader = opened
        remote_client.arrive()
        try:
            await respond_with_events(
                reader,
                receive,
                send,
                headers={CONNECTION_ID: remote_client.id, **self._cross_origin(request)},
                keepalive_s=self._clients.server_limits.keepalive_s,
                stall_s=self._clients.server_limits.stall_s,
            )
        finally:
            reader.close()
            remote_client.leave()

    def _open(self, request: Request) -> tuple[RemoteClient, OutboxReader] | AdmissionRefusal:
        if "text/event-stream" not in request.headers.get("accept", "").lower():
            return AdmissionRefusal(406, serving.NOT_EVENT_STREAM)
        remote_client = find_remote_client(self._clients, request)
        if isinstance(remote_client, AdmissionRefusal):
            return remote_client
        if remote_client.kind != "http":
            return AdmissionRefusal(409, serving.USES_WEBSOCKET)
        session_id = request.headers.get(SESSION_ID)
        after = resume_position(request.headers)
        if isinstance(after, AdmissionRefusal):
            return after
        if session_id is not None and not 0 < len(session_id) <= MAX_ID_LENGTH:
            return AdmissionRefusal(400, serving.BAD_SESSION_ID)
        if not remote_client.transport.has_room_for_stream(session_id):
            return AdmissionRefusal(429, serving.TOO_MANY_STREAMS)
        try:
            return remote_client, remote_client.transport.outbox(session_id).open(after)
        except MessagesExpired:
            return AdmissionRefusal(410, serving.EXPIRED)
        except NeverSent:
            return AdmissionRefusal(400, serving.NEVER_SENT)

    def _cross_origin(self, request: Request) -> dict[str, str]:
        """Let a page from an allowed origin read the response."""
        origin = request.headers.get("origin")
        if origin is None or origin not in self._policy.origins:
            return {}
        headers = {
            "access-control-allow-origin": origin,
            "access-control-expose-headers": CONNECTION_ID,
            "vary": "origin",
        }
        if request.method == "OPTIONS":
            headers["access-control-allow-methods"] = METHODS
            headers["access-control-allow-headers"] = (
                f"authorization, content-type, {CONNECTION_ID}, {SESSION_ID}, last-event-id"
            )
        return headers


def _response_of(file: PageFile) -> Response:
    return Response(file.body, headers=dict(file.headers))
