"""Connections that block the server: half-open requests, too many connections, clients that do not read."""

from __future__ import annotations

import re
import signal
import socket
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest

from hermes_acp.frontends.acp.http.http_server import http_config, run_http_server
from hermes_acp.frontends.acp.http.listener import MAX_CLOSING, ConnectionLimits, Connections, Listener
from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment
from tests.e2e.http_serving import BEARER, GREETING, Serving, serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="limits are POSIX"),
]
HELLO: dict[str, Any] = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": GREETING}
HALF = b"POST /acp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
FEW_DESCRIPTORS = ("/bin/sh", "-c", 'ulimit -n 256; exec "$0" "$@"')


def knock(server: Serving, open_ones: ExitStack, data: bytes = HALF) -> socket.socket:
    place = urlsplit(server.url)
    connection = socket.create_connection((place.hostname or "", place.port or 0), timeout=WAIT_S)
    open_ones.callback(connection.close)
    connection.sendall(data)
    return connection


def read_to_the_end(connection: socket.socket) -> None:
    while connection.recv(1 << 16):
        pass


async def greet(server: Serving) -> None:
    async with httpx2.AsyncClient(timeout=WAIT_S) as http:
        assert (await http.post(server.url, json=HELLO, headers=BEARER)).status_code == 200


@pytest.mark.parametrize("data", [HALF, b"", b"\x16\x03\x01"], ids=["headers", "nothing", "no HTTP"])
async def test_300_half_open_requests_do_not_keep_others_out(tmp_path: Path, data: bytes) -> None:
    async with serving(agent_environment(tmp_path), tmp_path, before=FEW_DESCRIPTORS) as server:
        with ExitStack() as open_ones:
            await anyio.to_thread.run_sync(lambda: [knock(server, open_ones, data) for _ in range(300)])
            await greet(server)
            await anyio.to_thread.run_sync(lambda: [knock(server, open_ones, data) for _ in range(100)])
            await greet(server)
        assert server.errors.count("out of system resource") == 0


@pytest.fixture
def listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


async def no_request_comes(scope: Any, receive: Any, send: Any) -> None:
    assert scope["type"] == "lifespan"


async def test_a_half_open_request_is_ended_after_a_time(listening: socket.socket) -> None:
    bugs: list[BaseException] = []
    connections = Connections(ConnectionLimits(total=3, a_peer=3, silent=3))
    with Listener.taking_over(listening, connections) as listener, ExitStack() as held:
        config = http_config(listener, lambda error, where: bugs.append(error), idle_s=0.5)
        stopping, closed = anyio.Event(), anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_http_server, no_request_comes, config, stopping, closed)
            half = held.enter_context(socket.create_connection(listener.getsockname(), timeout=WAIT_S))
            half.sendall(HALF)
            assert await anyio.to_thread.run_sync(half.recv, 1) == b""
            stopping.set()
            await closed.wait()
    assert bugs == []


def test_beyond_the_limit_connections_are_rejected_until_others_close(listening: socket.socket) -> None:
    connections = Connections(ConnectionLimits(total=3, a_peer=2, silent=3))
    with Listener.taking_over(listening, connections) as listener, ExitStack() as clients:
        listener.setblocking(True)

        def knock() -> socket.socket:
            return clients.enter_context(socket.create_connection(listener.getsockname(), timeout=WAIT_S))

        accepted: list[socket.socket] = []
        for _ in range(2):
            knock()
            connection, peer = listener.accept()
            connections.note_request(peer)
            accepted.append(connection)
        third = knock()
        with pytest.raises(ConnectionAbortedError):
            listener.accept()
        assert third.recv(100).startswith(b"HTTP/1.1 503 ")
        accepted.pop().close()
        knock()
        accepted.append(listener.accept()[0])
        for connection in accepted:
            connection.close()


def test_the_oldest_silent_connection_is_closed(listening: socket.socket) -> None:
    connections = Connections(ConnectionLimits(total=10, a_peer=10, silent=2))
    with Listener.taking_over(listening, connections) as listener, ExitStack() as held:
        listener.setblocking(True)
        clients = [
            held.enter_context(socket.create_connection(listener.getsockname(), timeout=WAIT_S))
            for _ in range(4)
        ]
        first, peer = listener.accept()
        held.enter_context(first)
        connections.note_request(peer)
        for _ in range(3):
            held.enter_context(listener.accept()[0])
        assert clients[1].recv(1) == b""
        for spoken in (clients[0], clients[2], clients[3]):
            spoken.setblocking(False)
            with pytest.raises(BlockingIOError):
                spoken.recv(1)


