"""Unwrap calls that a model makes through `call_tool`."""

from typing import Final, cast

import msgspec
from msgspec import structs

from hermes_acp.core.messages import ToolCall

CALL_TOOL: Final = "call_tool"


def inner_call(call: ToolCall, plain: dict[str, object]) -> ToolCall | None:
    """Return the call that the arguments of `call_tool` describe, or None if they do not.

    Models often write the inner arguments as text, which is accepted.
    """
    name, arguments = plain.get("name"), plain.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments or "{}")
        except (msgspec.DecodeError, RecursionError):
            return None
    if not isinstance(name, str) or not name or name == CALL_TOOL or not isinstance(arguments, dict):
        return None
    written = msgspec.json.encode(cast("dict[str, object]", arguments)).decode()
    return structs.replace(call, name=name, arguments=written, via=CALL_TOOL)
