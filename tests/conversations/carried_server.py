"""An MCP server inside the fake editor, as far as the newest version of MCP requires one.

Each request is self-contained.
"""

from typing import Any

import anyio

from tests.conversations.fake_editor import FakeEditor
from tests.conversations.wire_laws import Json

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
EMPTY: Json = {"type": "object", "properties": {}}
CACHE: Json = {"ttlMs": 0, "cacheScope": "private"}
FORM: Json = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "title": "Size"},
        "colour": {"type": "string", "enum": ["red", "blue"]},
    },
    "required": ["size"],
}


class CarriedServer:
    """Tools, prompts and a resource; `prompts` and `tools` can change, and `told_of_change` reports it."""

    def __init__(self, editor: FakeEditor, server_id: str = "srv-1") -> None:
        self.id = server_id
        self.tools = ["echo", "slow", "order", "broken"]
        self.prompts: list[Json] = [
            {
                "name": "review",
                "description": "Review a file",
                "arguments": [{"name": "path", "required": True}],
            }
        ]
        self.requests: list[Json] = []
        self.answers: list[Json] = []
        self.cancelled = anyio.Event()
        self.listening: str | None = None
        self.is_gone = False
        self._editor = editor
        editor.on["mcp/message"] = self.answer

    @property
    def declaration(self) -> Json:
        return {"type": "acp", "name": "carried", "serverId": self.id}

    def asked(self, method: str) -> list[Json]:
        return [request for request in self.requests if request["method"] == method]

    def tell(self, request_id: str, method: str, params: Json) -> None:
        reported: Json = {"serverId": self.id, "requestId": request_id, "method": method, "params": params}
        self._editor.connection.notify("mcp/message", reported)

    def tell_of_change(self, what: str) -> None:
        assert self.listening, "nobody listens"
        meta = {"_meta": {f"{META}subscriptionId": self.listening}}
        self.tell(self.listening, f"notifications/{what}/list_changed", meta)

    async def answer(self, envelope: Json) -> Json:
        self.requests.append(envelope)
        assert envelope["serverId"] == self.id
        meta = envelope["params"]["_meta"]
        assert meta[f"{META}protocolVersion"] == VERSION
        assert isinstance(meta[f"{META}clientCapabilities"], dict)
        name = envelope["method"].replace("/", "_")
        answerer = getattr(self, f"_{name}", None)
        if answerer is None:
            return {"error": {"code": -32601, "message": "no such method"}}
        result = await answerer(envelope["requestId"], envelope["params"])
        return result if "error" in result else {"result": {"resultType": "complete", **result}}

    async def _server_discover(self, request_id: str, params: Json) -> Json:
        return {
            "supportedVersions": [VERSION],
            "capabilities": {
                "tools": {"listChanged": True},
                "prompts": {"listChanged": True},
                "resources": {},
            },
            **CACHE,
        }

    async def _tools_list(self, request_id: str, params: Json) -> Json:
        return {"tools": [{"name": name, "inputSchema": EMPTY} for name in self.tools], **CACHE}

    async def _prompts_list(self, request_id: str, params: Json) -> Json:
        return {"prompts": self.prompts, **CACHE}

    async def _prompts_get(self, request_id: str, params: Json) -> Json:
        text = f"Review {params['arguments']['path']} with care."
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    async def _resources_list(self, request_id: str, params: Json) -> Json:
        return {"resources": [{"uri": "memo://today", "name": "today"}], **CACHE}

    async def _resources_templates_list(self, request_id: str, params: Json) -> Json:
        return {"resourceTemplates": [], **CACHE}

    async def _resources_read(self, request_id: str, params: Json) -> Json:
        return {"contents": [{"uri": params["uri"], "text": "Buy milk."}], **CACHE}

    async def _subscriptions_listen(self, request_id: str, params: Json) -> Json:
        meta = {f"{META}subscriptionId": request_id}
        acknowledged = {"notifications": params["notifications"], "_meta": meta}
        self.tell(request_id, "notifications/subscriptions/acknowledged", acknowledged)
        self.listening = request_id
        await anyio.sleep_forever()
        raise AssertionError

    async def _tools_call(self, request_id: str, params: Json) -> Json:
        match params["name"]:
            case "slow":
                return await self._slow(request_id, params)
            case "order" if "inputResponses" not in params:
                question = {
                    "method": "elicitation/create",
                    "params": {"mode": "form", "message": "Which size?", "requestedSchema": FORM},
                }
                return {"resultType": "input_required", "inputRequests": {"q": question}, "requestState": "s"}
            case "order":
                self.answers.append(params["inputResponses"]["q"])
                return said(str(params["inputResponses"]["q"]["action"]))
            case "broken":
                return {"error": {"code": -32000, "message": "the moon is in the wrong place"}}
            case name:
                return said(f"{name}: {params.get('arguments')}")

    async def _slow(self, request_id: str, params: Json) -> Json:
        token = params["_meta"]["progressToken"]
        reported = {"progressToken": token, "progress": 1, "total": 3, "message": "warming up"}
        self.tell(request_id, "notifications/progress", reported)
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled.set()
        raise AssertionError


def said(text: str) -> dict[str, Any]:
    """Return a tool result with one text."""
    return {"content": [{"type": "text", "text": text}]}
