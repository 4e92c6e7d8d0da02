"""The ASGI application of the hub: authenticate the user, then forward to the process of their profile."""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import anyio
import anyio.to_thread
import httpx2
from msgspec import Struct
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketState

from hermes_acp.core.errors import StorageError
from hermes_acp.frontends.acp.http.acp_endpoint import PATH
from hermes_acp.frontends.acp.http.post_requests import CONNECTION_ID
from hermes_acp.frontends.acp.http.request_admission import token_of
from hermes_acp.frontends.acp.http.request_bodies import drain
from hermes_acp.frontends.hub import messages
from hermes_acp.frontends.hub.authentication import (
    FORBIDDEN,
    UNAUTHORIZED,
    UNAVAILABLE,
    Authenticator,
    Caller,
    Refusal,
)
from hermes_acp.frontends.hub.client_address import PublicAddress, network_of
from hermes_acp.frontends.hub.forwarding import forward_request, forward_socket
from hermes_acp.frontends.hub.open_connections import OpenConnections
from hermes_acp.frontends.hub.profile_processes import ProfileProcesses
from hermes_acp.frontends.hub.sign_in import SignIn, SignInPath
from hermes_acp.frontends.hub.web_sessions import WebSessions
from hermes_acp.frontends.web.page_files import PageFiles
from hermes_acp.users.audit_log import AuditLog, entry
from hermes_acp.users.hub_settings import RateSettings
from hermes_acp.users.rate_limits import RateLimit

METRICS: Final = "/metrics"
TOO_MANY: Final = 429
NOT_FOUND: Final = 404
MISDIRECTED: Final = 421
VERSION_NOT_SUPPORTED: Final = 505
END_OF_HEAD: Final = b"</head>"
SIGN_OUT_LINK: Final = f'<link rel="sign-out" href="{SignInPath.OUT}" />'.encode()
SIGN_IN_LINK: Final = f'<link rel="sign-in" href="{SignInPath.BEGIN}" />'.encode()
"""HTML links that tell the page that users can sign in with an identity provider, and sign out."""
TRY_AGAIN_LATER: Final = 1013
MAX_CLOSE_REASON: Final = 100
DRAIN_S: Final = 5.0
BURST: Final = 20
"""The minimum size of a burst of requests that is allowed."""


