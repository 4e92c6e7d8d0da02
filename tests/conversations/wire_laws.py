"""Rules for every frame that an agent sends, in any conversation.

A broken rule is recorded here and fails the test at its end.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import jsonschema

from tests.conversations.call_laws import CallLaws
from tests.conversations.compaction_laws import CompactionLaws

SCHEMAS = Path(__file__).parents[2] / "protocol" / "schema"
STABLE = "v1"
NEEDS = {
    "fs/read_text_file": ("fs", "readTextFile"),
    "fs/write_text_file": ("fs", "writeTextFile"),
    "terminal": ("terminal",),
    "elicitation/complete": ("elicitation", "url"),
}
OF_A_TURN = frozenset(
    {
        "agent_message_chunk",
        "agent_thought_chunk",
        "user_message_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "plan_update",
        "plan_removed",
        "session_message",
        "session_message_chunk",
    }
)
RFD_RESULTS: Mapping[str, set[str]] = {
    "session/attach": {"sessionId", "clientId", "connectedClients"},
    "session/detach": {"sessionId", "status"},
}
"""Required fields in the results of methods from open RFDs; no schema has them yet."""
PEER_UPDATES: Mapping[str, set[str]] = {
    "permission_resolved": {"toolCallId", "chosenOptionId", "resolvedBy"},
    "prompt_received": {"messageId", "prompt"},
    "turn_complete": {"stopReason"},
    "client_disconnected": {"client"},
}
REPLAYING = frozenset({"session/load", "session/resume", "session/attach"})
STABLE_NAME = re.compile(r"[a-z]+(_[a-z]+)*")
NOT_FOUND = -32002
Json = dict[str, Any]


@cache
def _schema(name: str) -> Json:
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


@cache
def _definitions(schema: str) -> Mapping[tuple[str, str], str]:
    """Map (method, part) to the definition of its parameters or its result."""
    found: dict[tuple[str, str], str] = {}
    for name, definition in _schema(schema)["$defs"].items():
        if method := definition.get("x-method"):
            found[method, "result" if name.endswith("Response") else "params"] = name
    return found


@cache
def _validator(schema: str, name: str) -> Any:
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": _schema(schema)["$defs"]})


def _own_faults(method: str, part: str, value: object) -> Iterator[str]:
    own = _schema("hermes")["methods"].get(method)
    if own is None:
        yield f"{method} is not in hermes.json"
        return
    validator: Any = jsonschema.Draft202012Validator(own[part])
    for fault in validator.iter_errors(value):
        yield f"{method} {part}: {fault.message}"


def schema_faults(method: str, part: str, value: object, schema: str = STABLE) -> Iterator[str]:
    """Report where a value does not match the schema for a method's `params` or `result`."""
    if method.startswith("_hermes/"):
        yield from _own_faults(method, part, value)
        return
    if method in RFD_RESULTS:
        if part == "result" and (missing := RFD_RESULTS[method] - cast(Json, value).keys()):
            yield f"{method} result lacks {sorted(missing)}"
        return
    if method == "session/update" and (update := cast(Json, value)["update"]).get("type") in PEER_UPDATES:
        if missing := PEER_UPDATES[update["type"]] - update.keys():
            yield f"{update['type']} lacks {sorted(missing)}"
        return
    name = _definitions(schema).get((method, part))
    if name is None:
        yield f"{method} has no {part} in the schema"
        return
    for error in _validator(schema, name).iter_errors(value):
        yield f"{method} {part} at {list(error.absolute_path)}: {error.message[:300]}"


