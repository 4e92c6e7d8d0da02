"""The type of the plugins in `features`: a method that the server answers."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import Struct

from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection


class Request(Struct, frozen=True):
    """A request that is answered by a task; `options` are announced with the method.

    If it `is_taken_over`, it replaces pygls' own implementation.
    """

    method: str
    answer: Callable[[EditorConnection, Any], Awaitable[object]]
    options: object = None
    is_taken_over: bool = False
    is_offered: Literal["always", "if_wanted"] = "always"


class Notification(Struct, frozen=True):
    """A message that is processed at once, in the order of arrival."""

    method: str
    take: Callable[[EditorConnection, Any], None]
    is_taken_over: bool = False


Feature = Request | Notification
