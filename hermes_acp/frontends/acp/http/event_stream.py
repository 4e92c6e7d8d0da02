"""Send the messages of an outbox as server-sent events.

Source: HTML standard, section 9.2.
"""

from collections.abc import Mapping

import anyio
from starlette.types import Receive, Send

from hermes_acp.frontends.acp.http.outbox import NumberedMessage, OutboxReader

COMMENT = b":\n\n"


async def send_events(reader: OutboxReader, send: Send, *, keepalive_s: float, stall_s: float) -> None:
    """Write messages until the outbox ends, another stream takes over, or the client reads nothing for `stall_s`."""
    while True:
        batch: list[NumberedMessage] | None = None
        with anyio.move_on_after(keepalive_s):
            batch = await reader.take()
        if batch == []:
            return
        data = COMMENT if batch is None else b"".join(_event(message) for message in batch)
        with anyio.move_on_after(stall_s) as server_limits:
            await send({"type": "http.response.body", "body": data, "more_body": True})
        if server_limits.cancelled_caught:
            return
        if batch:
            reader.confirm(batch)


async def respond_with_events(
    reader: OutboxReader,
    receive: Receive,
    send: Send,
    *,
    headers: Mapping[str, str],
    keepalive_s: float,
    stall_s: float,
) -> None:
    """Answer a GET with the stream, until the client disconnects."""
    lines = {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
        **headers,
    }
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in lines.items()]
    await send({"type": "http.response.start", "status": 200, "headers": raw})
    await send({"type": "http.response.body", "body": COMMENT, "more_body": True})
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        await send_events(reader, send, keepalive_s=keepalive_s, stall_s=stall_s)
        tasks.cancel_scope.cancel()
    with anyio.move_on_after(stall_s):
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _event(message: NumberedMessage) -> bytes:
    return b"id: %d\ndata: %b\n\n" % (message.number, message.frame)
