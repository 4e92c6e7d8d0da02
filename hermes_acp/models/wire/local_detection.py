"""Detect a local model server by probing the usual ports, each with one small HTTP request."""

import itertools
from collections.abc import Sequence
from typing import Final

import anyio
import msgspec
from msgspec import Struct

LOCAL_PORTS: Final = (("Ollama", 11434), ("llama.cpp", 8080), ("vLLM", 8000), ("LM Studio", 1234))
_BOUND_S = 0.5
_ANSWER_LIMIT_BYTES = 1024 * 1024


class DetectedServer(Struct, frozen=True):
    """A server that uses OpenAI's format, and the first model that it offers."""

    name: str
    base_url: str
    model: str


class _Model(Struct, frozen=True):
    id: str


class _Listing(Struct, frozen=True):
    data: list[_Model]


async def detect_local(
    ports: Sequence[tuple[str, int]] = LOCAL_PORTS, bound_s: float = _BOUND_S
) -> DetectedServer | None:
    """Probe all ports at once; of the servers that list a model, return the one whose port comes first in `ports`."""
    found: dict[int, DetectedServer | None] = {}

    def best() -> DetectedServer | None:
        """Return the first server found once all ports before it have answered or failed."""
        heard = itertools.takewhile(lambda place: place[1] in found, ports)
        return next((found[port] for _, port in heard if found[port] is not None), None)

    async def ask(name: str, port: int, scope: anyio.CancelScope) -> None:
        model = await _ask_first_model(port)
        found[port] = None if model is None else DetectedServer(name, f"http://127.0.0.1:{port}/v1", model)
        if best() is not None:
            scope.cancel()

    with anyio.move_on_after(bound_s):
        async with anyio.create_task_group() as tasks:
            for name, port in ports:
                tasks.start_soon(ask, name, port, tasks.cancel_scope)
    return next((found[port] for _, port in ports if found.get(port) is not None), None)


async def _ask_first_model(port: int) -> str | None:
    """Return the first model at a port, or None unless the answer is a list that contains a model."""
    answer = bytearray()
    try:
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            head = f"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n"
            await stream.send(f"{head}Connection: close\r\n\r\n".encode())
            async for part in stream:
                answer += part
                if len(answer) > _ANSWER_LIMIT_BYTES:
                    return None
                if (model := read_first_model(bytes(answer))) is not None:
                    return model
    except (OSError, anyio.BrokenResourceError):
        return None
    return read_first_model(bytes(answer))


def read_first_model(answer: bytes) -> str | None:
    """Return the name of the first model in an HTTP response, or None if it is incomplete or something else."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *fields = head.split(b"\r\n")
    if not status.startswith((b"HTTP/1.1 200", b"HTTP/1.0 200")):
        return None
    if any(field.lower().replace(b" ", b"") == b"transfer-encoding:chunked" for field in fields):
        body = _join_chunks(body)
    try:
        models = msgspec.json.decode(body, type=_Listing).data
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return models[0].id if models else None


def _join_chunks(body: bytes) -> bytes:
    joined = bytearray()
    while body:
        size, _, body = body.partition(b"\r\n")
        try:
            size_bytes = int(size.partition(b";")[0], 16)
        except ValueError:
            break
        joined += body[:size_bytes]
        body = body[size_bytes + 2 :]
    return bytes(joined)
