"""Two ends of a connection for tests: one served, one controlled manually."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from msgspec import Raw

from hermes_protocol.connection import Connection, IncomingRequest, Limits
from hermes_protocol.errors import (
    INVALID_REQUEST,
    NOT_FOUND,
    PeerError,
)
from hermes_protocol.framing import LineReader
from hermes_protocol.transport import MemoryTransport, memory_pair

WAIT_S = 60


class Far:
    """The other side, controlled manually: raw bytes out, decoded lines in."""

    def __init__(self, transport: MemoryTransport) -> None:
        self.transport = transport
        self._reader = LineReader()
        self._frames: list[Any] = []

    async def send(self, *messages: Any) -> None:
        data = b"".join(m if isinstance(m, bytes) else json.dumps(m).encode() + b"\n" for m in messages)
        await self.transport.send(data)

    async def call(self, call_id: object, method: str, params: object = None) -> None:
        await self.send({"jsonrpc": "2.0", "id": call_id, "method": method, "params": params or {}})

    async def note(self, method: str, params: object) -> None:
        await self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def read(self) -> Any:
        while not self._frames:
            data = await self.transport.receive()
            if not data:
                return None
            self._frames += [
                json.loads(frame) for frame in self._reader.feed(data) if isinstance(frame, bytes)
            ]
        return self._frames.pop(0)

    async def read_all(self) -> list[Any]:
        messages: list[Any] = []
        while (message := await self.read()) is not None:
            messages.append(message)
        return messages


class Served:
    """A handler whose methods the tests wait for and control."""

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.started: list[object] = []
        self.cancelled: list[object] = []
        self.notes: list[tuple[str, bytes]] = []
        self.bugs: list[tuple[BaseException, str]] = []
        self.some_started = anyio.Event()
        self.release = anyio.Event()

    async def request(self, call: IncomingRequest) -> object:
        self.started.append(call.id)
        self.some_started.set()
        act: Callable[[IncomingRequest], Awaitable[object]] = getattr(self, f"do_{call.method}")
        return await act(call)

    def notification(self, method: str, params: Raw) -> Awaitable[None] | None:
        self.notes.append((method, bytes(params)))
        if method == "slow":
            return self.finish_slowly()
        if method == "refuse":
            raise PeerError(INVALID_REQUEST, "no")
        if method == "break":
            raise ValueError("secret detail")
        return None

    async def finish_slowly(self) -> None:
        await self.release.wait()
        self.notes.append(("slow done", b""))

    async def do_echo(self, call: IncomingRequest) -> object:
        return call.params

    async def do_wait(self, call: IncomingRequest) -> object:
        try:
            await self.release.wait()
        except BaseException:
            self.cancelled.append(call.id)
            raise
        return "released"

    async def do_stubborn(self, call: IncomingRequest) -> object:
        with anyio.CancelScope(shield=True):
            await self.release.wait()
        return "finished"

    async def do_missing(self, call: IncomingRequest) -> object:
        raise PeerError(NOT_FOUND, "no such session", {"id": "s"})

    async def do_break(self, call: IncomingRequest) -> object:
        raise ValueError("secret detail")

    async def do_unencodable(self, call: IncomingRequest) -> object:
        return object()

    async def do_bad_data(self, call: IncomingRequest) -> object:
        raise PeerError(NOT_FOUND, "m", object())

    async def do_stream(self, call: IncomingRequest) -> object:
        assert self.connection
        for number in range(100):
            self.connection.notify("update", {"n": number})
            await self.connection.drained()
        return "end"

    async def do_stream_for_ever(self, call: IncomingRequest) -> object:
        assert self.connection
        while True:
            self.connection.notify("update", {})
            await self.connection.drained()

    async def do_ask(self, call: IncomingRequest) -> object:
        assert self.connection
        return await self.connection.request("question", {}, str)


@asynccontextmanager
async def served(
    limits: Limits | None = None, buffer_bytes: int = 1 << 16, pending: bytes = b""
) -> AsyncGenerator[tuple[Far, Served, Connection]]:
    near, far_end = memory_pair(buffer_bytes)
    handler = Served()
    connection = Connection(
        near,
        handler,
        on_bug=lambda error, trace: handler.bugs.append((error, trace)),
        limits=limits,
        pending=pending,
    )
    handler.connection = connection
    with anyio.fail_after(WAIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(connection.run)
            yield Far(far_end), handler, connection
            connection.close_soon()
            await far_end.aclose()
    assert connection is handler.connection


def error_of(message: Any) -> tuple[object, int]:
    return message["id"], message["error"]["code"]
