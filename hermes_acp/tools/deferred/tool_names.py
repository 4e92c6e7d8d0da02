"""The names of servers' tools: `mcp__SERVER__TOOL`, as created by `mcp/exposed_names.py`."""

import re
from collections.abc import Iterable
from typing import Final

from hermes_acp.core.untrusted_text import plain

PREFIX: Final = "mcp__"
MAX_NAME_CHARS: Final = 64
MAX_SERVER_CHARS: Final = 24
_SEPARATORS: Final = re.compile(r"[^a-z0-9]+")


def is_server_tool(name: str) -> bool:
    """Return whether a tool belongs to a server."""
    return name.startswith(PREFIX)


def server_and_tool(name: str) -> tuple[str, str]:
    """Return the short name of a tool's server, and the tool's own name."""
    server, _, tool = name.removeprefix(PREFIX).partition("__")
    return plain(server, MAX_SERVER_CHARS), plain(tool, MAX_NAME_CHARS)


def full_name(name: str, known: Iterable[str]) -> str | None:
    """Return the full name that a model means by `server__tool`, `server.tool` or the tool's own name.

    Returns None if no tool or several tools match.
    """
    wanted = _folded(name.removeprefix(PREFIX))
    found: list[str] = []
    for each in known:
        server, tool = server_and_tool(each)
        if wanted in (_folded(tool), _folded(f"{server}_{tool}")):
            found.append(each)
    return found[0] if len(found) == 1 else None


def _folded(name: str) -> str:
    return _SEPARATORS.sub("", name.lower())
