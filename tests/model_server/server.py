"""The scripted model server."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from email.utils import formatdate
from typing import Any

import anyio
import anyio.abc
import msgspec

from .anthropic_wire import AnthropicWire
from .bedrock_wire import BedrockWire
from .connection import ClientGoneError, Connection, HttpRequest
from .delivery import Step, is_fragmented, plan_stream, plan_whole, wait_at
from .gemini_wire import GeminiWire, VertexWire
from .openai_wire import OpenAIWire
from .requests import Asked, BadRequestError, Recorded, Tally
from .responses_wire import ResponsesWire
from .script import Choose, Fault, Reply, Script, ScriptError
from .wire import Failure, Piece, Wire, number_ids

_KEPT_PLANS = 256
_GENERATION = (
    "/chat/completions",
    "/v1/messages",
    "/responses",
    ":generateContent",
    ":streamGenerateContent",
    "/converse-stream",
)
_BEDROCK = ("/converse-stream", "/inference-profiles", "/foundation-models")
_LISTINGS = ("/models", "/inference-profiles", "/foundation-models")
_EXHAUSTED = Failure(500, {"content-type": "text/plain; charset=utf-8"}, b"script exhausted")


class Counters(msgspec.Struct):
    """Counts since the start; `active` is the number of responses in progress, `active_peak` its maximum."""

    connections: int = 0
    answered: int = 0
    failed: int = 0
    exhausted: int = 0
    active: int = 0
    active_peak: int = 0


class Served(msgspec.Struct, frozen=True):
    """The times at which a request for generation arrived and its answer was complete, in seconds since the epoch."""

    number: int
    received_at: float
    ended_at: float


class ModelServer:
    """A running server, created by `serve`.

    `requests` are the requests for generation, in order of arrival; `other_requests` all others (model lists, unknown
    paths); `disconnects` the requests whose client left before the end of the answer.
    """

    def __init__(
        self, script: Script, port: int, models: tuple[str, ...], is_strict: bool, holds_models: bool = False
    ) -> None:
        self.details: Mapping[str, Any] = {}
        self.script = script
        self._holds_models = holds_models
        self.counters = Counters()
        self.port = port
        self.served: list[Served] = []
        self._models = models
        self._is_strict = is_strict
        self._requests: Tally[Recorded] = Tally()
        self._others: Tally[Recorded] = Tally()
        self._disconnects: Tally[Recorded] = Tally()
        self._plans: dict[tuple[Any, ...], tuple[Reply, list[Step]]] = {}
        self._openai = OpenAIWire()
        self._responses = ResponsesWire()
        self._anthropic = AnthropicWire()
        self._gemini = GeminiWire()
        self._vertex = VertexWire()
        self._bedrock = BedrockWire()

    @property
    def openai_base_url(self) -> str:
        """Return the base URL for a client that appends /chat/completions or /responses."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic_base_url(self) -> str:
        """Return the base URL for a client that appends /v1/messages."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def gemini_base_url(self) -> str:
        """Return the base URL for a client that appends /models/NAME:streamGenerateContent."""
        return f"http://127.0.0.1:{self.port}/v1beta"

    @property
    def bedrock_base_url(self) -> str:
        """Return the base URL for a client that appends /model/NAME/converse-stream."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[Recorded]:
        return self._requests.items

    @property
    def other_requests(self) -> list[Recorded]:
        return self._others.items

    @property
    def disconnects(self) -> list[Recorded]:
        return self._disconnects.items

    async def wait_for_request(self, count: int = 1) -> Recorded:
        """Wait for the count-th request for generation (from 1) and return it; the caller sets the time limit."""
        return await self._requests.wait_for(count)

    async def wait_for_disconnect(self, count: int = 1) -> Recorded:
        """Wait for the count-th client that left during an answer, and return its request."""
        return await self._disconnects.wait_for(count)

    async def accept(self, stream: anyio.abc.SocketStream) -> None:
        """Serve one connection."""
        self.counters.connections += 1
        async with stream:
            await Connection(stream).serve(self._answer)

    async def _answer(self, request: HttpRequest, connection: Connection) -> None:
        path = request.path.partition("?")[0]
        if path.startswith("/_"):
            await connection.send_whole(200, {"content-type": "application/json"}, self._control(path))
            return
        if request.method == "HEAD":
            await connection.send_whole(404, {"date": formatdate(usegmt=True)}, b"")
            return
        wire = self._wire_of(path, request.headers)
        is_generation = request.method == "POST" and path.endswith(_GENERATION)
        log = self._requests if is_generation else self._others
        recorded = Recorded(
            len(log.items) + 1, request.method, path, request.headers, _decode(request.body), wire.vendor
        )
        if is_generation:
            await self._generate(wire, recorded, connection)
        else:
            log.add(recorded)
            await self._send_listing(wire, recorded, connection)

    def _wire_of(self, path: str, headers: dict[str, str]) -> Wire:
        if path.endswith("/responses"):
            return self._responses
        if "/publishers/google/" in path:
            return self._vertex
        if path.endswith("enerateContent") or "x-goog-api-key" in headers:
            return self._gemini
        if path.endswith(_BEDROCK):
            return self._bedrock
        return self._anthropic if _is_anthropic(path, headers) else self._openai

    def _control(self, path: str) -> bytes:
        if path.startswith("/_gates/"):
            self.script.gate(path.removeprefix("/_gates/")).set()
        return msgspec.json.encode(
            {
                "counters": self.counters,
                "disconnects": [recorded.number for recorded in self.disconnects],
                "requests": [{"vendor": r.vendor, "path": r.path, "body": r.body} for r in self.requests],
            }
        )

    async def _send_listing(self, wire: Wire, recorded: Recorded, connection: Connection) -> None:
        name = recorded.path.rpartition("/models/")[2]
        if self._holds_models:
            await self.script.gate("models").wait()
        if recorded.method == "GET" and recorded.path.endswith(_LISTINGS):
            failure = Failure(200, {}, _with_details(wire.render_models(self._models), self.details))
        elif recorded.method == "GET" and "/models/" in recorded.path and name in self._models:
            failure = Failure(200, {}, wire.render_model(name))
        else:
            fault = Fault(status=404, message=f"Unknown request: {recorded.method} {recorded.path}")
            failure = wire.render_failure(fault, Asked())
        await self._send_failure(wire, recorded.number, failure, connection)

    async def _generate(self, wire: Wire, recorded: Recorded, connection: Connection) -> None:
        try:
            headers = recorded.headers | {":path": recorded.path}
            asked = wire.read_request(recorded.body, headers, is_strict=self._is_strict)
        except BadRequestError as refusal:
            self._requests.add(recorded)
            self.counters.failed += 1
            failure = wire.render_failure(Fault(status=400, message=str(refusal)), Asked())
            await self._send_failure(wire, recorded.number, failure, connection)
            return
        asked = msgspec.structs.replace(asked, number=recorded.number)
        recorded, received_at = msgspec.structs.replace(recorded, asked=asked), time.time()
        # The reply is chosen before the request is announced, so a waiter sees the advanced script.
        reply = self.script.next_reply(recorded)
        self._requests.add(recorded)
        self.counters.active += 1
        self.counters.active_peak = max(self.counters.active_peak, self.counters.active)
        try:
            await connection.run_watched(self._delivery(wire, recorded, reply, connection))
        except ClientGoneError:
            self._disconnects.add(recorded)
            raise
        finally:
            self.counters.active -= 1
            self.served.append(Served(recorded.number, received_at, time.time()))

    def _delivery(
        self, wire: Wire, recorded: Recorded, reply: Reply | None, connection: Connection
    ) -> Callable[[], Awaitable[None]]:
        async def deliver() -> None:
            if reply is None:
                self.counters.exhausted += 1
                await self._send_failure(wire, recorded.number, _EXHAUSTED, connection)
                return
            for hold in reply.holds:
                if hold.after is None:
                    await wait_at(hold)
            if (failure := self._failure(wire, recorded, reply)) is not None:
                self.counters.failed += 1
                await self._send_failure(wire, recorded.number, failure, connection)
                return
            content_type = wire.stream_type if recorded.asked.is_streamed else "application/json"
            headers = self._headers(wire, recorded.number) | {"content-type": content_type}
            try:
                steps = self._plan(wire, recorded, reply)
            except ScriptError as trouble:
                await self._send_failure(wire, recorded.number, _broken(trouble), connection)
                return
            await connection.send_paced(headers, steps, recorded.number)
            self.counters.answered += 1

        return deliver

    def _failure(self, wire: Wire, recorded: Recorded, reply: Reply) -> Failure | None:
        fault, asked = reply.fault, recorded.asked
        is_in_stream = fault.error_after is not None and asked.is_streamed
        if is_in_stream or (fault.status is None and fault.error_after is None and not fault.kind):
            return None
        if fault.status is None:
            fault = msgspec.structs.replace(fault, status=_status_of_kind(fault.kind))
        failure = wire.render_failure(fault, asked)
        body = failure.body if fault.raw_body is None else fault.raw_body.encode()
        return Failure(failure.status, failure.headers | fault.headers, body)

    def _plan(self, wire: Wire, recorded: Recorded, reply: Reply) -> list[Step]:
        asked = recorded.asked
        key = (id(reply), wire.vendor, asked.model, asked.is_streamed, asked.wants_usage)
        if (kept := self._plans.get(key)) is not None:
            return kept[1]
        if is_fragmented(reply) or wire.is_sealed:
            return _render(wire, reply, asked, recorded.number)
        if len(self._plans) >= _KEPT_PLANS:
            self._plans.clear()
        steps = _render(wire, reply, asked, None)
        # The reply is kept beside its plan: its ID stays unique as long as the plan can be found.
        self._plans[key] = (reply, steps)
        return steps

    def _headers(self, wire: Wire, number: int) -> dict[str, str]:
        return {wire.id_header: f"req_{number:010d}", "cache-control": "no-cache"}

    async def _send_failure(self, wire: Wire, number: int, failure: Failure, connection: Connection) -> None:
        headers = self._headers(wire, number) | {"content-type": "application/json"} | failure.headers
        await connection.send_whole(failure.status, headers, number_ids(failure.body, number))


