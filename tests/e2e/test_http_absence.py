"""Connections whose client is gone: how long they are kept, and what waits for the client."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from starlette.types import Message

from hermes_acp.app.app import App
from hermes_acp.config.environment import environment_of
from hermes_acp.frontends.acp.http.detachable_transport import BufferLimits, DetachableTransport
from hermes_acp.frontends.acp.http.event_stream import send_events
from hermes_acp.frontends.acp.http.outbox import BufferAccount, Outbox
from hermes_acp.frontends.acp.http.remote_clients import (
    RemoteClient,
    RemoteClients,
    ServerLimits,
    TooManyClients,
)
from hermes_protocol.errors import PeerGone

pytestmark = pytest.mark.anyio

SOON = 0.02
LONG = 600.0
HELLO = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}'


@asynccontextmanager
async def registry(
    tmp_path: Path, *, absence_s: float = LONG, greeting_s: float = LONG
) -> AsyncGenerator[RemoteClients]:
    app = App(environment_of({"HOME": str(tmp_path)}))
    waits = ServerLimits(absence_s=absence_s, greeting_s=greeting_s, connections=2)
    async with anyio.create_task_group() as tasks:
        clients = RemoteClients(app, tasks, waits)
        yield clients
        with anyio.fail_after(60):
            await clients.stop()
        with pytest.raises(TooManyClients):
            clients.begin("http")
    await app.aclose()


async def ended(clients: RemoteClients, remote_client: RemoteClient) -> None:
    with anyio.fail_after(60):
        while clients.find(remote_client.id):
            await anyio.lowlevel.checkpoint()


async def greet(remote_client: RemoteClient) -> None:
    reader = remote_client.transport.outbox(None).open(None)
    await remote_client.transport.deliver(HELLO)
    with anyio.fail_after(60):
        assert await reader.take()
    reader.close()


async def test_a_connection_without_a_greeting_is_dropped(tmp_path: Path) -> None:
    async with registry(tmp_path, greeting_s=SOON) as clients:
        remote_client = clients.begin("websocket")
        remote_client.arrive()
        await ended(clients, remote_client)
        with pytest.raises(PeerGone):
            await remote_client.transport.deliver(HELLO)


async def test_the_connection_of_an_absent_client_is_dropped(tmp_path: Path) -> None:
    async with registry(tmp_path, absence_s=SOON) as clients:
        remote_client = clients.begin("http")
        remote_client.arrive()
        await remote_client.transport.deliver(HELLO)
        remote_client.leave()
        await ended(clients, remote_client)


async def test_the_connection_of_a_silent_client_is_kept(tmp_path: Path) -> None:
    async with registry(tmp_path, absence_s=SOON) as clients:
        present, absent = clients.begin("websocket"), clients.begin("websocket")
        present.arrive()
        await greet(present)
        await ended(clients, absent)
        assert clients.find(present.id) is present


async def test_a_connection_that_cannot_be_resumed_ends_at_once(tmp_path: Path) -> None:
    async with registry(tmp_path) as clients:
        remote_client = clients.begin("websocket")
        remote_client.arrive()
        await greet(remote_client)
        remote_client.leave()
        await ended(clients, remote_client)


async def test_the_number_of_connections_is_limited(tmp_path: Path) -> None:
    async with registry(tmp_path) as clients:
        first, _ = clients.begin("http"), clients.begin("http")
        with pytest.raises(TooManyClients):
            clients.begin("http")
        first.end_soon()
        await ended(clients, first)
        assert clients.begin("http")


async def test_a_connection_buffers_no_more_than_its_limit_while_nobody_reads() -> None:
    transport = DetachableTransport(None, BufferLimits(incoming_bytes=10, unsent_bytes=10, kept_bytes=10))
    with anyio.fail_after(60):
        await transport.send(b"1234\n")
    with anyio.move_on_after(SOON) as full:
        await transport.send(b"56789012\n")
    assert full.cancelled_caught
    await transport.deliver(b"a\nb")
    with anyio.move_on_after(SOON) as crowded:
        await transport.deliver(b"0123456789")
    assert crowded.cancelled_caught
    assert await transport.receive() == b"a b\n"
    reader = transport.outbox(None).open(None)
    batch = await reader.take()
    assert [message.frame for message in batch] == [b"1234", b"56789012"]
    reader.confirm(batch)
    with anyio.fail_after(60):
        await transport.send(b"1\n")
    await transport.aclose()
    assert await transport.receive() == b""
    with pytest.raises(PeerGone):
        await transport.send(b"2\n")


async def test_a_client_that_reads_nothing_loses_its_stream_but_no_message() -> None:
    outbox = Outbox(BufferAccount(1000, 1000))
    outbox.put(b"{}")

    async def stall(message: Message) -> None:
        await anyio.sleep_forever()

    with anyio.fail_after(60):
        await send_events(outbox.open(None), stall, keepalive_s=LONG, stall_s=SOON)
    written: list[bytes] = []

    async def write(message: Message) -> None:
        written.append(message["body"])

    outbox.finish()
    with anyio.fail_after(60):
        await send_events(outbox.open(None), write, keepalive_s=LONG, stall_s=LONG)
    assert written == [b"id: 1\ndata: {}\n\n"]


async def test_a_silent_stream_is_kept_alive() -> None:
    outbox = Outbox(BufferAccount(1000, 1000))
    written: list[bytes] = []

    async def write(message: Message) -> None:
        written.append(message["body"])
        outbox.finish()

    with anyio.fail_after(60):
        await send_events(outbox.open(None), write, keepalive_s=SOON, stall_s=LONG)
    assert written == [b":\n\n"]
