"""The proxy that is a browser's only access to the network.

It resolves names itself and connects to exactly the address that it checked, so the same limits apply to everything a
page tries (images, scripts, sockets, DNS rebinding). Source: RFC 9110 sections 7.6 and 9.3.6; W3C Fetch Metadata (which
page makes a request).
"""

import select
import socket
import socketserver
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from hermes_acp.core.errors import BadRequest
from hermes_acp.web.web_addresses import first_private, read_address

CONNECT_TIMEOUT_S: Final = 10.0
IDLE_TIMEOUT_S: Final = 120.0
PIECE_BYTES: Final = 64 * 1024
MAX_HEAD_BYTES: Final = 64 * 1024
ERRANDS: Final = frozenset(
    {
        "accounts.google.com", "android.clients.google.com", "clients2.google.com", "clientservices.googleapis.com",
        "content-autofill.googleapis.com", "mtalk.google.com", "optimizationguide-pa.googleapis.com",
        "redirector.gvt1.com", "safebrowsing.googleapis.com", "safebrowsingohttpgateway.googleapis.com",
        "update.googleapis.com", "www.googleapis.com", "edgedl.me.gvt1.com",
    }
)  # fmt: skip
"""Hosts that the browser itself contacts rather than any page."""
TLS_BEGINS: Final = b"\x16"
OWN_HEADERS: Final = (b"proxy-", b"connection:", b"keep-alive:")


class Refusal(Exception):
    """A refused connection, with the reason if the user should know it."""


class BrowserProxy:
    """A proxy on a local port.

    `private_hosts` may be private; `opened_host` may be private for its own pages; `wanted_hosts` are the hosts whose
    pages were opened.
    """

    def __init__(self, private_hosts: frozenset[str], on_refusal: Callable[[str], None]) -> None:
        self._private_hosts = private_hosts
        self.opened_host = ""
        self.wanted_hosts: set[str] = set()
        self.on_refusal = on_refusal
        gateway = self

        class Visit(socketserver.StreamRequestHandler):
            """A connection from the browser."""

            def handle(self) -> None:
                self.connection.settimeout(IDLE_TIMEOUT_S)
                with suppress(OSError):
                    gateway.serve(self.connection)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Visit)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """The proxy's URL for the browser."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def serve(self, browser: socket.socket) -> None:
        """Serve a request, and relay what follows."""
        head, rest = _read_head(browser)
        method, _, target = head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
        target = target.rpartition(" ")[0]
        try:
            address = read_address(f"https://{target}/" if method == "CONNECT" else target)
            if address.host == self.opened_host and method != "CONNECT":
                self._require_own(head, address.host)
            remote = self._connect(address.host, address.port)
        except (Refusal, BadRequest) as refusal:
            if told := str(refusal):
                self.on_refusal(told)
            browser.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            return
        with remote:
            if method == "CONNECT":
                browser.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                remote.sendall(self._first_words(browser, address.host) or rest)
            else:
                remote.sendall(_plain_head(head, method, address.target) + rest)
            _relay(browser, remote)

    def _first_words(self, browser: socket.socket, host: str) -> bytes:
        """Return the first bytes of a tunnel to the opened host, enough to determine the requesting page."""
        if host != self.opened_host:
            return b""
        first = browser.recv(1, socket.MSG_PEEK)
        if first == TLS_BEGINS:
            return b""
        head, rest = _read_head(browser)
        try:
            self._require_own(head, host)
        except Refusal as refusal:
            self.on_refusal(str(refusal))
            raise OSError("refused") from None
        return head + rest

    def _require_own(self, head: bytes, host: str) -> None:
        """Raise Refusal if another host's page requests the opened host, including through redirects."""
        if host not in self._private_hosts and _comes_from_elsewhere(head, host):
            raise Refusal(f"A page of another host tried to reach {host}; that was refused.")

    def _connect(self, host: str, port: int) -> socket.socket:
        if host in ERRANDS and host not in self.wanted_hosts:
            raise Refusal("")
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError:
            raise Refusal("") from None
        ips = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if host not in (self.opened_host, *self._private_hosts) and (private := first_private(ips)):
            raise Refusal(f"{host} leads to {private}, which is not on the public network; that was refused.")
        for ip in ips:
            with suppress(OSError):
                return socket.create_connection((ip, port), CONNECT_TIMEOUT_S)
        raise Refusal("")


def _read_head(browser: socket.socket) -> tuple[bytes, bytes]:
    """Read up to the empty line after the headers; return that part, and what followed it."""
    content = b""
    while b"\r\n\r\n" not in content and len(content) < MAX_HEAD_BYTES:
        piece = browser.recv(PIECE_BYTES)
        if not piece:
            break
        content += piece
    head, mark, rest = content.partition(b"\r\n\r\n")
    return head + mark, rest


def _comes_from_elsewhere(head: bytes, host: str) -> bool:
    """Return whether a request's headers show that another host's page made it."""
    told: dict[str, str] = {}
    for line in head.decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        told[name.strip().lower()] = value.strip().lower()
    if site := told.get("sec-fetch-site"):
        return site == "cross-site"
    for named in (told.get("origin"), told.get("referer")):
        if named:
            return urlsplit(named).hostname != host.strip("[]")
    return False


def _plain_head(head: bytes, method: str, target: str) -> bytes:
    """Return a request's head in origin form, for one request per connection, as the next may be for another host."""
    lines = head.rstrip(b"\r\n").split(b"\r\n")[1:]
    kept = [line for line in lines if not line.lower().startswith(OWN_HEADERS)]
    first = f"{method} {target} HTTP/1.1".encode("latin-1")
    return b"\r\n".join((first, *kept, b"connection: close", b"", b""))


def _relay(browser: socket.socket, remote: socket.socket) -> None:
    """Relay bytes in both directions until either side ends."""
    remote.settimeout(IDLE_TIMEOUT_S)
    other = {browser: remote, remote: browser}
    while True:
        ready, _, _ = select.select((browser, remote), (), (), IDLE_TIMEOUT_S)
        for one in ready:
            piece = one.recv(PIECE_BYTES)
            if not piece:
                return
            other[one].sendall(piece)
        if not ready:
            return