@asynccontextmanager
async def serve(
    script: Script | Sequence[Reply] | Choose,
    *,
    port: int = 0,
    models: tuple[str, ...] = ("scripted-large", "scripted-small"),
    is_strict: bool = True,
    holds_models: bool = False,
    details: Mapping[str, Any] | None = None,
) -> AsyncGenerator[ModelServer]:
    """Run a server on loopback while the block runs.

    `is_strict`: reject with 400 what the vendor rejects (tool calls without results, wrong tool names, altered
    thinking). `holds_models`: list no models before the gate `models` is open. `details` are additional fields of each
    listed model. An exception raised in the block is raised unchanged, not in a group.
    """
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    bound_port = listener.extra(anyio.abc.SocketAttribute.local_port)
    server = ModelServer(_as_script(script), bound_port, models, is_strict, holds_models)
    server.details = details or {}
    try:
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, server.accept)
            yield server
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from None
        raise


def _with_details(listing: bytes, details: Mapping[str, Any]) -> bytes:
    """Add fields to each model in a list in OpenAI's or Anthropic's form."""
    document = msgspec.json.decode(listing)
    for model in document.get("data", ()) if details else ():
        model.update(details)
    return msgspec.json.encode(document) if details else listing


def _as_script(script: Script | Sequence[Reply] | Choose) -> Script:
    if isinstance(script, Script):
        return script
    if callable(script):
        return Script(choose=script)
    return Script(script)


def _is_anthropic(path: str, headers: dict[str, str]) -> bool:
    return path.endswith("/v1/messages") or (
        "anthropic-version" in headers and "chat/completions" not in path
    )


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body) if body else None
    except msgspec.DecodeError:
        return body.decode("utf-8", "replace")


def _status_of_kind(kind: str) -> int:
    match kind:
        case "context_full":
            return 400
        case "quota_used_up":
            return 429
        case _:
            return 500


def _render(wire: Wire, reply: Reply, asked: Asked, number: int | None) -> list[Step]:
    if not asked.is_streamed:
        return plan_whole(wire.render_whole(reply, asked), reply)
    pieces = wire.render_stream(reply, asked)
    if number is not None:
        pieces = [Piece(number_ids(piece.payload, number), piece.is_delta) for piece in pieces]
    return plan_stream(pieces, reply, wire.render_stream_error(reply.fault, asked))


def _broken(trouble: ScriptError) -> Failure:
    return Failure(500, {"content-type": "text/plain; charset=utf-8"}, f"script error: {trouble}".encode())
