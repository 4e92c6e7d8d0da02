"""An issue tracker as an MCP server: `tracker_server.py LOG ISSUE`.

Every argument it is called with is appended to LOG, as a host on the network would see it. The text of every issue is
that of the file ISSUE.
"""

import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

LOG, ISSUE = Path(sys.argv[1]), Path(sys.argv[2])
server = MCPServer("tracker")


def note(line: str) -> None:
    with LOG.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def get_issue(number: str) -> str:
    """Show an issue."""
    note(number)
    return ISSUE.read_text(encoding="utf-8")


@server.tool()
def create_issue(title: str) -> str:
    """File an issue."""
    note(title)
    return "Filed."


server.run()
