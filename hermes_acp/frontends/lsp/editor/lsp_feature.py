"""The types of the plugins in `features`: requests and notifications that the server handles."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import Struct

from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection


class Request(Struct, frozen=True):
    """A request that a task answers; `options` are announced with the method.

    `is_taken_over` means that it replaces the implementation of pygls.
    """

    method: str
    answer: Callable[[EditorConnection, Any], Awaitable[object]]
    options: object = None
    is_taken_over: bool = False
    is_offered: Literal["always", "if_wanted"] = "always"


class Notification(Struct, frozen=True):
    """A notification that is processed at once, in the order of arrival."""

    method: str
    take: Callable[[EditorConnection, Any], None]
    is_taken_over: bool = False


Feature = Request | Notification
