"""From where a request comes, and by which name: a proxy may say so only if the settings trust it."""

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

from msgspec import Struct
from starlette.datastructures import Headers

from hermes_acp.core.errors import ConfigError
from hermes_acp.frontends.acp.http.request_admission import LOCAL_NAMES, host_name
from hermes_acp.frontends.hub import messages

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class PublicAddress(Struct, frozen=True):
    """The names and origins by which people reach the hub, and the proxies in front of it."""

    origin: str
    """The scheme, host and port that people use; empty if none is set."""
    hosts: frozenset[str]
    proxies: tuple[Network, ...] = ()

    def knows_host(self, headers: Headers) -> bool:
        """Return whether a request names this server, which a page that rebinds its name does not."""
        return host_name(headers.get("host", "")) in self.hosts

    def is_own_page(self, headers: Headers) -> bool:
        """Return whether a request comes from no page at all, or from one of this server."""
        origin = headers.get("origin")
        if origin is None or origin.lower() == self.origin:
            return True
        scheme, _, rest = origin.lower().partition("://")
        return not self.origin and scheme in ("http", "https") and rest == headers.get("host", "").lower()

    def client_address(self, peer: str, headers: Headers) -> str:
        """Return the address of the client: that of the connection, or what a trusted proxy says."""
        forwarded = [each.strip() for line in headers.getlist("x-forwarded-for") for each in line.split(",")]
        address = peer
        while forwarded and self._is_proxy(address):
            address = forwarded.pop()
        return address if _parsed(address) else peer

    def _is_proxy(self, address: str) -> bool:
        parsed = _parsed(address)
        return parsed is not None and any(parsed in network for network in self.proxies)


def public_address(public_url: str, listen_host: str, proxies: Sequence[str]) -> PublicAddress:
    """Return how a hub is reached, as its settings have it. Raises ConfigError."""
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


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address)
    except ValueError:
        return None
