"""An MCP server with many tools: `mcp_tool_lists.py FILE`, whose JSON is the list of tools.

A call is answered with the tool's name and its arguments. Once its tools are known, its prompt `ready` appears among a
session's commands.
"""

import json
import sys
from pathlib import Path
from typing import Any

TOOLS = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
PAGE = 200


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}, "prompts": {}},
            "serverInfo": {"name": "many", "version": "1"},
        }
    if method == "tools/list":
        start = int(params.get("cursor") or 0)
        more = {"nextCursor": str(start + PAGE)} if start + PAGE < len(TOOLS) else {}
        return {"tools": TOOLS[start : start + PAGE], **more}
    if method == "prompts/list":
        return {"prompts": [{"name": "ready"}]}
    if method == "tools/call":
        text = f"{params['name']} {json.dumps(params.get('arguments'))}"
        return {"content": [{"type": "text", "text": text}]}
    return {} if method == "ping" else None


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked or "method" not in asked:
            continue
        result = answer(asked["method"], asked.get("params") or {})
        end = {"error": {"code": -32601, "message": "no"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **end}), flush=True)


if __name__ == "__main__":
    main()
