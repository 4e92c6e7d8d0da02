"""A JSON server on a port of this machine; a function answers, and the requests are stored."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream
from msgspec import Struct


class Asked(Struct):
    """One request: its method and path with the query, its headers in lower case, its body's JSON or other bytes."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


Answer = Callable[[Asked], tuple[int, Any]]
"""Returns a status and what is sent as JSON; the status 0 means no answer at all."""


class JsonServer:
    """The requests, and the port."""

    def __init__(self, port: int, answer: Answer) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.answer = answer
        self.asked: list[Asked] = []
        self.has_asked = anyio.Event()

    async def visit(self, stream: SocketStream) -> None:
        async with stream:
            try:
                await self._serve(stream)
            except (anyio.BrokenResourceError, anyio.EndOfStream):
                return

    async def _serve(self, stream: SocketStream) -> None:
        received = b""
        while b"\r\n\r\n" not in received:
            received += await stream.receive()
        head, _, body = received.partition(b"\r\n\r\n")
        line, *rest = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in rest)}
        while len(body) < int(headers.get("content-length", "0")):
            body += await stream.receive()
        method, path, _ = line.split(" ")
        is_json = "json" in headers.get("content-type", "json")
        asked = Asked(method, path, headers, json.loads(body) if body and is_json else body or None)
        status, answer = self.answer(asked)
        self.asked.append(asked)
        self.has_asked.set()
        self.has_asked = anyio.Event()
        if not status:
            await anyio.sleep_forever()
        content = json.dumps(answer).encode()
        lines = [
            f"HTTP/1.1 {status} Told",
            "content-type: application/json",
            f"content-length: {len(content)}",
        ]
        await stream.send("\r\n".join([*lines, "connection: close", "", ""]).encode() + content)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until a condition on the requests holds."""
        while not is_so():
            await self.has_asked.wait()


@asynccontextmanager
async def json_server(answer: Answer) -> AsyncGenerator[JsonServer]:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        server = JsonServer(listener.extra(SocketAttribute.local_port), answer)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, server.visit)
            yield server
            tasks.cancel_scope.cancel()
