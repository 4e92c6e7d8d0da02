"""The local page to which the browser returns after the user signs in.

Source: RFC 8252 section 7.3.
"""

import html
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream

LOOPBACK_HOST: Final = "127.0.0.1"
MAX_HEAD_BYTES: Final = 32 * 1024
HEAD_TIMEOUT_S: Final = 10.0
DONE_PAGE: Final = "You are signed in. This page can be closed."
REFUSED_PAGE: Final = "The sign-in was refused. This page can be closed."
FOREIGN_PAGE: Final = "This is not the expected answer."


class CallbackServer:
    """A server for the redirect that ends a sign-in."""

    def __init__(self, port: int) -> None:
        self.address = f"http://{LOOPBACK_HOST}:{port}/callback"
        self._state = ""
        self._answer: dict[str, str] = {}
        self._arrived = anyio.Event()

    def expect(self, link: str) -> None:
        """Accept only the answer to the authorization request in this link."""
        self._state = parse_qs(urlsplit(link).query).get("state", [""])[0]

    async def wait_for_redirect(self) -> dict[str, str]:
        """Wait for the answer and return its parameters: `code` and `iss`, or `error`."""
        await self._arrived.wait()
        return self._answer

    async def receive(self, stream: ByteStream) -> None:
        """Serve one browser connection."""
        async with stream:
            try:
                with anyio.fail_after(HEAD_TIMEOUT_S):
                    reader = BufferedByteReceiveStream(stream)
                    head = await reader.receive_until(b"\r\n\r\n", MAX_HEAD_BYTES)
                    status, words = self._take(head.split(b"\r\n", 1)[0].decode("ascii", "replace"))
                    await stream.send(_page(status, words))
            except (
                TimeoutError, OSError, anyio.IncompleteRead, anyio.DelimiterNotFound,
                anyio.BrokenResourceError, anyio.EndOfStream,
            ):  # fmt: skip
                return

    def _take(self, line: str) -> tuple[str, str]:
        words = line.split(" ")
        target = urlsplit(words[1]) if len(words) == 3 else urlsplit("")
        if words[0] != "GET" or target.path != "/callback":
            return "404 Not Found", FOREIGN_PAGE
        said = {name: values[0] for name, values in parse_qs(target.query).items()}
        is_ours = self._state and secrets.compare_digest(said.get("state", "").encode(), self._state.encode())
        if not is_ours or not (said.get("code") or said.get("error")):
            return "400 Bad Request", FOREIGN_PAGE
        if not self._arrived.is_set():
            self._answer = said
            self._arrived.set()
        return "200 OK", DONE_PAGE if said.get("code") else REFUSED_PAGE


@asynccontextmanager
async def serve_callback(port: int = 0) -> AsyncGenerator[CallbackServer]:
    """Listen on a local port (0 means any free port) while the block runs. Raises OSError."""
    async with await anyio.create_tcp_listener(local_host=LOOPBACK_HOST, local_port=port) as listener:
        (bound,) = {each.extra(anyio.abc.SocketAttribute.local_port) for each in listener.listeners}
        callback_server = CallbackServer(bound)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, callback_server.receive)
            yield callback_server
            tasks.cancel_scope.cancel()


def _page(status: str, words: str) -> bytes:
    body = f"<!doctype html><meta charset=utf-8><title>hermes-acp</title><p>{html.escape(words)}</p>".encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
        "Content-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
