"""A minimal agent, with only the standard library, one thread and no safety checks, as a floor for measurements."""

import json
import os
import sys


def send(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def stream(session_id: str, text: str) -> None:
    import http.client
    from urllib.parse import urlsplit

    base = urlsplit(os.environ["OPENAI_BASE_URL"])
    connection = http.client.HTTPConnection(base.hostname or "", base.port)
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": text}]})
    connection.request("POST", f"{base.path}/chat/completions", body, {"Content-Type": "application/json"})
    for line in connection.getresponse():
        if line.startswith(b"data: {"):
            for choice in json.loads(line[6:])["choices"]:
                if words := choice["delta"].get("content"):
                    chunk = {
                        "sessionUpdate": "agent_message_chunk",
                        "content": {"type": "text", "text": words},
                    }
                    send({"method": "session/update", "params": {"sessionId": session_id, "update": chunk}})


def main() -> None:
    for line in sys.stdin:
        call = json.loads(line)
        if call["method"] == "initialize":
            send({"id": call["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}}})
        elif call["method"] == "session/new":
            send({"id": call["id"], "result": {"sessionId": "s"}})
        elif call["method"] == "session/prompt":
            stream("s", call["params"]["prompt"][0]["text"])
            send({"id": call["id"], "result": {"stopReason": "end_turn"}})


main()
