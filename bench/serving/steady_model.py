"""A chat completions endpoint in a separate process that streams any number of answers at a steady pace.

One timer serves all streams, to keep its own cost low. The deltas of different streams are spread over the interval.
Each answer starts with one delta at once; the others follow after the command `go` on standard input, until the command
`wait`, so that many streams run together regardless of how long their turns took to start. It prints its port and exits
when its standard input is closed.
Usage: steady_model.py DELTAS INTERVAL_S
"""

import asyncio
import json
import re
import sys

TICKS = 8
NAME = re.compile(rb"speak ([0-9]+)\.")
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
MODELS = b'{"object":"list","data":[{"id":"m","object":"model","created":1,"owned_by":"bench"}]}'


def event(delta: object, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return chunked(b"data: " + json.dumps(chunk).encode() + b"\n\n")


def chunked(payload: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(payload), payload)


def words(number: int, place: int) -> str:
    """Return one delta of one stream; all deltas differ, and each contains one tilde."""
    return f"s{number}~{place} "


class Stream:
    """One answer in progress."""

    def __init__(self, transport: asyncio.Transport, number: int) -> None:
        self.transport = transport
        self.number = number
        self.sent = 0


class Model:
    """All streams, and the timer that feeds them."""

    def __init__(self, deltas: int, interval_s: float) -> None:
        self._deltas = deltas
        self._tick_s = interval_s / TICKS
        self._phases: list[list[Stream]] = [[] for _ in range(TICKS)]
        self.is_going = False

    def add(self, transport: asyncio.Transport, number: int) -> None:
        transport.write(HEAD + event({"role": "assistant", "content": ""}))
        stream = Stream(transport, number)
        self._feed(stream)
        min(self._phases, key=len).append(stream)

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        due, phase = loop.time(), 0
        while True:
            if self.is_going:
                self._phases[phase] = [stream for stream in self._phases[phase] if self._feed(stream)]
            phase = (phase + 1) % TICKS
            due += self._tick_s
            await asyncio.sleep(max(0.0, due - loop.time()))

    def _feed(self, stream: Stream) -> bool:
        if stream.transport.is_closing():
            return False
        if stream.sent < self._deltas:
            stream.transport.write(event({"content": words(stream.number, stream.sent)}))
            stream.sent += 1
            return True
        stream.transport.write(event({}, "stop") + chunked(b"data: [DONE]\n\n") + b"0\r\n\r\n")
        return False


class Http(asyncio.Protocol):
    """One client's connection, with one request at a time."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, mark, body = self._data.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: *([0-9]+)", head)
        if not mark or len(body) < (int(length[1]) if length else 0):
            return
        self._data = b""
        if head.startswith(b"POST"):
            named = NAME.findall(body)
            self._model.add(self._transport, int(named[-1]) if named else 0)
        else:
            self._transport.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
                % (len(MODELS), MODELS)
            )


async def main(deltas: int, interval_s: float) -> None:
    loop = asyncio.get_running_loop()
    model = Model(deltas, interval_s)
    server = await loop.create_server(lambda: Http(model), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    feeding = asyncio.create_task(model.run())
    while order := await loop.run_in_executor(None, sys.stdin.readline):
        model.is_going = order.strip() == "go"
    feeding.cancel()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
