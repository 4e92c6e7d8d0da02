"""Determine a client's address, and check the host name that it used. Only trusted proxies may state addresses."""

import ipaddress
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct
from starlette.datastructures import Headers

from hermes_acp.core.errors import ConfigError
from hermes_acp.frontends.acp.http.request_admission import LOCAL_NAMES, host_name
from hermes_acp.frontends.hub import messages

CLIENT_PREFIX: Final = 64
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class PublicAddress(Struct, frozen=True):
    """The public address of the hub: its origin, its host names, and the proxies in front of it."""

    origin: str
    """The scheme, host and port that people use; empty if `public_url` is not set."""
    hosts: frozenset[str]
    proxies: tuple[Network, ...] = ()

    def knows_host(self, headers: Headers) -> bool:
        """Return whether a request names this server in its Host header, unlike one of a DNS rebinding attack."""
        return host_name(headers.get("host", "")) in self.hosts

    def is_own_page(self, headers: Headers) -> bool:
        """Return whether a request comes from a page of this server, or not from a page at all."""
        origin = headers.get("origin")
        if origin is None or origin.lower() == self.origin:
            return True
        scheme, _, rest = origin.lower().partition("://")
        return not self.origin and scheme in ("http", "https") and rest == headers.get("host", "").lower()

    def client_address(self, peer: str, headers: Headers) -> str:
        """Return the client's address: that of the connection, or the one that a trusted proxy states."""
        forwarded = [each.strip() for line in headers.getlist("x-forwarded-for") for each in line.split(",")]
        address = peer
        while forwarded and self.is_proxy(address):
            address = forwarded.pop()
        return address if _parsed(address) else peer

    def is_proxy(self, address: str) -> bool:
        """Return whether an address belongs to a trusted proxy."""
        parsed = _parsed(address)
        return parsed is not None and any(parsed in network for network in self.proxies)


def public_address(public_url: str, listen_host: str, proxies: Sequence[str]) -> PublicAddress:
    """Determine the hub's public address from its settings. Raises ConfigError."""
    networks: list[Network] = []
    for value in proxies:
        try:
            networks.append(ipaddress.ip_network(value))
        except ValueError as error:
            raise ConfigError(messages.bad_proxy(value)) from error
    hosts = LOCAL_NAMES | {host_name(listen_host)}
    if not public_url:
        return PublicAddress("", hosts, tuple(networks))
    parts = urlsplit(public_url)
    is_local = parts.hostname in LOCAL_NAMES
    if parts.scheme not in (("https", "http") if is_local else ("https",)) or parts.path not in ("", "/"):
        raise ConfigError(messages.bad_public_url(public_url))
    if not parts.hostname:
        raise ConfigError(messages.bad_public_url(public_url))
    origin = f"{parts.scheme}://{parts.netloc.lower()}"
    return PublicAddress(origin, hosts | {parts.hostname.lower()}, tuple(networks))


def network_of(address: str) -> str:
    """Return the key for counting requests: an IPv4 address, or the /64 network of an IPv6 address.

    A client can use all addresses of its /64 network.
    """
    parsed = _parsed(address)
    if not isinstance(parsed, ipaddress.IPv6Address):
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), CLIENT_PREFIX), strict=False))


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address)
    except ValueError:
        return None
