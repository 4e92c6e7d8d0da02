"""A model that sends what a transcript specifies, as a local OpenAI-compatible endpoint."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .transcripts import Json

MODELS = ("scripted-large", "scripted-small")
LISTING_S = 30
"""The maximum time that a client waits for the list of models."""


class ScriptedModel(ThreadingHTTPServer):
    """The endpoint, which lists its models once `listed` is set."""

    daemon_threads = True

    def __init__(self, replies: Sequence[Json]) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.listed = threading.Event()
        self._replies = list(replies)
        self._turns = threading.Lock()

    @property
    def url(self) -> str:
        """The URL for OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def take_reply(self) -> Json | None:
        """Return the next reply, or None if there are no more."""
        with self._turns:
            return self._replies.pop(0) if self._replies else None


@contextmanager
def scripted_model(replies: Sequence[Json]) -> Generator[ScriptedModel]:
    """Serve until the end of the block."""
    with ScriptedModel(replies) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.listed.set()
            server.shutdown()
            thread.join()


class _Exchange(BaseHTTPRequestHandler):
    """One request. The method names are required by the library."""

    @property
    def _model(self) -> ScriptedModel:
        assert isinstance(self.server, ScriptedModel)
        return self.server

    def do_GET(self) -> None:
        """List the models."""
        self._model.listed.wait(LISTING_S)
        self._answer({"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]})

    def do_POST(self) -> None:
        """Send the next reply."""
        asked: Json = json.loads(self.rfile.read(int(self.headers["content-length"])))
        reply = self._model.take_reply()
        if reply is None:
            self._answer({"error": {"message": "The script of this model has ended."}}, 400)
        elif asked.get("stream"):
            self._stream(asked["model"], reply)
        else:
            message = {"role": "assistant", "content": reply.get("text")}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._answer({"id": "said", "object": "chat.completion", "created": 0, "choices": [choice]})

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing."""

    def _answer(self, body: Json, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, model: str, reply: Json) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for part in _parts(reply):
            chunk = {"id": "said", "object": "chat.completion.chunk", "created": 0, "model": model, **part}
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")


def _parts(reply: Json) -> Iterator[Json]:
    def choice(delta: Json, finish: str | None = None) -> Json:
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield choice({"role": "assistant", "content": ""})
    if "thinking" in reply:
        yield choice({"reasoning_content": reply["thinking"]})
    if "text" in reply:
        yield choice({"content": reply["text"]})
    for number, call in enumerate(reply.get("tool_calls", ())):
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        yield choice(
            {"tool_calls": [{"index": number, "id": call["id"], "type": "function", "function": function}]}
        )
    yield choice({}, "tool_calls" if "tool_calls" in reply else "stop")
    yield {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}
