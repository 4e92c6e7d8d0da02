"""The benchmark program for our own peer."""

import json
import sys
import time
from collections.abc import Awaitable

import anyio
from msgspec import Raw

from hermes_protocol import salvage, v1
from hermes_protocol.connection import Connection, IncomingRequest, Limits
from hermes_protocol.transport import StdioTransport

BURST = 1000
# With these watermarks, `drained` returns once the bytes are in the pipe.
WRITTEN = Limits(high_water_bytes=1, low_water_bytes=0)


class Listener:
    """Counts the chunks that arrive, as typed objects."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.count = 0
        self.characters = 0
        self.all_arrived = anyio.Event()

    async def request(self, call: IncomingRequest) -> object:
        raise NotImplementedError(call.method)

    def notification(self, method: str, params: Raw) -> Awaitable[None] | None:
        update = salvage.decode(v1.SessionNotification, params).update
        if isinstance(update, v1.AgentMessageChunk) and isinstance(update.content, v1.TextContent):
            self.count += 1
            self.characters += len(update.content.text)
        if self.count == self.expected:
            self.all_arrived.set()
        return None


def fail(error: BaseException, _: str) -> None:
    raise error


async def send(connection: Connection, count: int, written_every: int) -> None:
    for number in range(count):
        chunk = v1.AgentMessageChunk(
            content=v1.TextContent(text=f"chunk {number} of a steady answer. "), message_id="message-1"
        )
        connection.notify("session/update", v1.SessionNotification(session_id="session-1", update=chunk))
        if number % written_every == written_every - 1:
            await connection.drained()
    await connection.drained()


async def main(mode: str, count: int) -> None:
    listener = Listener(count)
    transport = StdioTransport(0, 1)
    connection = Connection(transport, listener, on_bug=fail, limits=WRITTEN)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(connection.run)
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        if mode == "in":
            await listener.all_arrived.wait()
        else:
            await send(connection, count, BURST if mode == "burst" else 1)
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
        report = {"cpu_s": cpu_s, "wall_s": wall_s, "characters": listener.characters}
        sys.stderr.write(json.dumps(report) + "\n")
        connection.close_soon()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], int(sys.argv[2]))
