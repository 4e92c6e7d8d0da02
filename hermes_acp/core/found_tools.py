"""Format and parse the result of a tool search: one tool per line, as JSON, with its parameters.

The search tool writes this result. Vendors that load tools on demand are sent the tool names in it instead.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.messages import Message, ToolMessage, ToolSchema

TOOL_SEARCH: Final = "tool_search"
HEAD: Final = "Call these with call_tool:"
_START: Final = '{"name":'


class _Name(Struct, frozen=True):
    name: str


def found_tools_text(schemas: Sequence[ToolSchema], further: Sequence[str]) -> str:
    """Return the search result for some tools; `further` lists the names of less likely ones."""
    lines = [HEAD, *(msgspec.json.encode(schema).decode() for schema in schemas)]
    if further:
        lines.append(f"[Less likely: {', '.join(further)}]")
    return "\n".join(lines)


def found_names(message: Message) -> list[str]:
    """Return the names of the tools in a message if it is the result of a tool search."""
    if not isinstance(message, ToolMessage) or message.name != TOOL_SEARCH or message.is_error:
        return []
    names: list[str] = []
    for line in message.text.splitlines():
        if line.startswith(_START):
            try:
                names.append(msgspec.json.decode(line, type=_Name).name)
            except msgspec.DecodeError:
                continue
    return names
