"""One connection's calls to their methods, and every failure to its error reply.

Knows: the drawer of methods, what may be called before initialize. Does not know: any method. This is the boundary
where a HermesError becomes a JSON-RPC error.
"""

import inspect
from collections.abc import Awaitable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from hermes_acp.core.drawers import Drawer
from hermes_acp.core.errors import (
    AuthRequired,
    BadRequest,
    HermesError,
    NotFound,
    UserMustAct,
)
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_protocol import salvage
from hermes_protocol.connection import IncomingRequest
from hermes_protocol.errors import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_FOUND,
    PeerError,
)

CODES: Final[Mapping[type[HermesError], int]] = MappingProxyType(
    {
        AuthRequired: AUTH_REQUIRED,
        NotFound: NOT_FOUND,
        BadRequest: INVALID_PARAMS,
        UserMustAct: INVALID_REQUEST,
    }
)
METHODS: Final = "hermes_acp.faces.acp.v1.methods"


class Dispatch:
    """Serves the calls that come in at one desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._drawer: Drawer[Method] = Drawer(METHODS, "METHOD")
        self._names = frozenset(self._drawer)
        self._methods: dict[str, Method] = {}

    async def request(self, call: IncomingRequest) -> object:
        """Serve a call. Raises PeerError."""
        try:
            result = self.serve(call.method, call.params)
            return await result if inspect.isawaitable(result) else result
        except HermesError as error:
            raise to_peer_error(error) from error

    def notification(self, method: str, params: msgspec.Raw) -> Awaitable[None] | None:
        """Serve a notification; one that cannot be understood, or that should have been a request, is dropped."""
        return self.serve(method, params) if self._find(method).is_notification else None

    def serve(self, name: str, params: msgspec.Raw) -> Any | Awaitable[Any]:
        """Find, decode and call one method. Raises PeerError for what cannot be called."""
        method = self._find(name)
        if not (self._desk.greeted or method.is_open_before_initialize):
            raise PeerError(INVALID_REQUEST, "initialize must come first", {"code": "not_initialized"})
        try:
            arguments = salvage.decode(method.params, params, is_stable=True)
        except msgspec.MsgspecError as error:
            message = f"the parameters of {name} do not fit: {error}"
            raise PeerError(INVALID_PARAMS, message, {"code": "bad_params"}) from error
        return method.serve(self._desk, arguments)

    def _find(self, name: str) -> Method:
        key = name.replace("/", "_")
        if key not in self._names or key.replace("_", "/", 1) != name:
            raise PeerError(METHOD_NOT_FOUND, "no such method", {"code": "no_such_method"})
        if key not in self._methods:
            self._methods[key] = self._drawer.open(key)
        return self._methods[key]


def to_peer_error(error: HermesError) -> PeerError:
    """Say a failure of ours in the wire's terms."""
    code = next((code for family, code in CODES.items() if isinstance(error, family)), INTERNAL_ERROR)
    data: dict[str, object] = {"code": error.code}
    if error.retryable:
        data["retryable"] = True
    return PeerError(code, error.sentence(), data)
