"""An issue tracker as an MCP server: `tracker_server.py LOG ISSUE`.

Every argument it is called with is appended to LOG, as a host on the network would see it. The text of every issue is
that of the file ISSUE. It implements only the few messages that a client needs, so that it starts at once.
"""

import json
import sys
from pathlib import Path
from typing import Any

LOG, ISSUE = Path(sys.argv[1]), Path(sys.argv[2])
METHOD_NOT_FOUND = -32601


def tool(name: str, argument: str, *, is_read_only: bool) -> dict[str, Any]:
    schema = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    hints = {"readOnlyHint": is_read_only}
    return {"name": name, "description": "Of the tracker.", "inputSchema": schema, "annotations": hints}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            about = {"name": "tracker", "version": "1"}
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }
        case "ping":
            return {}
        case "tools/list":
            tools = [
                tool("get_issue", "number", is_read_only=True),
                tool("create_issue", "title", is_read_only=False),
            ]
            return {"tools": tools}
        case "tools/call":
            with LOG.open("a", encoding="utf-8") as file:
                file.write(json.dumps(params["arguments"]) + "\n")
            text = ISSUE.read_text(encoding="utf-8") if params["name"] == "get_issue" else "Filed."
            return {"content": [{"type": "text", "text": text}]}
        case _:
            return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params") or {})
        outcome = {"error": {"code": METHOD_NOT_FOUND, "message": "no such method"}}
        reply = {
            "jsonrpc": "2.0",
            "id": message["id"],
            **({"result": result} if result is not None else outcome),
        }
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
