"""Decide how many additional tools fit into each request to a model."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.ports.tool_ports import Tool

MAX_BYTES: Final = 128 * 1024
"""About thirty thousand tokens."""
MARK: Final = "mcp__"


class ToolBudget(Struct, frozen=True):
    """The tools that fit and, for each server, how many of its tools do not, out of how many."""

    tools: Mapping[str, Tool]
    left: tuple[tuple[str, int, int], ...] = ()

    def told(self) -> str:
        """Describe what is left out and how to choose, or return an empty string if everything fits."""
        if not self.left:
            return ""
        each = ", ".join(f"{left} of the {count} tools of {server}" for server, left, count in self.left)
        return (
            f"Not offered, because the descriptions would fill every request "
            f"({MAX_BYTES // 1024} KB are reserved for them): {each}. "
            "`tools: [PATTERN, …]` of a server in config.yaml selects which of its tools are offered."
        )


def apply_tool_budget(tools: Mapping[str, Tool]) -> ToolBudget:
    """Select the tools that fit: servers with the fewest tools first, and each server's first tools."""
    sizes = {name: _size_bytes(tool) for name, tool in tools.items()}
    groups: dict[str, list[str]] = {}
    for name in tools:
        groups.setdefault(_server_of(name), []).append(name)
    kept: set[str] = set()
    left: list[tuple[str, int, int]] = []
    room = MAX_BYTES
    for server, names in sorted(groups.items(), key=lambda group: sum(sizes[name] for name in group[1])):
        fitting: list[str] = []
        for name in names:
            if server and sizes[name] > room:
                break
            room -= sizes[name]
            fitting.append(name)
        kept.update(fitting)
        if len(fitting) < len(names):
            left.append((server, len(names) - len(fitting), len(names)))
    return ToolBudget({name: tool for name, tool in tools.items() if name in kept}, tuple(left))


def _server_of(name: str) -> str:
    """Return the server a tool belongs to, by its name, or an empty string if it belongs to none."""
    return name.removeprefix(MARK).partition("__")[0] if name.startswith(MARK) else ""


def _size_bytes(tool: Tool) -> int:
    schema = tool.schema()
    return len(schema.name) + len(schema.description.encode()) + len(msgspec.json.encode(schema.parameters))
