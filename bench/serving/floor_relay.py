"""A floor for a streaming server: an asyncio relay from a model's stream to a WebSocket, without any record.

It handles only the upgrade, initialize, session/new and session/prompt, without limits, authentication or files. It
prints its port and exits when its standard input is closed.
Usage: floor_relay.py MODEL_PORT
"""

import asyncio
import base64
import hashlib
import json
import re
import struct
import sys
from typing import Any

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Upstream(asyncio.Protocol):
    """One answer from the model, relayed delta by delta."""

    def __init__(self, client: "Relay", call_id: object, session_id: str, body: bytes) -> None:
        self._client, self._call_id, self._session_id, self._body = client, call_id, session_id, body

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: m\r\ncontent-length: %d\r\n\r\n" % len(
            self._body
        )
        transport.write(head + self._body)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for line in data.split(b"\n"):
            if line.startswith(b"data: {"):
                for choice in json.loads(line[6:])["choices"]:
                    if text := choice["delta"].get("content"):
                        content = {"type": "text", "text": text}
                        update = {"sessionUpdate": "agent_message_chunk", "content": content}
                        params = {"sessionId": self._session_id, "update": update}
                        self._client.send({"method": "session/update", "params": params})
            elif line.startswith(b"data: [DONE]"):
                self._client.send({"id": self._call_id, "result": {"stopReason": "end_turn"}})
                self._transport.close()


class Relay(asyncio.Protocol):
    """One client's WebSocket."""

    def __init__(self, model_port: int) -> None:
        self._model_port = model_port
        self._data = bytearray()
        self._is_open = False
        self._tasks: set[asyncio.Task[Any]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self._is_open:
            key = re.search(rb"Sec-WebSocket-Key: (\S+)", self._data)
            accept = base64.b64encode(hashlib.sha1(key[1] + GUID).digest()) if key else b""
            self._transport.write(
                b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
                b"sec-websocket-accept: " + accept + b"\r\n\r\n"
            )
            self._data.clear()
            self._is_open = True
        while len(self._data) >= 6:
            size, start = self._data[1] & 0x7F, 6
            if size == 126:
                (size,), start = struct.unpack_from(">H", self._data, 2), 8
            if len(self._data) < start + size:
                return
            mask = self._data[start - 4 : start]
            masked = self._data[start : start + size]
            payload = bytes(byte ^ mask[place & 3] for place, byte in enumerate(masked))
            del self._data[: start + size]
            if payload.startswith(b"{"):
                self._serve(json.loads(payload))

    def _serve(self, call: dict[str, Any]) -> None:
        if call["method"] == "initialize":
            self.send({"id": call["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}}})
        elif call["method"] == "session/new":
            self.send({"id": call["id"], "result": {"sessionId": "s" * 32}})
        elif call["method"] == "session/prompt":
            text = call["params"]["prompt"][0]["text"]
            message = {"role": "user", "content": text}
            body = json.dumps({"model": "m", "stream": True, "messages": [message]}).encode()

            def upstream() -> Upstream:
                return Upstream(self, call["id"], call["params"]["sessionId"], body)

            loop = asyncio.get_running_loop()
            connecting = loop.create_connection(upstream, "127.0.0.1", self._model_port)
            self._tasks.add(task := asyncio.create_task(connecting))
            task.add_done_callback(self._tasks.discard)

    def send(self, message: dict[str, object]) -> None:
        payload = json.dumps({"jsonrpc": "2.0", **message}).encode()
        size = len(payload)
        head = struct.pack(">BB", 0x81, size) if size < 126 else struct.pack(">BBH", 0x81, 126, size)
        self._transport.write(head + payload)


async def main(model_port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Relay(model_port), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
