"""Many WebSocket clients in a separate process: each opens a session, and prompts when told to.

It implements only the part of RFC 6455 that a load generator needs. Commands are read from standard input, one per
line; each is answered with one JSON object on standard output.
Usage: socket_clients.py PORT TOKEN FOLDER.
The commands are `open N`, `prompt` (responds once every answer has started), `late N` (opens more sessions that send
prompts one after another, and reports their times to the first word), `count` (the deltas so far) and `finish`
(responds once every turn has ended).
"""

import asyncio
import base64
import json
import os
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

AT_ONCE = 20
BETWEEN_S = 0.05
UPDATE = b'"session/update"'
DELTA = b"~"


class Client(asyncio.Protocol):
    """One WebSocket; every text frame goes to `on_text`."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._data = bytearray()
        self._is_open = False
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.lost: BaseException | None = None
        self.on_text: Callable[[bytes], None] = lambda _: None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.opened.done():
            self.opened.set_exception(RuntimeError("the socket was closed before the upgrade"))

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self._is_open:
            head, mark, rest = bytes(self._data).partition(b"\r\n\r\n")
            if not mark:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                self.opened.set_exception(RuntimeError(head.decode(errors="replace")))
                return
            self._is_open = True
            self._data = bytearray(rest)
            self.opened.set_result(None)
        while (size := len(self._data)) >= 2:
            length, start = self._data[1] & 0x7F, 2
            if length == 126 and size >= 4:
                (length,), start = struct.unpack_from(">H", self._data, 2), 4
            elif length == 127 and size >= 10:
                (length,), start = struct.unpack_from(">Q", self._data, 2), 10
            elif length > 125:
                return
            if size < start + length:
                return
            opcode, payload = self._data[0] & 0x0F, bytes(self._data[start : start + length])
            del self._data[: start + length]
            if opcode == 1:
                self.on_text(payload)
            elif opcode == 9:
                self._write(0x8A, payload)

    def send(self, message: object) -> None:
        self._write(0x81, json.dumps(message).encode())

    def _write(self, first: int, payload: bytes) -> None:
        mask = b"\0\0\0\0"  # clients must mask; a zero mask leaves the payload unchanged
        size = len(payload)
        head = (
            struct.pack(">BB", first, 0x80 | size) if size < 126 else struct.pack(">BBH", first, 0xFE, size)
        )
        self._transport.write(head + mask + payload)


class Session:
    """One client's session, and what it received."""

    def __init__(self, number: int, client: Client) -> None:
        self.number = number
        self.client = client
        self.texts: list[bytes] = []
        self.deltas = 0
        self.begun = asyncio.Event()
        self.id = ""
        self._last_id = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        client.on_text = self._take

    async def call(self, method: str, params: object) -> Any:
        self._last_id += 1
        waiting = self._waiting[self._last_id] = asyncio.get_running_loop().create_future()
        self.client.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return await waiting

    def _take(self, text: bytes) -> None:
        if UPDATE in text[:64]:
            if b"agent_message_chunk" in text:
                self.texts.append(text)
                self.deltas += text.count(DELTA)
                self.begun.set()
            return
        message = json.loads(text)
        if "method" in message:
            return
        waiting = self._waiting.pop(message["id"])
        if "error" in message:
            waiting.set_exception(RuntimeError(message["error"]))
        else:
            waiting.set_result(message["result"])

    def said(self) -> str:
        updates = [json.loads(text)["params"]["update"] for text in self.texts]
        return "".join(update["content"]["text"] for update in updates)


class Driver:
    """Carries out the commands."""

    def __init__(self, port: int, token: str, folder: str) -> None:
        self._port, self._folder = port, folder
        self._request = (
            f"GET /acp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Authorization: Bearer {token}\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n"
        ).encode()
        self._sessions: list[Session] = []
        self._turns: list[asyncio.Task[Any]] = []

    async def open(self, count: int) -> dict[str, object]:
        started_s = time.perf_counter()
        room = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with room:
                self._sessions.append(await self._connect(number))

        await asyncio.gather(*(one(len(self._sessions) + number) for number in range(count)))
        return {"opened": count, "wall_s": time.perf_counter() - started_s}

    async def _connect(self, number: int) -> Session:
        loop = asyncio.get_running_loop()
        _, client = await loop.create_connection(lambda: Client(self._request), "127.0.0.1", self._port)
        await client.opened
        session = Session(number, client)
        await session.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        session.id = (await session.call("session/new", {"cwd": self._folder, "mcpServers": []}))["sessionId"]
        return session

    async def prompt(self) -> dict[str, object]:
        for session in self._sessions:
            self._start_turn(session)
        for session in self._sessions:
            await session.begun.wait()
        return {"begun": len(self._sessions)}

    def _start_turn(self, session: Session) -> None:
        session.texts.clear()
        session.begun.clear()
        prompt = [{"type": "text", "text": f"speak {session.number}."}]
        params = {"sessionId": session.id, "prompt": prompt}
        self._turns.append(asyncio.create_task(session.call("session/prompt", params)))

    async def late(self, count: int) -> dict[str, object]:
        first = len(self._sessions)
        await self.open(count)
        waits_s: list[float] = []
        for session in self._sessions[first:]:
            await asyncio.sleep(BETWEEN_S)
            started_s = time.perf_counter()
            self._start_turn(session)
            await session.begun.wait()
            waits_s.append(time.perf_counter() - started_s)
        return {"waits_s": waits_s}

    def count(self) -> dict[str, object]:
        frames = sum(len(session.texts) for session in self._sessions)
        return {"deltas": sum(session.deltas for session in self._sessions), "frames": frames}

    async def finish(self) -> dict[str, object]:
        results = await asyncio.gather(*self._turns)
        self._turns.clear()
        frames = sum(len(session.texts) for session in self._sessions)
        return {
            "stops": sorted({result["stopReason"] for result in results}),
            "frames": frames,
            "bytes": sum(len(text) for session in self._sessions for text in session.texts),
            "said": {session.number: session.said() for session in self._sessions},
        }


async def main(port: int, token: str, folder: str) -> None:
    driver = Driver(port, token, folder)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        order, *arguments = line.split()
        match order:
            case "open":
                seen = await driver.open(int(arguments[0]))
            case "prompt":
                seen = await driver.prompt()
            case "late":
                seen = await driver.late(int(arguments[0]))
            case "count":
                seen = driver.count()
            case _:
                seen = await driver.finish()
        print(json.dumps(seen), flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
