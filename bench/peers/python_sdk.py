"""The benchmark program for the official Python SDK (PyPI agent-client-protocol), in a separate environment."""

import json
import sys
import time
from typing import Any, cast

import acp
import anyio
from acp.core import AgentSideConnection, ClientSideConnection
from acp.schema import AgentMessageChunk, TextContentBlock
from acp.stdio import stdio_streams

BURST = 1000


class Listener:
    """Counts the chunks that arrive, as typed objects; a client's other methods are never called here."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.count = 0
        self.characters = 0
        self.all_arrived = anyio.Event()

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        if isinstance(update, AgentMessageChunk) and isinstance(update.content, TextContentBlock):
            self.count += 1
            self.characters += len(update.content.text)
        if self.count == self.expected:
            self.all_arrived.set()


async def send_one(connection: AgentSideConnection, number: int) -> None:
    chunk = AgentMessageChunk(
        session_update="agent_message_chunk",
        content=TextContentBlock(type="text", text=f"chunk {number} of a steady answer. "),
        message_id="message-1",
    )
    await connection.session_update("session-1", chunk)


async def send(connection: AgentSideConnection, count: int, *, is_burst: bool) -> None:
    if not is_burst:
        for number in range(count):
            await send_one(connection, number)
        return
    for start in range(0, count, BURST):
        async with anyio.create_task_group() as tasks:
            for number in range(start, min(start + BURST, count)):
                tasks.start_soon(send_one, connection, number)


async def main(mode: str, count: int) -> None:
    reader, writer = await stdio_streams(limit=acp.core.DEFAULT_STDIO_BUFFER_LIMIT_BYTES)
    listener = Listener(count)
    silent: Any = object()
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    if mode == "in":
        connection = ClientSideConnection(cast(acp.Client, listener), writer, reader)
        await listener.all_arrived.wait()
    else:
        connection = AgentSideConnection(silent, writer, reader)
        await send(connection, count, is_burst=mode == "burst")
    wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
    await connection.close()
    report = {"cpu_s": cpu_s, "wall_s": wall_s, "characters": listener.characters}
    sys.stderr.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], int(sys.argv[2]))
