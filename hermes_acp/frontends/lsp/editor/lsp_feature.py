"""One method that the server answers: the shape of the leaves in `features`.

Knows: which ways there are to answer. Does not know: any method.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import Struct

from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection


class Request(Struct, frozen=True):
    """A request whose answer may take a while; `options` are announced with it.

    One that is `taken_over` stands in the place of what pygls would do itself.
    """

    method: str
    answer: Callable[[EditorConnection, Any], Awaitable[object]]
    options: object = None
    is_taken_over: bool = False
    is_offered: Literal["always", "if_wanted"] = "always"


class Notification(Struct, frozen=True):
    """A message that is taken in at once, in the order of reading."""

    method: str
    take: Callable[[EditorConnection, Any], None]
    is_taken_over: bool = False


Feature = Request | Notification
