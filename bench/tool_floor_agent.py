"""A minimal agent with one tool, as a floor: only the standard library, one thread, no safety checks, no record."""

import http.client
import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


def send(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def show(session_update: str, **fields: object) -> None:
    update = {"sessionUpdate": session_update, **fields}
    send({"method": "session/update", "params": {"sessionId": "s", "update": update}})


def ask(messages: list[Any]) -> dict[str, Any]:
    """Stream one answer from the model and return all of it."""
    base = urlsplit(os.environ["OPENAI_BASE_URL"])
    connection = http.client.HTTPConnection(base.hostname or "", base.port)
    body = json.dumps({"model": "m", "stream": True, "messages": messages})
    connection.request("POST", f"{base.path}/chat/completions", body, {"Content-Type": "application/json"})
    answer: dict[str, Any] = {"role": "assistant", "content": ""}
    for line in connection.getresponse():
        for choice in json.loads(line[6:])["choices"] if line.startswith(b"data: {") else ():
            if words := choice["delta"].get("content"):
                answer["content"] += words
                show("agent_message_chunk", content={"type": "text", "text": words})
            for piece in choice["delta"].get("tool_calls", ()):
                calls = answer.setdefault("tool_calls", [])
                if piece.get("id"):
                    calls.append({"type": "function", "function": {"name": "", "arguments": ""}})
                    calls[-1]["id"] = piece["id"]
                for name, text in piece["function"].items():
                    calls[-1]["function"][name] += text
    return answer


def run_turn(prompt: str, cwd: str) -> None:
    messages: list[Any] = [{"role": "user", "content": prompt}]
    while True:
        messages.append(answer := ask(messages))
        if "tool_calls" not in answer:
            return
        for call in answer["tool_calls"]:
            path = Path(cwd, json.loads(call["function"]["arguments"])["path"])
            show("tool_call", toolCallId=call["id"], title=f"Read {path.name}", kind="read")
            text = path.read_text()
            show("tool_call_update", toolCallId=call["id"], status="completed", rawOutput={"text": text})
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})


def main() -> None:
    cwd = "/"
    for line in sys.stdin:
        call = json.loads(line)
        result: dict[str, object] = {"protocolVersion": 1, "agentCapabilities": {}}
        if call["method"] == "session/new":
            cwd = call["params"]["cwd"]
            result = {"sessionId": "s"}
        elif call["method"] == "session/prompt":
            run_turn(call["params"]["prompt"][0]["text"], cwd)
            result = {"stopReason": "end_turn"}
        send({"id": call["id"], "result": result})


main()