@pytest.mark.parametrize("data", [b"", HALF, b"\x16\x03\x01"], ids=["nothing", "headers", "no HTTP"])
def test_a_client_that_leaves_before_its_headers_end_is_closed_at_once(
    listening: socket.socket, data: bytes
) -> None:
    connections = Connections(ConnectionLimits(total=3, a_peer=3, silent=3))
    with Listener.taking_over(listening, connections) as listener:
        listener.setblocking(True)
        with socket.create_connection(listener.getsockname(), timeout=WAIT_S) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            connection, _ = listener.accept()
            connection.setblocking(True)
            with connection, pytest.raises(ConnectionResetError):
                read_to_the_end(connection)


def test_a_client_that_closes_only_its_sending_half_is_answered(listening: socket.socket) -> None:
    connections = Connections(ConnectionLimits(total=3, a_peer=3, silent=3))
    with Listener.taking_over(listening, connections) as listener, ExitStack() as held:
        listener.setblocking(True)
        client = held.enter_context(socket.create_connection(listener.getsockname(), timeout=WAIT_S))
        connection = held.enter_context(listener.accept()[0])
        connection.setblocking(True)
        for piece in (HALF, b"\r", b"\n"):  # The end of the headers comes in parts.
            client.sendall(piece)
            assert connection.recv(1 << 16)
        client.shutdown(socket.SHUT_WR)
        assert connection.recv(1 << 16) == b""


def test_while_many_closed_connections_linger_new_ones_are_rejected_without_busy_waiting(
    listening: socket.socket,
) -> None:
    connections = Connections(ConnectionLimits(total=100, a_peer=100, silent=1))
    with Listener.taking_over(listening, connections) as listener, ExitStack() as held:
        listener.setblocking(True)

        def knock() -> socket.socket:
            return held.enter_context(socket.create_connection(listener.getsockname(), timeout=WAIT_S))

        for _ in range(MAX_CLOSING + 1):
            client = knock()
            client.sendall(HALF + b"\r\n")
            client.shutdown(socket.SHUT_WR)
            connection = held.enter_context(listener.accept()[0])
            connection.setblocking(True)
            read_to_the_end(connection)
        late = knock()
        with pytest.raises(ConnectionAbortedError):
            listener.accept()
        assert late.recv(100).startswith(b"HTTP/1.1 503 ")


def test_a_request_that_the_server_has_not_read_yet_is_not_displaced_by_new_ones(
    listening: socket.socket,
) -> None:
    connections = Connections(ConnectionLimits(total=10, a_peer=10, silent=2))
    with Listener.taking_over(listening, connections) as listener, ExitStack() as held:
        listener.setblocking(True)
        clients: list[socket.socket] = []
        for data in (HALF + b"\r\n", b"", b""):
            client = held.enter_context(socket.create_connection(listener.getsockname(), timeout=WAIT_S))
            client.sendall(data)
            clients.append(client)
            held.enter_context(listener.accept()[0])
        assert clients[1].recv(1) == b""
        for kept in (clients[0], clients[2]):
            kept.setblocking(False)
            with pytest.raises(BlockingIOError):
                kept.recv(1)


@pytest.mark.parametrize("command", ["serve", "hub"])
@pytest.mark.parametrize(
    "data", [b"", HALF, HALF + b"content-length: 9\r\n\r\n{"], ids=["idle", "head", "body"]
)
async def test_a_server_shuts_down_quietly_with_a_thousand_half_open_connections(
    tmp_path: Path, command: str, data: bytes
) -> None:
    errors = tmp_path / "errors"
    with errors.open("wb") as output:
        process = await anyio.open_process(
            [COMMAND, command, "--listen", "127.0.0.1:0"], stderr=output, env=agent_environment(tmp_path)
        )
    async with process:
        try:
            with anyio.fail_after(WAIT_S), ExitStack() as open_ones:
                while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/acp", errors.read_text())):
                    await anyio.sleep(0.05)
                port = int(found[1])

                def knock_often() -> None:
                    for _ in range(1000):
                        one = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
                        open_ones.callback(one.close)
                        one.sendall(data)

                await anyio.to_thread.run_sync(knock_often)
                process.terminate()
                # On a busy machine, the shutdown guard may act before all connections have closed.
                assert await process.wait() in (0, 128 + signal.SIGTERM)
        finally:
            if process.returncode is None:
                process.kill()
    assert "Traceback" not in errors.read_text()
    assert len(errors.read_text().splitlines()) <= 4