class HubRates:
    """The rate limits for users and for addresses."""

    def __init__(self, settings: RateSettings, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Start with empty counters; bursts of up to a tenth of a minute's requests are allowed."""
        self._users = _limit(settings.requests_per_minute, monotonic)
        self._addresses = _limit(settings.addresses_per_minute, monotonic)
        self._sign_ins = RateLimit(settings.sign_ins_per_minute, settings.sign_ins_per_minute, monotonic)

    def admit_address(self, address: str) -> None:
        """Count a request from an address. Raises Refusal."""
        _refuse_if_waiting(self._addresses.take(network_of(address)))

    def admit_user(self, name: str) -> None:
        """Count a request by a user. Raises Refusal."""
        _refuse_if_waiting(self._users.take(name))

    def count_sign_in(self, address: str) -> None:
        """Count a sign-in that has failed or is in progress, but none that has succeeded. Raises Refusal."""
        _refuse_if_waiting(self._sign_ins.take(network_of(address)))


class HubParts(Struct, frozen=True):
    """The parts of the endpoint; `sign_in` is set only if there is an identity provider."""

    address: PublicAddress
    authenticator: Authenticator
    rates: HubRates
    processes: ProfileProcesses
    http: httpx2.AsyncClient
    audit: AuditLog
    web_sessions: WebSessions
    connections: OpenConnections
    sign_in: SignIn | None
    note_request: Callable[[tuple[str, int]], None] = lambda _: None


class HubEndpoint:
    """The ASGI application."""

    def __init__(self, parts: HubParts) -> None:
        """Prepare the endpoint."""
        self._parts = parts
        self._page = PageFiles()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, one WebSocket, or the server's own startup and shutdown."""
        if client := scope.get("client"):
            self._parts.note_request((client[0], client[1]))
        if scope["type"] == "websocket":
            await self._serve_socket(WebSocket(scope, receive, send))
        elif scope["type"] == "http":
            await self._serve(Request(scope, receive, send), send)
        else:
            for stage in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{stage}.complete"})

    async def _serve_socket(self, socket: WebSocket) -> None:
        source = self._source(socket)
        try:
            self._check_way(socket)
            self._parts.rates.admit_address(source)
            if socket.scope["path"] != PATH:
                raise Refusal(NOT_FOUND, messages.NOT_FOUND)
            caller = await self._recognise(socket, source, "acp")
            await self._log("connected", "done", caller, source, "websocket")
            with self._parts.connections.held_by(caller):
                async with self._parts.processes.use(caller.account) as target:
                    await forward_socket(self._parts.http, socket, target)
        except Refusal as refusal:
            await self._note_refusal(refusal, source, "websocket")
            if socket.application_state is WebSocketState.CONNECTING:
                await socket.send_denial_response(_response(refusal))
            elif socket.application_state is WebSocketState.CONNECTED:
                await socket.close(TRY_AGAIN_LATER, refusal.reason[:MAX_CLOSE_REASON])

    async def _serve(self, request: Request, send: Send) -> None:
        source = self._source(request)
        started = False

        async def send_noting(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            self._check_way(request)
            self._parts.rates.admit_address(source)
            answer = await self._answer_itself(request, source)
            if answer is None:
                await self._forward(request, source, send_noting)
        except Refusal as refusal:
            await self._note_refusal(refusal, source, request.url.path)
            answer = None if started else _response(refusal)
        if answer:
            await self._respond(request, answer, send)

    async def _answer_itself(self, request: Request, source: str) -> Response | None:
        """Answer requests that need no process: health checks, sign-in, sign-out, and the files of the page."""
        path, sign_in = request.url.path, self._parts.sign_in
        match request.method, path:
            case "GET" | "HEAD", "/healthz" | "/readyz":
                return Response("ok\n", media_type="text/plain")
            case "GET", SignInPath.BEGIN | SignInPath.CALLBACK:
                self._parts.rates.count_sign_in(source)
                if sign_in is None:
                    raise Refusal(NOT_FOUND, messages.NO_PROVIDER)
                if path == SignInPath.BEGIN:
                    return await sign_in.begin()
                caller, answer = await sign_in.finish(request)
                await self._log("signed_in", "done", caller, source, "")
                return answer
            case "POST", SignInPath.OUT:
                caller = await self._recognise(request, source)
                secret = token_of(request.headers) or b""
                self._parts.web_sessions.end(secret.decode("latin-1"))
                await self._log("signed_out", "done", caller, source, "")
                return Response(status_code=204)
            case "GET" | "HEAD", _ if path not in (PATH, METRICS):
                takes_gzip = "gzip" in request.headers.get("accept-encoding", "")
                if file := await self._page.find(path, takes_gzip=takes_gzip):
                    body = file.body
                    if path == "/":
                        links = SIGN_OUT_LINK + (SIGN_IN_LINK if sign_in else b"")
                        body = body.replace(END_OF_HEAD, links + END_OF_HEAD, 1)
                    return Response(body, headers=dict(file.headers))
                raise Refusal(NOT_FOUND, messages.NOT_FOUND)
            case _:
                return None

    async def _forward(self, request: Request, source: str, send: Send) -> None:
        path = request.scope["path"]
        if path not in (PATH, METRICS):
            raise Refusal(NOT_FOUND, messages.NOT_FOUND)
        caller = await self._recognise(request, source, "metrics" if path == METRICS else "acp")
        if path == PATH and request.method == "POST" and CONNECTION_ID not in request.headers:
            await self._log("connected", "done", caller, source, "http")
        with self._parts.connections.held_by(caller):
            async with self._parts.processes.use(caller.account) as target:
                await forward_request(self._parts.http, request, target, send)

    def _source(self, connection: HTTPConnection) -> str:
        peer = connection.client.host if connection.client else ""
        return self._parts.address.client_address(peer, connection.headers)

    def _check_way(self, connection: HTTPConnection) -> None:
        """Raise Refusal for HTTP/2 through a proxy, for a wrong host name, or for a page of another site."""
        if connection.scope.get("http_version") == "2" and not self._may_be_http2(connection):
            raise Refusal(VERSION_NOT_SUPPORTED, messages.NO_HTTP2)
        if not self._parts.address.knows_host(connection.headers):
            raise Refusal(MISDIRECTED, messages.WRONG_HOST)
        if not self._parts.address.is_own_page(connection.headers):
            raise Refusal(FORBIDDEN, messages.WRONG_ORIGIN)

    def _may_be_http2(self, connection: HTTPConnection) -> bool:
        """Return whether HTTP/2 was negotiated with TLS and without a proxy.

        Otherwise, a client may have upgraded a connection through a proxy that does not check the requests that
        follow, such as their X-Forwarded-For headers.
        """
        peer = connection.client.host if connection.client else ""
        return connection.scope["scheme"] in ("https", "wss") and not self._parts.address.is_proxy(peer)

    async def _recognise(self, connection: HTTPConnection, source: str, scope: str = "") -> Caller:
        """Authenticate a request, and check that the credential has the scope. Raises Refusal."""
        secret = token_of(connection.headers)
        if secret is None:
            raise Refusal(UNAUTHORIZED, messages.NO_SECRET)
        try:
            caller = await self._parts.authenticator.caller_of(secret.decode("latin-1"))
        except Refusal as refusal:
            if refusal.status != UNAVAILABLE:
                self._parts.rates.count_sign_in(source)
            raise
        self._parts.rates.admit_user(caller.account.name)
        if scope and scope not in caller.scopes:
            raise Refusal(FORBIDDEN, messages.MISSING_SCOPE, messages.lacks_scope(caller.account.name))
        return caller

    async def _note_refusal(self, refusal: Refusal, source: str, about: str) -> None:
        """Log a refusal that its sender caused; ignore a failure of the log, which is reported elsewhere."""
        if not refusal.detail:
            return
        refused = entry("refused", str(refusal.status), source=source, about=f"{about}: {refusal.detail}")
        with suppress(StorageError):
            await anyio.to_thread.run_sync(self._parts.audit.append, refused)

    async def _log(self, what: str, outcome: str, caller: Caller, source: str, about: str) -> None:
        """Log a user's action before it is carried out. Raises Refusal if that fails."""
        new = entry(what, outcome, who=caller.account.name, source=source, via=caller.via, about=about)
        try:
            await anyio.to_thread.run_sync(self._parts.audit.append, new)
        except StorageError as error:
            raise Refusal(UNAVAILABLE, messages.AUDIT_FAILED) from error

    async def _respond(self, request: Request, response: Response, send: Send) -> None:
        """Respond while draining the rest of the body, because a client that is still sending does not read."""
        with anyio.move_on_after(DRAIN_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(drain, request)
                await response(request.scope, request.receive, send)


def _response(refusal: Refusal) -> Response:
    headers = {"cache-control": "no-store"}
    if refusal.status == UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    if refusal.wait_s:
        headers["retry-after"] = str(math.ceil(refusal.wait_s))
    return Response(refusal.reason + "\n", refusal.status, headers, "text/plain")


def _limit(per_minute: int, monotonic: Callable[[], float]) -> RateLimit:
    return RateLimit(per_minute, max(BURST, per_minute / 10), monotonic)


def _refuse_if_waiting(wait_s: float) -> None:
    """Raise Refusal if the sender must wait. Such refusals are not logged, so that a flood costs little."""
    if wait_s:
        raise Refusal(TOO_MANY, messages.TOO_MANY_REQUESTS, wait_s=wait_s)
