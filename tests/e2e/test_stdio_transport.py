"""The transport over standard input and output: pipes, files, terminals and sockets, with and without a reader."""

import fcntl
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest

from hermes_protocol.errors import PeerGone
from hermes_protocol.transport import SocketTransport, StdioTransport

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="descriptors are POSIX"),
]
WAIT_S = 90
PROTOCOL = Path(__file__).parents[2] / "protocol"

SERVER = r"""
from hermes_protocol.descriptors import claim
in_fd, out_fd = claim()
import os, subprocess, sys
import anyio
from hermes_protocol.connection import Connection
from hermes_protocol.transport import StdioTransport

class Echo:
    async def request(self, call):
        if call.method == "stray":
            print("stray print", flush=True)
            os.write(1, b"stray write\n")
            subprocess.run(["sh", "-c", "echo stray child; cat"], check=True)
            return sys.stdin.read()
        if call.method == "stream":
            while True:
                connection.notify("update", "x" * 1000)
                await connection.drained()
        if call.method == "wait":
            connection.notify("waiting", {})
            await anyio.sleep_forever()
        return call.params

    def notification(self, method, params):
        return None

def on_bug(error, trace):
    raise error

async def main():
    global connection
    connection = Connection(StdioTransport(in_fd, out_fd), Echo(), on_bug=on_bug)
    await connection.run()
    print("ended in order", file=sys.stderr, flush=True)

anyio.run(main)
"""


def call(call_id: int, method: str, params: object = None) -> bytes:
    message: dict[str, object] = {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params or []}
    return json.dumps(message).encode() + b"\n"


class Child:
    def __init__(self, process: anyio.abc.Process) -> None:
        self.process = process
        self._buffer = bytearray()

    async def send(self, data: bytes) -> None:
        assert self.process.stdin
        await self.process.stdin.send(data)

    async def read(self) -> Any:
        assert self.process.stdout
        while b"\n" not in self._buffer:
            self._buffer += await self.process.stdout.receive()
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer[:] = rest
        return json.loads(line)

    async def finish(self) -> tuple[int, bytes]:
        """Close the child's input and return its exit code and its standard error."""
        assert self.process.stdin
        await self.process.stdin.aclose()
        errors = b""
        if self.process.stderr:
            async for data in self.process.stderr:
                errors += data
        return await self.process.wait(), errors


@asynccontextmanager
async def child(**options: Any) -> AsyncGenerator[Child]:
    command = [sys.executable, "-c", SERVER]
    environment = {**os.environ, "PYTHONPATH": str(PROTOCOL)}
    with anyio.fail_after(WAIT_S):
        async with await anyio.open_process(command, env=environment, **options) as process:
            try:
                yield Child(process)
            finally:
                if process.returncode is None:
                    process.kill()


async def test_only_the_protocol_reaches_the_wire() -> None:
    async with child() as peer:
        await peer.send(call(1, "stray") + call(2, "echo"))
        assert (await peer.read())["result"] == ""
        assert (await peer.read())["id"] == 2
        code, errors = await peer.finish()
    assert code == 0
    for stray in (b"stray print", b"stray write", b"stray child", b"ended in order"):
        assert stray in errors


async def test_standard_error_on_the_wires_own_pipe_is_silenced() -> None:
    async with child(stderr=subprocess.STDOUT) as peer:
        await peer.send(call(1, "stray"))
        assert (await peer.read())["id"] == 1
        assert (await peer.finish())[0] == 0


async def test_a_line_of_34_megabytes_and_one_of_five() -> None:
    async with child() as peer:
        await peer.send(b"x" * (34 << 20) + b"\n")
        assert (await peer.read())["error"]["code"] == -32600
        async with anyio.create_task_group() as group:
            group.start_soon(peer.send, call(1, "echo", ["y" * (5 << 20)]))
            assert len((await peer.read())["result"][0]) == 5 << 20
        assert (await peer.finish())[0] == 0


async def test_end_of_input_within_a_request_and_within_a_line() -> None:
    async with child() as peer:
        await peer.send(call(1, "wait"))
        assert (await peer.read())["method"] == "waiting"
        await peer.send(b'{"jsonrpc":"2.0","id":2,"me')
        code, errors = await peer.finish()
        assert (await peer.read())["error"]["code"] == -32800
    assert (code, errors) == (0, b"ended in order\n")


async def test_an_editor_that_closes_our_output_ends_the_run() -> None:
    read_fd, write_fd = os.pipe()
    async with child(stdout=write_fd) as peer:
        os.close(write_fd)
        await peer.send(call(1, "stream"))
        await anyio.wait_readable(read_fd)
        os.close(read_fd)
        assert peer.process.stderr
        errors = b""
        async for data in peer.process.stderr:
            errors += data
        assert await peer.process.wait() == 0
    assert errors == b"ended in order\n"


