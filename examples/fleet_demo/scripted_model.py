"""A model server that works on the demo's cards: it writes a card's file, then reports that."""

import json
import re
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

PART: Final = re.compile(r"part_\d+\.py")
WORD_PAUSE_S: Final = 0.1
WORDS: Final = "I read the card, and write the module that it asks for, with a function of the same name."


@contextmanager
def scripted_model() -> Generator[str]:
    """Serve on a free local port for the duration of the block; yield the base URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Player) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


class _Player(BaseHTTPRequestHandler):
    def do_POST(self) -> None:  # http.server requires this name
        """Write the card's file or, after that, report it."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        messages: list[dict[str, Any]] = request["messages"]
        said = " ".join(json.dumps(each["content"]) for each in messages if each["role"] == "user")
        found = PART.search(said)
        is_written = any(each["role"] == "tool" for each in messages)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if found and not is_written:
            for word in WORDS.split():
                self._send({"role": "assistant", "content": f"{word} "})
                time.sleep(WORD_PAUSE_S)
            name = found[0].removesuffix(".py")
            content = f'"""Part of the demo."""\n\n\ndef {name}() -> str:\n    return "{name}"\n'
            arguments = json.dumps({"path": found[0], "content": content})
            call = {"index": 0, "id": "call_0", "type": "function"}
            self._send({"tool_calls": [{**call, "function": {"name": "write_file", "arguments": arguments}}]})
            self._send({}, "tool_calls")
        else:
            self._send({"role": "assistant", "content": "The module is written."})
            self._send({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def do_GET(self) -> None:  # http.server requires this name
        """Return the list with the one model."""
        self.send_response(200 if self.path.endswith("/models") else 404)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"object": "list", "data": [{"id": "scripted", "object": "model"}]}')

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing."""

    def _send(self, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        event = {
            "id": "scripted",
            "object": "chat.completion.chunk",
            "model": "scripted",
            "choices": [choice],
        }
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()
