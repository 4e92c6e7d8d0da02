"""What `hermes-acp serve` was told.

Knows: flags and the token's variable, and which of their values cannot be meant. Does not know: sockets.
"""

import ipaddress
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import ConfigError

DEFAULT_LISTEN: Final = "127.0.0.1:8722"
MIN_TOKEN_LENGTH: Final = 16
TOKEN_VARIABLE: Final = "HERMES_SERVE_TOKEN"


class ServeSettings(Struct, frozen=True):
    """Where to listen and for whom; an empty token means that one is made."""

    host: str
    port: int
    token: str = ""
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    is_remote: bool = False


def read_address(listen: str, *, allow_remote: bool) -> tuple[str, int]:
    """Split HOST:PORT. Raises ConfigError for what is none, or can be reached by others unasked."""
    host, colon, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise ConfigError(
            f"{listen!r} is no address to listen on.", hint="Give HOST:PORT, such as 127.0.0.1:8722."
        )
    if host == "localhost":
        host = "127.0.0.1"
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError as error:
        raise ConfigError(f"{host!r} is no IP address.", hint="Give one, such as 127.0.0.1.") from error
    if not (is_loopback or allow_remote):
        raise ConfigError(
            f"{host} can be reached from other machines, and the connection is not encrypted.",
            hint="Listen on 127.0.0.1 and forward the port over SSH, or pass --allow-remote and put a proxy with TLS "
            "in front.",
        )
    return host, int(port)


def check_token(token: str) -> str:
    """Give the token back if it can be one. Raises ConfigError, without quoting it."""
    if token and (
        len(token) < MIN_TOKEN_LENGTH or not token.isascii() or not token.isprintable() or " " in token
    ):
        raise ConfigError(
            f"{TOKEN_VARIABLE} must be at least {MIN_TOKEN_LENGTH} printable ASCII characters without spaces.",
            hint="Leave it out to have one made, or use the output of `openssl rand -hex 32`.",
        )
    return token


def check_origin(origin: str) -> str:
    """Return an origin as browsers send it. Raises ConfigError."""
    scheme, separator, rest = origin.rstrip("/").partition("://")
    if not (scheme and separator and rest) or "/" in rest:
        raise ConfigError(
            f"{origin!r} is no origin.", hint="Give SCHEME://HOST[:PORT], such as https://app.example."
        )
    return f"{scheme}://{rest}".lower()
