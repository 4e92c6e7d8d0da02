"""A web server that sends scripted answers and stores the requests."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import anyio
from anyio.abc import SocketAttribute, SocketStream
from msgspec import Struct

PAUSE: Final = b"\0pause\0"
"""Used in an answer: nothing more is sent, and the connection stays open."""


class Asked(Struct):
    """One request: its first line, its headers in lower case, its body."""

    line: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]


class WebServer:
    """A server on a port of this machine."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.answers: dict[str, bytes] = {}
        self.asked: list[Asked] = []
        self.sent_bytes = 0

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def serve(self, path: str, body: bytes | str, *headers: str, status: str = "200 OK") -> None:
        """Answer with a body; the content type is HTML unless the headers contain one."""
        content = body.encode() if isinstance(body, str) else body
        kinds = (
            []
            if any(each.lower().startswith("content-type") for each in headers)
            else ["content-type: text/html"]
        )
        head = [
            f"HTTP/1.1 {status}",
            *kinds,
            *headers,
            f"content-length: {len(content)}",
            "connection: close",
            "",
            "",
        ]
        self.answers[path] = "\r\n".join(head).encode() + content

    async def visit(self, stream: SocketStream) -> None:
        async with stream:
            try:
                await self._answer(stream)
            except (anyio.BrokenResourceError, anyio.EndOfStream):
                return

    async def _answer(self, stream: SocketStream) -> None:
        received = b""
        while b"\r\n\r\n" not in received:
            received += await stream.receive()
        head, _, body = received.partition(b"\r\n\r\n")
        line, *rest = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in rest)}
        while len(body) < int(headers.get("content-length", "0")):
            body += await stream.receive()
        asked = Asked(line, headers, body)
        self.asked.append(asked)
        answer = self.answers.get(
            asked.path.partition("?")[0], b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
        )
        content, _, rest_of_it = answer.partition(PAUSE)
        for start in range(0, len(content), 65536):
            await stream.send(content[start : start + 65536])
            self.sent_bytes += len(content[start : start + 65536])
        if PAUSE in answer:
            await anyio.sleep_forever()
        assert not rest_of_it


@asynccontextmanager
async def web_server() -> AsyncGenerator[WebServer]:
    """Run a server while the block runs."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        server = WebServer(listener.extra(SocketAttribute.local_port))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, server.visit)
            yield server
            tasks.cancel_scope.cancel()
