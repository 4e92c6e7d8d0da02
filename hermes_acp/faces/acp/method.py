"""What a method file exports.

Knows: the shape of a leaf of every version's `methods/`. Does not know: any method, any version.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from hermes_acp.faces.acp.desk import Desk


class Method(Struct, frozen=True):
    """One method: the type of its parameters, and what serves it.

    `serve` may be a plain function (it then runs in the order of reading) or give an awaitable.
    """

    params: Any
    serve: Callable[[Desk, Any], Any | Awaitable[Any]]
    is_open_before_initialize: bool = False
    is_notification: bool = False
