"""A model server that plays a recording as chat completions, streamed word by word.

The reply is chosen by the number of model messages in the conversation that it receives.
"""

import json
import re
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Final

RECORDING: Final = Path(__file__).with_name("recording.json")
WORD_PAUSE_S: Final = 0.02


@contextmanager
def recorded_model() -> Generator[str]:
    """Serve the recording on a free port of this machine for the duration of the block; yield the base URL."""
    replies = json.loads(RECORDING.read_text(encoding="utf-8"))["replies"]
    handler = type("Player", (_Player,), {"replies": replies})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


class _Player(BaseHTTPRequestHandler):
    replies: ClassVar[list[dict[str, Any]]]

    def do_POST(self) -> None:  # http.server requires this name
        """Play the next reply."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        number = sum(message["role"] == "assistant" for message in request["messages"])
        if number >= len(self.replies):
            self._send_head(400, "application/json")
            self.wfile.write(b'{"error": {"message": "the recording has no further reply"}}')
            return
        self._send_head(200, "text/event-stream")
        for delta in _deltas(self.replies[number], number):
            self._send_event({"index": 0, "delta": delta, "finish_reason": None})
            time.sleep(WORD_PAUSE_S)
        finish = "tool_calls" if self.replies[number]["calls"] else "stop"
        self._send_event({"index": 0, "delta": {}, "finish_reason": finish})
        self.wfile.write(b"data: [DONE]\n\n")

    def do_GET(self) -> None:  # http.server requires this name
        """Return the list with the one model."""
        self._send_head(200 if self.path.endswith("/models") else 404, "application/json")
        self.wfile.write(b'{"object": "list", "data": [{"id": "recording", "object": "model"}]}')

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing, because the demo's screen shows what matters."""

    def _send_head(self, status: int, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.end_headers()

    def _send_event(self, choice: dict[str, Any]) -> None:
        event = {
            "id": "recording",
            "object": "chat.completion.chunk",
            "model": "recording",
            "choices": [choice],
        }
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()


def _deltas(reply: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    for word in re.findall(r"\S+\s*", reply["text"]):
        yield {"role": "assistant", "content": word}
    for index, call in enumerate(reply["calls"]):
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        entry = {"index": index, "id": f"call_{number}_{index}", "type": "function", "function": function}
        yield {"tool_calls": [entry]}
