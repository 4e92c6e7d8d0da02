"""A scripted model for one trial turn: an OpenAI chat completions endpoint that reads one file and quotes it.

It listens only on this machine, while the trial runs.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import msgspec
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream
from msgspec import Struct

MODEL: Final = "scripted"
CALL_ID: Final = "call_1"
READ_TOOL: Final = "read_file"
MAX_HEAD_BYTES: Final = 1 << 16
MAX_BODY_BYTES: Final = 16 << 20


class _Function(Struct, frozen=True):
    name: str = ""


class _Tool(Struct, frozen=True):
    function: _Function = _Function()


class _Part(Struct, frozen=True):
    text: str = ""


class _Message(Struct, frozen=True):
    role: str
    content: str | list[_Part] | None = None

    def text(self) -> str:
        parts = self.content if isinstance(self.content, list) else ()
        return "".join(part.text for part in parts) if parts else str(self.content or "")


class _Request(Struct, frozen=True):
    messages: list[_Message]
    tools: list[_Tool] | None = None
    stream: bool | None = None


class ScriptedEndpoint:
    """Answers every prompt with a call that reads `file`, and every result with the result's text."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.port = 0
        self.results = 0
        """The number of call results received."""

    @property
    def base_url(self) -> str:
        """The address for the settings of a provider."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, stream: SocketStream) -> None:
        """Answer one request and close the connection."""
        async with stream:
            try:
                body = await _read_request(BufferedByteReceiveStream(stream))
                await stream.send(_response(self._answer(body)))
            except (
                anyio.EndOfStream,
                anyio.IncompleteRead,
                anyio.DelimiterNotFound,
                anyio.BrokenResourceError,
            ):
                return  # the client disconnected
            except (msgspec.DecodeError, ValueError, IndexError):
                await stream.send(
                    b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                )

    def _answer(self, body: bytes) -> tuple[str, bytes]:
        if not body:
            listed = {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
            return "application/json", msgspec.json.encode(listed)
        request = msgspec.json.decode(body, type=_Request)
        offered = [each.function.name for each in request.tools or ()]
        last = request.messages[-1]
        if last.role == "tool":
            self.results += 1
            return _completion(request, {"content": last.text()}, "stop")
        if READ_TOOL not in offered:
            return _completion(request, {"content": MODEL}, "stop")
        arguments = msgspec.json.encode({"path": self._file}).decode()
        call = {"id": CALL_ID, "type": "function", "function": {"name": READ_TOOL, "arguments": arguments}}
        return _completion(request, {"tool_calls": [{"index": 0, **call}]}, "tool_calls")


@asynccontextmanager
async def scripted_endpoint(file: str) -> AsyncGenerator[ScriptedEndpoint]:
    """Serve a model that reads `file` on a free local port."""
    endpoint = ScriptedEndpoint(file)
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0) as listener,
        anyio.create_task_group() as tasks,
    ):
        endpoint.port = listener.extra(SocketAttribute.local_port)
        tasks.start_soon(listener.serve, endpoint.serve)
        yield endpoint
        tasks.cancel_scope.cancel()


async def _read_request(stream: BufferedByteReceiveStream) -> bytes:
    """Return the body of a request, which is empty for the list of models."""
    head = (await stream.receive_until(b"\r\n\r\n", MAX_HEAD_BYTES)).decode("latin-1").lower()
    fields = dict(line.split(":", 1) for line in head.split("\r\n")[1:] if ":" in line)
    size = int(fields.get("content-length", "0"))
    if not 0 <= size <= MAX_BODY_BYTES:
        raise ValueError(size)
    return await stream.receive_exactly(size)


def _completion(request: _Request, message: dict[str, Any], reason: str) -> tuple[str, bytes]:
    """Return a reply as one completion, or as a stream of chunks if the request asks for one."""
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    base = {"id": "chatcmpl-trial", "created": 0, "model": MODEL}
    message = {"role": "assistant", **message}
    if not request.stream:
        choice = {"index": 0, "message": message, "finish_reason": reason}
        whole = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
        return "application/json", msgspec.json.encode(whole)
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {"choices": [], "usage": usage},
    ]
    lines = [
        b"data: " + msgspec.json.encode({**base, "object": "chat.completion.chunk", **each}) + b"\n\n"
        for each in chunks
    ]
    return "text/event-stream", b"".join([*lines, b"data: [DONE]\n\n"])


def _response(answer: tuple[str, bytes]) -> bytes:
    kind, content = answer
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    return head.encode() + content