async def test_an_editor_that_does_not_read_does_not_keep_the_process_alive() -> None:
    async with child() as peer:
        await peer.send(call(1, "stream"))
        assert (await peer.finish())[0] == 0


async def test_regular_files_and_the_null_device(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"a" * 200_000)
    with anyio.fail_after(WAIT_S):
        out_fd = os.open(target, os.O_WRONLY | os.O_CREAT)
        transport = StdioTransport(os.open(source, os.O_RDONLY), out_fd)
        got = b""
        while data := await transport.receive():
            got += data
        await transport.send(got)
        await transport.aclose()
        assert target.read_bytes() == got == source.read_bytes()
        null = StdioTransport(os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY))
        assert await null.receive() == b""
        await null.send(b"gone")
        await null.aclose()


async def test_a_full_pipe_blocks_the_sender_and_not_the_loop() -> None:
    read_fd, write_fd = os.pipe()
    idle_read_fd, idle_write_fd = os.pipe()
    transport = StdioTransport(idle_read_fd, write_fd)
    payload = os.urandom(1 << 20)
    got = bytearray()
    with anyio.fail_after(WAIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(transport.send, payload)
            while len(got) < len(payload):
                await anyio.wait_readable(read_fd)
                got += os.read(read_fd, 4096)
    assert got == payload
    os.close(read_fd)
    with pytest.raises(PeerGone):
        await transport.send(b"x")
    await transport.aclose()
    with pytest.raises(PeerGone):
        await transport.send(b"x")
    assert await transport.receive() == b""
    os.close(idle_write_fd)


async def test_a_waiting_reader_is_released_by_closing() -> None:
    read_fd, write_fd = os.pipe()
    transport = StdioTransport(read_fd, os.open(os.devnull, os.O_WRONLY))
    released: list[bool] = []

    async def wait() -> None:
        with pytest.raises(PeerGone):
            await transport.receive()
        released.append(True)

    with anyio.fail_after(WAIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await transport.aclose()
    assert released == [True]
    os.close(write_fd)


def is_blocking(fd: int) -> bool:
    return not fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK


async def test_a_terminal_for_both_directions_stays_blocking_for_its_other_users() -> None:
    editor_fd, terminal_fd = os.openpty()
    with anyio.fail_after(WAIT_S):
        transport = StdioTransport(os.dup(terminal_fd), os.dup(terminal_fd))
        os.write(editor_fd, b"line\n")
        assert await transport.receive() == b"line\n"
        assert os.read(editor_fd, 100) == b"line\r\n"
        await transport.send(b"answer")
        assert os.read(editor_fd, 100) == b"answer"
        assert is_blocking(terminal_fd) or sys.platform != "linux"
        await transport.aclose()
    assert is_blocking(terminal_fd)
    os.close(terminal_fd)
    os.close(editor_fd)


async def test_a_shared_socket_gets_its_blocking_mode_back() -> None:
    near, far = socket.socketpair()
    with near, far, anyio.fail_after(WAIT_S):
        transport = StdioTransport(os.dup(near.fileno()), os.dup(near.fileno()))
        assert not is_blocking(near.fileno())
        far.sendall(b"question")
        assert await transport.receive() == b"question"
        await transport.send(b"answer")
        assert far.recv(100) == b"answer"
        far.close()
        assert await transport.receive() == b""
        with pytest.raises(PeerGone):
            await transport.send(b"x")
        await transport.aclose()
        assert is_blocking(near.fileno())


async def test_a_socket_transport_over_tcp() -> None:
    served: list[bytes] = []
    closed = anyio.Event()

    async def serve(stream: anyio.abc.ByteStream) -> None:
        transport = SocketTransport(stream)
        while data := await transport.receive():
            served.append(data)
            await transport.send(data.upper())
        await transport.aclose()
        closed.set()

    with anyio.fail_after(WAIT_S):
        async with (
            await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
            anyio.create_task_group() as group,
        ):
            group.start_soon(listener.serve, serve)
            port = listener.extra(anyio.abc.SocketAttribute.local_port)
            client = SocketTransport(await anyio.connect_tcp("127.0.0.1", port))
            await client.send(b"hello")
            assert await client.receive() == b"HELLO"
            await client.aclose()
            with pytest.raises(PeerGone):
                await client.send(b"x")
            await closed.wait()
            group.cancel_scope.cancel()
    assert served == [b"hello"]


async def test_answering_the_first_request_imports_no_event_loop() -> None:
    script = (
        "import sys, hermes_protocol.descriptors, hermes_protocol.envelope, hermes_protocol.framing;"
        "print(sorted({'anyio', 'asyncio', 'logging', 'hermes_acp'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(PROTOCOL)}
    with anyio.fail_after(WAIT_S):
        done = await anyio.run_process([sys.executable, "-c", script], env=environment)
    assert done.stdout == b"[]\n"
