"""Parse web addresses into one canonical form, and recognise forbidden network addresses.

A URL is parsed once and reassembled from checked parts, so that the code that checks it and the code that connects
cannot read it differently. Source: RFC 6890 and IANA's special-purpose registries; RFC 6052 (NAT64), RFC 3056
(6to4), RFC 5214 (ISATAP).
"""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from socket import inet_aton
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.lazy_pattern import LazyPattern

MAX_URL_CHARACTERS: Final = 4000
_NAME: Final = LazyPattern(
    r"(?=.{1,253}\Z)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62}))*\Z"
)
_NUMBER: Final = LazyPattern(r"(?:0x[0-9a-f]*|[0-9]+)\Z")
_PLAIN: Final = "/:@!$&'()*+,;=~%-._"
_NAT64: Final = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR: Final = IPv6Network("2002::/16")
_REFUSED: Final = (
    IPv4Network("192.0.0.0/24"),
    IPv4Network("192.88.99.0/24"),
    IPv6Network("::/96"),
    IPv6Network("64:ff9b:1::/48"),
    IPv6Network("2001::/23"),
    IPv6Network("3fff::/20"),
    IPv6Network("5f00::/16"),
    IPv6Network("fec0::/10"),
)
# Relays for obsolete networks, and AS112, which answers for names of private networks.
_RELAYS: Final = (
    IPv4Network("192.31.196.0/24"),
    IPv4Network("192.52.193.0/24"),
    IPv4Network("192.175.48.0/24"),
    IPv6Network("2001:4:112::/48"),
    IPv6Network("2620:4f:8000::/48"),
)
_ISATAP: Final = frozenset({0x00005EFE, 0x02005EFE})
# Azure's platform address is in public space, but acts as a metadata service for machines there.
_METADATA: Final = frozenset({IPv4Address("168.63.129.16")})
_LOCAL_NAMES: Final = (".localhost", ".local", ".internal", ".lan", ".home.arpa")


class WebAddress(Struct, frozen=True):
    """A web address: `host` in lower case and ASCII, `target` the quoted path with its query."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """The host as in a URL, with its port unless that is the scheme's default."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return shown if self.port == (443 if self.scheme == "https" else 80) else f"{shown}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address."""
        return f"{self.scheme}://{self.authority}{self.target}"

    @property
    def is_private_address(self) -> bool:
        """Whether the host is itself an address on this machine or its network."""
        if self.host == "localhost" or self.host.endswith(_LOCAL_NAMES):
            return True
        try:
            return not is_public(self.host)
        except ValueError:
            return False

    def at(self, ip: str) -> str:
        """Return the URL for one of the host's IP addresses."""
        shown = f"[{ip}]" if ":" in ip else ip
        return f"{self.scheme}://{shown}:{self.port}{self.target}"

    def follow(self, location: str) -> "WebAddress":
        """Return the address that a redirect leads to. Raises BadRequest."""
        return read_address(urljoin(self.url, location.strip()))


def read_address(written: str) -> WebAddress:
    """Parse a URL. Raises BadRequest if it is invalid, contains a password, or is ambiguous."""
    shown = written[:200]
    if len(written) > MAX_URL_CHARACTERS or any(ord(each) <= 32 or ord(each) == 127 for each in written):
        raise BadRequest(
            f"The URL {shown!r} contains spaces, or is too long.", hint="Quote it as %20 or shorten it."
        )
    try:
        parts = urlsplit(written)
        port = parts.port
    except ValueError:
        raise BadRequest(f"{shown!r} is not a URL.", hint="Use one like https://host/path.") from None
    if parts.scheme not in ("http", "https") or "\\" in written:
        raise BadRequest(f"{shown!r} is not a web address.", hint="It must start with https:// or http://.")
    if "@" in parts.netloc:
        raise BadRequest(
            "The URL contains a user name or password.",
            hint="Leave it out; pages are fetched without a sign-in.",
        )
    return WebAddress(
        parts.scheme,
        _read_host(parts.hostname or ""),
        port or (443 if parts.scheme == "https" else 80),
        quote(parts.path or "/", safe=_PLAIN)
        + (f"?{quote(parts.query, safe=_PLAIN + '?[]|')}" if parts.query else ""),
    )


def _read_host(written: str) -> str:
    host = written.rstrip(".").lower()
    if ":" in host:
        try:
            if "%" in host:
                raise ValueError(host)  # a zone of this machine
            address = IPv6Address(host)
            return str(address.ipv4_mapped or address)
        except ValueError:
            raise BadRequest(f"{host[:80]!r} is not an IPv6 address.", hint="Check it.") from None
    if not host.isascii():
        import idna

        try:
            host = idna.encode(host, uts46=True).decode()
        except idna.IDNAError:
            raise BadRequest(f"{host[:80]!r} is not a host name.", hint="Check its spelling.") from None
    if _NUMBER.compiled.match(host.rpartition(".")[2]):
        try:
            return str(
                IPv4Address(inet_aton(host))
            )  # browsers and resolvers also accept 0x7f.1 or 2130706433
        except OSError:
            raise BadRequest(f"{host[:80]!r} is not an IPv4 address.", hint="Check it.") from None
    if not _NAME.compiled.match(host):
        raise BadRequest(f"{host[:80]!r} is not a host name.", hint="Use a URL like https://host/path.")
    return host


def is_public(ip: str) -> bool:
    """Return whether an IP address is public, including embedded ones. Raises ValueError if it is invalid."""
    address = ip_address(ip.partition("%")[0])
    if isinstance(address, IPv6Address):
        inner = _carried(address)
        if inner is not None:
            return is_public(str(inner))
    if any(address in network for network in (*_REFUSED, *_RELAYS) if network.version == address.version):
        return False
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and address not in _METADATA
    )


def _carried(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address embedded in an IPv6 one."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64 or (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.sixtofour if address in _SIX_TO_FOUR else None


def first_private(ips: Iterable[str]) -> str | None:
    """Return the first of some IP addresses that is not public."""
    return next((ip for ip in ips if not is_public(ip)), None)