class WireLaws:
    """Checks both directions of one connection."""

    def __init__(self, schema: str = STABLE) -> None:
        self._schema = schema
        self.faults: list[str] = []
        self.frames: list[tuple[str, Json]] = []
        self.capabilities: Json = {}
        self._asked: dict[object, tuple[str, Json]] = {}
        self.follow_boards: set[str] = set()
        """Sessions whose plan is a board: it changes whenever the board does."""
        self._sessions: set[str] = set()
        self._firsts: dict[str, str] = {}
        self._cards: dict[str, dict[str, str]] = {}
        self._beside: set[tuple[str, object]] = set()
        self._compactions = CompactionLaws()
        self._calls = CallLaws()

    def watch_sent(self, frame: Json) -> None:
        """Process a frame that the editor sends."""
        self.frames.append(("editor", frame))
        if "id" in frame and "method" in frame:
            self._asked[frame["id"]] = (frame["method"], cast(Json, frame.get("params") or {}))

    def watch_received(self, frame: Json) -> None:
        """Process a frame that the agent sends."""
        self.frames.append(("agent", frame))
        if frame.get("jsonrpc") != "2.0":
            self._fault(f"not JSON-RPC 2.0: {frame}")
        if "error" in frame:
            self._watch_error(frame["error"])
        if "method" in frame:
            self._watch_call(frame["method"], frame.get("params"))
        elif frame.get("id") is not None:
            self._watch_answer(frame)

    def _fault(self, text: str) -> None:
        self.faults.append(f"frame {len(self.frames)}: {text}")

    def _watch_error(self, error: Json) -> None:
        """Check that an error has a stable name, and that one about a missing session does not say which."""
        data: Any = error.get("data")
        said = cast(Json, data) if isinstance(data, dict) else {}
        if not (isinstance(name := said.get("code"), str) and STABLE_NAME.fullmatch(name)):
            self._fault(f"an error without a stable name in its data: {error}")
        if error.get("code") == NOT_FOUND and not isinstance(said.get("sessionId"), str):
            self._fault(f"a session is not found, and not named: {error}")

    def _watch_call(self, method: str, params: Any) -> None:
        for fault in schema_faults(method, "params", params, self._schema):
            self._fault(fault)
        if method == "elicitation/create":
            needed: tuple[str, ...] | None = ("elicitation", params["mode"])
        else:
            needed = NEEDS.get(method) or NEEDS.get(method.partition("/")[0])
        value: Any = self.capabilities
        for key in needed or ():
            value = cast(Json, value).get(key) if isinstance(value, dict) else None
        if needed and (value is None or value is False):
            self._fault(f"{method} was called and never announced")
        if method == "session/request_permission" and not self._schema.startswith("v2"):
            for fault in self._calls.watch_question(params["sessionId"], params["toolCall"]):
                self._fault(fault)
        if method == "session/update" and "type" not in params["update"]:
            if not self._schema.startswith("v2"):
                for fault in self._calls.watch(params["sessionId"], params["update"]):
                    self._fault(fault)
            self._watch_child(params["sessionId"], params["update"])
            self._watch_update(params["sessionId"], params["update"])
            self._watch_compaction(params["sessionId"], params["update"])

    def _watch_child(self, session_id: str, update: Json) -> None:
        """Check that a child agent's session exists only from its announcement on, within its parent's request."""
        if update["sessionUpdate"] not in ("subagent_update", "session_message", "session_message_chunk"):
            return
        if self.capabilities.get("subagents") is None:
            self._fault(f"{update['sessionUpdate']} to a client that does not take it")
        if update["sessionUpdate"] == "subagent_update":
            child = update["sessionId"]
            state: Json = update.get("state") or {}
            if "error" in state:
                self._watch_error(state["error"])
            self._sessions.add(child)
            self._firsts[child] = self._firsts.get(session_id, session_id)

    def _watch_compaction(self, session_id: str, update: Json) -> None:
        asked = {method for method, params in self._asked.values() if params.get("sessionId") == session_id}
        announced: Json = self.capabilities.get("session") or {}
        taken = self._schema.startswith("v2") or announced.get("compaction") is not None
        is_replay = bool(asked & REPLAYING)
        for fault in self._compactions.watch(session_id, update, is_taken=taken, is_replay=is_replay):
            self._fault(fault)

    def _watch_update(self, session_id: str, update: Json) -> None:
        kind = update["sessionUpdate"]
        asked_of = self._firsts.get(session_id, session_id)
        running = {m for m, p in self._asked.values() if p.get("sessionId") in (asked_of, session_id)}
        if session_id not in self._sessions and not running & REPLAYING:
            self._fault(f"{kind} for {session_id} before its session was answered")
        is_beside = self._is_beside(session_id, update)
        if kind in OF_A_TURN and not (is_beside or running & {"session/prompt", *REPLAYING}):
            self._fault(f"{kind} for {session_id} while nothing of it was asked for")
        cards = self._cards.setdefault(session_id, {})
        if kind == "tool_call":
            cards[update["toolCallId"]] = update["status"]
        elif kind == "tool_call_update":
            if update["toolCallId"] not in cards:
                self._fault(f"an update of the card {update['toolCallId']} that was never shown")
            if cards.get(update["toolCallId"]) in ("completed", "failed"):
                self._fault(f"an update of the card {update['toolCallId']} after its end")
            cards[update["toolCallId"]] = update.get("status") or cards.get(update["toolCallId"], "pending")

    def _is_beside(self, session_id: str, update: Json) -> bool:
        """Return whether an update is outside the conversation: from a reflection, or about the plan of a board."""
        if update["sessionUpdate"] == "plan" and session_id in self.follow_boards:
            return True
        if update["sessionUpdate"] not in ("tool_call", "tool_call_update"):
            return False
        meta = cast(Json, update.get("_meta") or {})
        own = cast(Json, meta.get("hermes") or {})
        if update.get("name") == "look_back" or (session_id, own.get("within")) in self._beside:
            self._beside.add((session_id, update["toolCallId"]))
        return (session_id, update["toolCallId"]) in self._beside

    def _watch_answer(self, frame: Json) -> None:
        if frame["id"] not in self._asked:
            self._fault(f"an answer to nothing: {frame}")
            return
        method, params = self._asked.pop(frame["id"])
        if "result" in frame:
            for fault in schema_faults(method, "result", frame["result"], self._schema):
                self._fault(fault)
            result = cast(Json, frame["result"] or {})
            self._sessions.add(str(result.get("sessionId") or params.get("sessionId")))
        if method in ("session/prompt", "session/load"):
            self._check_cards(str(params.get("sessionId")))

    def _check_cards(self, session_id: str) -> None:
        """Check that every card is closed when a session's last running prompt is answered."""
        if any(p.get("sessionId") == session_id for _, p in self._asked.values()):
            return
        for fault in self._compactions.left_open(session_id):
            self._fault(fault)
        children = [child for child, first in self._firsts.items() if first == session_id]
        for each in (session_id, *children):
            for card, status in self._cards.get(each, {}).items():
                if status not in ("completed", "failed") and (each, card) not in self._beside:
                    self._fault(f"the card {card} was left {status}")
