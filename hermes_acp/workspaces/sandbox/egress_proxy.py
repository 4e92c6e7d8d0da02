"""The proxy that connects a sandbox to a few allowed hosts.

Each connection has its own thread, on a Unix socket that only the sandbox sees. Names are resolved here,
and the proxy connects to exactly the address that it checked. Source: CONNECT and absolute-form requests
(RFC 9110, 9112).
"""

import os
import select
import socket
import socketserver
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

MAX_HEAD_BYTES: Final = 32 * 1024
HEAD_TIMEOUT_S: Final = 30.0
CONNECT_TIMEOUT_S: Final = 20.0
IDLE_TIMEOUT_S: Final = 600.0
CHUNK_BYTES: Final = 64 * 1024
DEFAULT_PORTS: Final = (80, 443)
MAX_CONCURRENT: Final = 64


class ProxyRefused(Exception):
    """A refused request; the status line says why."""


class ProxyRequest(Struct, frozen=True):
    """A request's host and port, and the bytes to forward first, which are empty for a tunnel."""

    host: str
    port: int
    first: bytes
    is_tunnel: bool


def is_allowed(host: str, port: int, allowed: Sequence[str]) -> bool:
    """Return whether a host and port match a pattern: `name` or `*.name`, with `:port` for non-default ports."""
    name = host.casefold().rstrip(".")
    for entry in allowed:
        pattern, _, number = entry.casefold().partition(":")
        is_port = port == int(number) if number else port in DEFAULT_PORTS
        is_name = name.endswith(pattern[1:]) if pattern.startswith("*.") else name == pattern
        if is_port and is_name:
            return True
    return False


class Proxy:
    """Listens at a path until closed; `is_public` returns whether an address is outside all private networks."""

    def __init__(self, path: str, allowed: Sequence[str], is_public: Callable[[str], bool]) -> None:
        self.path = path
        self._allowed = tuple(allowed)
        self._is_public = is_public
        self._room = threading.BoundedSemaphore(MAX_CONCURRENT)
        proxy = self

        class Visit(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                proxy.serve(self.request)

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True
            block_on_close = False

        folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:  # the path itself may be too long for a socket address
            self._server = Server(f"/proc/self/fd/{folder}/{os.path.basename(path)}", Visit)
        finally:
            os.close(folder)
        os.chmod(path, 0o600)
        self._thread = threading.Thread(target=self._server.serve_forever, name="sandbox-proxy", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop accepting connections; open ones end with the process that made them. Blocks briefly."""
        self._server.shutdown()
        self._server.server_close()
        with suppress(OSError):
            os.unlink(self.path)

    def serve(self, client: socket.socket) -> None:
        """Serve one connection."""
        with self._room, suppress(OSError):
            client.settimeout(HEAD_TIMEOUT_S)
            try:
                request, rest = _read_request(client)
                server = self._reach(request)
            except ProxyRefused as refusal:
                client.sendall(
                    f"HTTP/1.1 {refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode()
                )
                return
            with server:
                if request.is_tunnel:
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                server.sendall(request.first + rest)
                _pass_on(client, server)

    def _reach(self, request: ProxyRequest) -> socket.socket:
        if not is_allowed(request.host, request.port, self._allowed):
            raise ProxyRefused("403 Not an allowed host of this sandbox")
        try:
            found = socket.getaddrinfo(request.host, request.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise ProxyRefused("502 No such host") from error
        for family, kind, protocol, _, address in found:
            if not self._is_public(str(address[0])):
                raise ProxyRefused("403 That host leads to a private network")
            server = socket.socket(family, kind, protocol)
            server.settimeout(CONNECT_TIMEOUT_S)
            try:
                server.connect(address)
            except OSError:
                server.close()
                continue
            return server
        raise ProxyRefused("502 That host does not answer")


def _read_request(client: socket.socket) -> tuple[ProxyRequest, bytes]:
    head = b""
    while b"\r\n\r\n" not in head:
        piece = client.recv(4096)
        if not piece or len(head) > MAX_HEAD_BYTES:
            raise ProxyRefused("400 Bad request")
        head += piece
    head, _, rest = head.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3:
        raise ProxyRefused("400 Bad request")
    method, target, _ = words
    try:
        if method.upper() == "CONNECT":
            place = urlsplit(f"//{target}")
            return ProxyRequest(place.hostname or "", place.port or 443, b"", is_tunnel=True), rest
        place = urlsplit(target)
        if place.scheme != "http" or not place.hostname:
            raise ProxyRefused("400 Only http addresses and CONNECT")
        path = (place.path or "/") + (f"?{place.query}" if place.query else "")
        named = place.netloc.rpartition("@")[2]
        dropped = ("proxy-", "connection:", "keep-alive:", "host:")
        kept = [line for line in lines[1:] if not line.lower().startswith(dropped)]
        first = "\r\n".join(
            [f"{method} {path} HTTP/1.1", f"Host: {named}", *kept, "Connection: close", "", ""]
        )
        return ProxyRequest(place.hostname, place.port or 80, first.encode("latin-1"), is_tunnel=False), rest
    except ValueError as error:
        raise ProxyRefused("400 Bad address") from error


def _pass_on(client: socket.socket, server: socket.socket) -> None:
    """Relay data in both directions until both are done or idle for too long."""
    others = {client: server, server: client}
    while others:
        ready, _, _ = select.select(list(others), [], [], IDLE_TIMEOUT_S)
        if not ready:
            return
        for speaker in ready:
            piece = speaker.recv(CHUNK_BYTES)
            listener = server if speaker is client else client
            if piece:
                listener.sendall(piece)
            else:
                del others[speaker]
                with suppress(OSError):
                    listener.shutdown(socket.SHUT_WR)
