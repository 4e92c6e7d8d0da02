"""Admit requests by their Host header, origin and bearer token.

Source: RFC 6750 (bearer tokens), RFC 6454 (origins); the token among the subprotocols is for browsers, which
cannot set headers on a WebSocket.
"""

import base64
import hmac
import ipaddress
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from starlette.datastructures import Headers

from hermes_acp.frontends.acp.messages import serving

LOCAL_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
TOKEN_PROTOCOL: Final = "base64url.bearer."
PROTOCOL: Final = "acp"


class AdmissionRefusal(Struct, frozen=True):
    """The status and reason of a refused request; `reason` never reveals what would have been accepted."""

    status: int
    reason: str


class AdmissionPolicy(Struct, frozen=True):
    """The conditions that a request must meet before its body is read."""

    token: str
    hosts: frozenset[str] = LOCAL_NAMES
    origins: frozenset[str] = frozenset()
    takes_any_address: bool = False

    def check(self, headers: Headers) -> AdmissionRefusal | None:
        """Return why a request is refused, or None if it is admitted."""
        return self.check_host_and_origin(headers) or self._check_token(headers)

    def check_host_and_origin(self, headers: Headers) -> AdmissionRefusal | None:
        """Check only the host and the origin, because a browser's preflight request carries no token."""
        if not self._is_ours(headers.get("host", "")):
            return AdmissionRefusal(421, serving.WRONG_HOST)
        origin = headers.get("origin")
        if (
            origin is not None
            and origin not in self.origins
            and not _is_same(origin, headers.get("host", ""))
        ):
            return AdmissionRefusal(403, serving.WRONG_ORIGIN)
        return None

    def _check_token(self, headers: Headers) -> AdmissionRefusal | None:
        offered = token_of(headers)
        if offered is None:
            return AdmissionRefusal(401, serving.NO_TOKEN)
        if not hmac.compare_digest(offered, self.token.encode()):
            return AdmissionRefusal(401, serving.WRONG_TOKEN)
        return None

    def _is_ours(self, host: str) -> bool:
        """Return whether a host is ours: a known name or, if allowed, any IP address. DNS rebinding needs a name."""
        name = host_name(host)
        if name in self.hosts:
            return True
        return self.takes_any_address and _is_address(name)


def _is_same(origin: str, host: str) -> bool:
    """Return whether a page comes from this server's own origin; the host has already been checked."""
    scheme, _, address = origin.partition("://")
    return scheme in ("http", "https") and address.lower() == host.lower()


def host_name(host: str) -> str:
    """Strip the port and the brackets from a Host header or a listening address."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower() if host.count(":") == 1 else host.lower()


def agreed_protocol(offered: Sequence[str]) -> str | None:
    """Choose one of the subprotocols that a client offers; the one that carries the token is never echoed."""
    return PROTOCOL if PROTOCOL in offered else None


def token_of(headers: Headers) -> bytes | None:
    """Return a request's token, from the `Authorization` header or from a subprotocol that a page offers."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip().encode("latin-1")
    for line in headers.getlist("sec-websocket-protocol"):
        for protocol in line.split(","):
            if protocol.strip().startswith(TOKEN_PROTOCOL):
                return _decoded(protocol.strip().removeprefix(TOKEN_PROTOCOL))
    return None


def _decoded(text: str) -> bytes:
    """Decode base64url without padding; invalid base64 counts as a wrong token."""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
