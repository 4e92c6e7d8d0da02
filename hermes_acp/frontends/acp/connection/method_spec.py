"""`Method`, the type of the constant that every method module exports."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from msgspec import UNSET, Struct, structs

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.session_access import Access

T = TypeVar("T")


class Method(Struct, frozen=True):
    """A protocol method: the type of its parameters, and the function that serves it.

    `serve` may be a plain function, which runs before the next message is read, or return an awaitable. An unstable
    method exists only if unstable features are enabled. `name` is the wire name, if that is not the file name with its
    first underscore replaced by a slash.

    `access` is the access that a request about a session needs; `session_access` explains the values.
    """

    params: Any
    serve: Callable[[ClientConnection, Any], Any | Awaitable[Any]]
    is_open_before_initialize: bool = False
    is_notification: bool = False
    is_unstable: bool = False
    name: str = ""
    access: Access = "control"


def stable_part(params: T) -> T:
    """Return the parameters without the fields that exist only in the unstable part of the protocol."""
    unstable: tuple[str, ...] = getattr(type(params), "wire_unstable", ())
    if not unstable or not isinstance(params, Struct):
        return params
    names = zip(params.__struct_fields__, params.__struct_encode_fields__, strict=True)
    return structs.replace(params, **{name: UNSET for name, wire in names if wire in unstable})
