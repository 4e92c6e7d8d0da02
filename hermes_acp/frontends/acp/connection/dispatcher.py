"""Dispatch a connection's requests to their methods, and turn failures into error replies.

This is the boundary where a HermesError becomes a JSON-RPC error.
"""

import inspect
from collections.abc import Awaitable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import HermesError
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.error_replies import to_peer_error
from hermes_acp.frontends.acp.connection.method_spec import Method, stable_part
from hermes_acp.frontends.acp.connection.session_access import check_access
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.storage.descriptor_limit import SHORTAGE, shortage
from hermes_protocol import salvage
from hermes_protocol.connection import IncomingRequest
from hermes_protocol.errors import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PeerError

METHODS: Final[Mapping[int, str]] = MappingProxyType(
    {
        0: "hermes_acp.frontends.acp.own_methods",
        1: "hermes_acp.frontends.acp.v1.methods",
        2: "hermes_acp.frontends.acp.v2.methods",
    }
)
"""The package with the methods of each protocol version; key 0 has our own methods, which every version offers."""
OWN: Final = "_hermes/"
STABLE: Final = 1
NEWEST: Final = max(METHODS)
# Replaces an initialize request of a later protocol version that cannot be decoded with our types.
NEWER_THAN_STABLE: Final = b'{"protocolVersion":2,"info":{"name":"unknown","version":"unknown"}}'


class Dispatcher:
    """Serve the requests of one connection in the negotiated protocol version."""

    def __init__(self, client: ClientConnection) -> None:
        self._client = client
        self._tables: dict[int, MethodTable] = {}

    async def request(self, call: IncomingRequest) -> object:
        """Serve a request. Raises PeerError."""
        try:
            result = self.serve(call.method, call.params)
            return await result if inspect.isawaitable(result) else result
        except HermesError as error:
            raise to_peer_error(error) from error
        except OSError as error:
            if error.errno not in SHORTAGE:
                raise
            raise to_peer_error(shortage(errors.not_carried_out(call.method))) from error

    def notification(self, method: str, params: msgspec.Raw) -> Awaitable[None] | None:
        """Serve a notification; ignore one whose method expects a request."""
        found = self._find(self._client.version or STABLE, method)
        if not found.is_notification:
            return None
        try:
            return self.serve(method, params)
        except HermesError as error:
            raise to_peer_error(error) from error

    def serve(self, name: str, params: msgspec.Raw) -> Any | Awaitable[Any]:
        """Find, decode and call one method. Raises PeerError."""
        version = self._client.version or STABLE
        if name == "initialize" and _wants_unstable(params):
            self._client.offers_unstable = True
        if name == "initialize" and self._client.offers_draft_v2:
            version = self._agree(params)
        method = self._find(version, name)
        if not (self._client.version or method.is_open_before_initialize):
            raise PeerError(INVALID_REQUEST, errors.NOT_INITIALIZED, {"code": "not_initialized"})
        self._client.is_under_way |= name != "initialize"
        try:
            arguments = salvage.decode(method.params, params, is_stable=not self._client.offers_unstable)
        except msgspec.MsgspecError as error:
            if not (name == "initialize" and version == NEWEST < _asked_version(params)):
                message = errors.bad_parameters(name, str(error))
                raise PeerError(INVALID_PARAMS, message, {"code": "bad_params"}) from error
            arguments = salvage.decode(method.params, NEWER_THAN_STABLE)
        check_access(self._client, method.access, arguments)
        return method.serve(
            self._client, arguments if self._client.offers_unstable else stable_part(arguments)
        )

    def _agree(self, params: msgspec.Raw) -> int:
        """Negotiate the version. A second initialize may only raise it, before any other request. Raises PeerError."""
        version = NEWEST if _asked_version(params) >= NEWEST else STABLE
        before = self._client.version
        if before and max(before, version) > STABLE and (self._client.is_under_way or version < before):
            raise PeerError(INVALID_REQUEST, errors.ALREADY_INITIALIZED, {"code": "already_initialized"})
        return version

    def _find(self, version: int, name: str) -> Method:
        if name.startswith(OWN):
            return self._table(0).find(name.removeprefix(OWN))
        method = self._table(version).find(name)
        if method.is_unstable and not self._client.offers_unstable:
            raise _no_such_method()
        return method

    def _table(self, version: int) -> "MethodTable":
        if version not in self._tables:
            self._tables[version] = MethodTable(METHODS[version], "METHOD" if version else "EXTENSION")
        return self._tables[version]


class MethodTable:
    """The methods of one protocol version by wire name, each imported on first use."""

    def __init__(self, package: str, constant: str) -> None:
        self._plugins: PluginFolder[Method] = PluginFolder(package, constant)
        self._names = frozenset(self._plugins)
        self._methods: dict[str, Method] = {}

    def find(self, name: str) -> Method:
        """Return a method. Raises PeerError for an unknown name."""
        key = name.replace("/", "_")
        if key not in self._names:
            raise _no_such_method()
        if key not in self._methods:
            self._methods[key] = self._plugins.open(key)
        method = self._methods[key]
        if name != (method.name or key.replace("_", "/", 1)):
            raise _no_such_method()
        return method


def _no_such_method() -> PeerError:
    return PeerError(METHOD_NOT_FOUND, errors.NO_SUCH_METHOD, {"code": "no_such_method"})


class _OwnMeta(Struct, frozen=True):
    unstable: bool = False


class _Meta(Struct, frozen=True):
    hermes: _OwnMeta = _OwnMeta()


class _Introduction(Struct):
    meta: _Meta = msgspec.field(default=_Meta(), name="_meta")


def _wants_unstable(params: msgspec.Raw) -> bool:
    """Return whether the client requests unstable features with `_meta.hermes.unstable`."""
    try:
        return msgspec.json.decode(params, type=_Introduction).meta.hermes.unstable
    except msgspec.MsgspecError:
        return False


class _Asked(Struct, rename="camel"):
    protocol_version: int


def _asked_version(params: msgspec.Raw) -> int:
    """Return the requested protocol version; the stable one if the request cannot be parsed."""
    try:
        return msgspec.json.decode(params, type=_Asked).protocol_version
    except msgspec.MsgspecError:
        return STABLE
