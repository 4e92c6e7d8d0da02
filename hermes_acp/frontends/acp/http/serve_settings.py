"""The settings of `hermes-acp serve`."""

import ipaddress
from importlib import import_module
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import ConfigError
from hermes_acp.frontends.acp.messages import serving

DEFAULT_LISTEN: Final = "127.0.0.1:8722"
MIN_TOKEN_LENGTH: Final = 16
DESCRIPTOR: Final = "fd://"
TOKEN_VARIABLE: Final = "HERMES_SERVE_TOKEN"
PACKAGES: Final = ("hypercorn", "starlette", "h2", "h11", "wsproto", "priority")
"""The packages of the extra `serve`."""


class ServeSettings(Struct, frozen=True):
    """The address to listen on, and the clients to accept. If the token is empty, one is generated.

    Without `max_connections`, the limit on open files decides. Running turns get `drain_s` to end after SIGTERM.
    """

    host: str
    port: int
    token: str = ""
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    is_remote: bool = False
    max_connections: int | None = None
    drain_s: float = 20.0
    has_open_metrics: bool = False
    inherited_socket: int | None = None
    """The descriptor of a listening socket that the parent process bound; replaces the address."""


def check_extra() -> None:
    """Raise ConfigError if a package that the server needs is missing."""
    for package in PACKAGES:
        try:
            import_module(package)
        except ImportError as error:
            from hermes_acp.config.installation import extra_hint

            raise ConfigError(serving.missing_extra(package), hint=extra_hint("serve")) from error


def read_inherited(listen: str) -> int | None:
    """Return N from fd://N, or None if `listen` is an address. Raises ConfigError."""
    if not listen.startswith(DESCRIPTOR):
        return None
    number = listen.removeprefix(DESCRIPTOR)
    if not (number.isascii() and number.isdigit()):
        raise ConfigError(serving.bad_address(listen), hint=serving.ADDRESS_HINT)
    return int(number)


def read_address(listen: str, *, allow_remote: bool) -> tuple[str, int]:
    """Split HOST:PORT. Raises ConfigError for an invalid address, or a remote one that is not allowed."""
    host, colon, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise ConfigError(serving.bad_address(listen), hint=serving.ADDRESS_HINT)
    if host == "localhost":
        host = "127.0.0.1"
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError as error:
        raise ConfigError(serving.not_an_ip(host), hint=serving.IP_ADDRESS_HINT) from error
    if not (is_loopback or allow_remote):
        raise ConfigError(
            serving.reachable_address(host),
            hint=serving.REMOTE_ADDRESS_HINT,
        )
    return host, int(port)


def check_token(token: str) -> str:
    """Return a valid token unchanged. Raises ConfigError, without quoting it."""
    if token and (
        len(token) < MIN_TOKEN_LENGTH or not token.isascii() or not token.isprintable() or " " in token
    ):
        raise ConfigError(
            serving.bad_token(TOKEN_VARIABLE, MIN_TOKEN_LENGTH),
            hint=serving.TOKEN_HINT,
        )
    return token


def check_origin(origin: str) -> str:
    """Return an origin as browsers send it. Raises ConfigError."""
    scheme, separator, rest = origin.rstrip("/").partition("://")
    if not (scheme and separator and rest) or "/" in rest:
        raise ConfigError(serving.bad_origin(origin), hint=serving.ORIGIN_HINT)
    return f"{scheme}://{rest}".lower()
