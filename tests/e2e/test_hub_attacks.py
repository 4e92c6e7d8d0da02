"""A hub under attack: by a user who wants another user's data, and by somebody who is not a user."""

from __future__ import annotations

import base64
import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import h2.config
import h2.connection
import h2.events
import httpx2
import psutil
import pytest

from tests.e2e.agent_process import WAIT_S
from tests.e2e.http_serving import GREETING, socket_client
from tests.e2e.test_hub import at_work, greeted, sessions_of, workers
from tests.model_server import Reply

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="processes are POSIX")]

DESCRIPTORS = 400
"""The hub's limit of descriptors: half of them are for connections, an eighth for those that have sent nothing."""
SPOOFED = "203.0.113.77"
HELLO = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": GREETING})
LIST = json.dumps({"jsonrpc": "2.0", "id": 9, "method": "session/list", "params": {}})
FREE = {"requests_per_minute": 1_000_000, "addresses_per_minute": 1_000_000, "sign_ins_per_minute": 1_000_000}


def request(line: str, *headers: str, body: str = "", host: str = "Host: localhost") -> bytes:
    """Return a request as it goes over the wire; the server is asked to close afterwards."""
    lines = [line, *([host] if host else []), "Connection: close", *headers]
    if body and not any(each.lower().startswith(("content-length", "transfer-enc")) for each in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", body]).encode("latin-1")


async def exchange(port: int, sent: bytes) -> str:
    """Send bytes, and return everything received until the server closes the connection."""
    received = b""
    with anyio.fail_after(WAIT_S):
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(sent)
            try:
                while True:
                    received += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return received.decode("latin-1")


def attempts(ben: str, connection: str, session: str) -> dict[str, bytes]:
    """Return requests with one user's token that target another user's connection and session."""
    own = (
        f"Authorization: Bearer {ben}",
        "Content-Type: application/json",
        f"Acp-Connection-Id: {connection}",
    )
    theirs = (*own, f"Acp-Session-Id: {session}")
    return {
        **with_other_names(theirs),
        **with_other_headers(ben, own, theirs),
        **framed_otherwise(connection, theirs),
        **for_other_things(theirs),
    }


def with_other_names(theirs: Sequence[str]) -> dict[str, bytes]:
    """Return requests with unusual spellings of paths and hosts."""
    return {
        "absolute target": request("POST http://localhost/acp HTTP/1.1", *theirs, body=LIST),
        "absolute target elsewhere": request("POST http://evil.example/acp HTTP/1.1", *theirs, body=LIST),
        "encoded letter": request("POST /%61cp HTTP/1.1", *theirs, body=LIST),
        "encoded slash": request("POST /%2Facp HTTP/1.1", *theirs, body=LIST),
        "encoded dots": request("POST /anna/%2e%2e/acp HTTP/1.1", *theirs, body=LIST),
        "encoded twice": request("POST /%252e%252e/acp HTTP/1.1", *theirs, body=LIST),
        "backslash": request("POST /\\acp HTTP/1.1", *theirs, body=LIST),
        "path parameter": request("POST /acp;user=anna HTTP/1.1", *theirs, body=LIST),
        "query": request("POST /acp?user=anna&profile=anna HTTP/1.1", *theirs, body=LIST),
        "null byte": request("POST /acp%00 HTTP/1.1", *theirs, body=LIST),
        "two hosts": request("POST /acp HTTP/1.1", "Host: evil.example", *theirs, body=LIST),
        "no host": request("POST /acp HTTP/1.1", *theirs, body=LIST, host=""),
        "another host": request("POST /acp HTTP/1.1", *theirs, body=LIST, host="Host: evil.example"),
        "host with a user": request("POST /acp HTTP/1.1", *theirs, body=LIST, host="Host: localhost@evil"),
        "host with a list": request("POST /acp HTTP/1.1", *theirs, body=LIST, host="Host: localhost,evil"),
    }


def with_other_headers(ben: str, own: Sequence[str], theirs: Sequence[str]) -> dict[str, bytes]:
    """Return requests whose headers claim to come from another user or address."""
    web = base64.urlsafe_b64encode(b"hermes_web_" + b"A" * 43).decode().rstrip("=")
    return {
        "old version": request("POST /acp HTTP/1.0", *theirs, body=LIST),
        "two tokens": request("POST /acp HTTP/1.1", *theirs, "Authorization: Bearer anna", body=LIST),
        "token in the protocol": request(
            "POST /acp HTTP/1.1", *theirs, f"Sec-WebSocket-Protocol: base64url.bearer.{web}", body=LIST
        ),
        "token as a cookie": request("POST /acp HTTP/1.1", *own[1:], f"Cookie: token={ben}", body=LIST),
        "token as a parameter": request(f"POST /acp?access_token={ben} HTTP/1.1", *own[1:], body=LIST),
        "another scheme": request("POST /acp HTTP/1.1", f"Authorization: Basic {ben}", *own[1:], body=LIST),
        "forwarded for": request("POST /acp HTTP/1.1", *theirs, f"X-Forwarded-For: {SPOOFED}", body=LIST),
        "forwarded user": request(
            "POST /acp HTTP/1.1", *theirs, "X-Forwarded-User: anna", "X-Remote-User: anna", body=LIST
        ),
        "forwarded": request(
            "POST /acp HTTP/1.1", *theirs, f"Forwarded: for={SPOOFED};host=localhost", body=LIST
        ),
        "rewritten path": request(
            "POST / HTTP/1.1", *theirs, "X-Original-URL: /acp", "X-Rewrite-URL: /acp", body=LIST
        ),
        "another method": request("POST /acp HTTP/1.1", *theirs, "X-HTTP-Method-Override: DELETE", body=LIST),
        "hop by hop": request(
            "POST /acp HTTP/1.1", *theirs, "Connection: Acp-Connection-Id, Authorization", body=LIST
        ),
        "another origin": request("POST /acp HTTP/1.1", *theirs, "Origin: http://evil.example", body=LIST),
        "no origin": request("POST /acp HTTP/1.1", *theirs, "Origin: null", body=LIST),
        "origin of another port": request(
            "POST /acp HTTP/1.1", *theirs, "Origin: http://localhost:1", body=LIST
        ),
    }


def framed_otherwise(connection: str, theirs: Sequence[str]) -> dict[str, bytes]:
    """Return requests whose end two servers could see in different places."""
    smuggled = f"POST /acp HTTP/1.1\r\nHost: localhost\r\nAcp-Connection-Id: {connection}\r\n\r\n"
    chunked = f"{len(LIST):x}\r\n{LIST}\r\n0\r\n\r\n"
    return {
        "two lengths": request(
            "POST /acp HTTP/1.1", *theirs, "Content-Length: 4", f"Content-Length: {len(LIST)}", body=LIST
        ),
        "length and chunks": request(
            "POST /acp HTTP/1.1", *theirs, "Content-Length: 4", "Transfer-Encoding: chunked", body=chunked
        ),
        "chunks in disguise": request(
            "POST /acp HTTP/1.1", *theirs, "Transfer-Encoding: xchunked", body=chunked
        ),
        "negative length": request("POST /acp HTTP/1.1", *theirs, "Content-Length: -1", body=LIST),
        "a request in a body": request(
            "POST /acp HTTP/1.1", *theirs, "Content-Length: 0", body=smuggled + LIST
        ),
        "a request in a chunk": request(
            "POST /acp HTTP/1.1", *theirs, "Transfer-Encoding: chunked", body="0\r\n\r\n" + smuggled
        ),
        "folded header": request("POST /acp HTTP/1.1", *theirs, "X-A: b\r\n Acp-User: anna", body=LIST),
        "space before the colon": request("POST /acp HTTP/1.1", *theirs, "Authorization : x", body=LIST),
        "lone line feeds": request("POST /acp HTTP/1.1", *theirs, body=LIST).replace(b"\r\n", b"\n"),
    }


def for_other_things(theirs: Sequence[str]) -> dict[str, bytes]:
    """Return requests with other methods, and for streams and files."""
    return {
        "tunnel": request("CONNECT localhost:22 HTTP/1.1", *theirs),
        "trace": request("TRACE /acp HTTP/1.1", *theirs),
        "options": request("OPTIONS * HTTP/1.1", *theirs),
        "stream": request("GET /acp HTTP/1.1", *theirs, "Accept: text/event-stream"),
        "resumed stream": request(
            "GET /acp HTTP/1.1", *theirs, "Accept: text/event-stream", "Last-Event-ID: 0"
        ),
        "end": request("DELETE /acp HTTP/1.1", *theirs),
        "socket": request(
            "GET /acp HTTP/1.1",
            *theirs,
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ).replace(b"Connection: close\r\n", b""),
        "users": request("GET /hub/users.json HTTP/1.1", *theirs),
        "files": request("GET /..%2f..%2fhub%2fusers.json HTTP/1.1", *theirs),
        "an absolute file": request("GET //etc/passwd HTTP/1.1", *theirs),
        "a file of the page": request("GET /index.html%00.js HTTP/1.1", *theirs),
    }


async def test_no_request_reaches_another_users_data(tmp_path: Path) -> None:
    async with at_work(tmp_path, Reply("For Anna."), rates=FREE) as (hub, _):
        anna, ben = await hub.add_user("anna"), await hub.add_user("ben")
        await hub.start()
        port = int(hub.url.rpartition(":")[2].partition("/")[0])
        async with greeted(hub.url, anna) as client:
            hers = await client.open_session(tmp_path / "workspace")
            await client.prompt(hers, "hello")
            tried = attempts(ben, client.connection_id, hers)
            for name, sent in tried.items():
                answer = await exchange(port, sent)
                statuses = [line.split()[1] for line in answer.splitlines() if line.startswith("HTTP/1.1 ")]
                assert statuses or name == "socket", name
                assert all(status >= "400" for status in statuses), (name, answer)
                assert "For Anna." not in answer, name
                assert f'"{hers}"' not in answer, name
            assert len(tried) >= 40
            assert await sessions_of(client) == [hers]
        async with greeted(hub.url, ben) as other:
            assert await sessions_of(other) == []
        assert SPOOFED not in hub.audit()
        assert await hub.command("audit", "verify")


def http2(upgraded: bytes = b"") -> tuple[h2.connection.H2Connection, bytes]:
    """Return an HTTP/2 client and the first bytes it sends."""
    connection = h2.connection.H2Connection(h2.config.H2Configuration())
    if upgraded:
        connection.initiate_upgrade_connection()
    else:
        connection.initiate_connection()
    return connection, connection.data_to_send()


async def statuses_over_http2(port: int, sent_before: bytes, headers: dict[str, str]) -> list[str]:
    """Send a request over HTTP/2 without encryption; return the statuses of all answers."""
    connection, preface = http2(sent_before)
    found: list[str] = []
    rest = b""
    with anyio.fail_after(WAIT_S):
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            if sent_before:
                await stream.send(sent_before)
                status, _, rest = (await stream.receive()).partition(b"\r\n\r\n")
                if b" 101 " not in status:
                    return []
            stream_id = connection.get_next_available_stream_id()
            connection.send_headers(stream_id, list(headers.items()), end_stream=True)
            await stream.send(preface + connection.data_to_send())
            try:
                while True:
                    for event in connection.receive_data(rest or await stream.receive()):
                        if isinstance(event, h2.events.ResponseReceived):
                            found += [
                                value.decode() for name, value in event.headers or () if name == b":status"
                            ]
                        elif isinstance(event, h2.events.StreamEnded) and event.stream_id == stream_id:
                            return found
                    rest = b""
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return found


@pytest.mark.parametrize("way", ["upgrade", "prior knowledge"])
async def test_http2_without_encryption_does_not_bypass_a_proxy(tmp_path: Path, way: str) -> None:
    """A proxy that passes on every upgrade would let a client talk to the hub directly, from the proxy's address."""
    async with at_work(tmp_path, rates=FREE, trusted_proxies=["127.0.0.1"]) as (hub, _):
        await hub.start()
        port = hub.process_port()
        upgrade = request(
            "GET /healthz HTTP/1.1", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"
        ).replace(b"Connection: close", b"Connection: Upgrade, HTTP2-Settings")
        headers = {
            ":method": "GET",
            ":path": "/acp",
            ":scheme": "http",
            ":authority": "localhost",
            "authorization": "Bearer hermes_pat_000000000000_" + "A" * 43,
            "x-forwarded-for": SPOOFED,
        }
        statuses = await statuses_over_http2(port, upgrade if way == "upgrade" else b"", headers)
        assert set(statuses) <= {"505"}, statuses
        assert not (hub.folder / "audit.jsonl").exists() or SPOOFED not in hub.audit()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="descriptors of others are files on Linux")
async def test_an_implausible_usage_report_ends_one_process_and_not_the_hub(tmp_path: Path) -> None:
    """A user's commands run as the same operating system user as the process, so they can write whatever it can."""
    line = '{"number":1,"tokens":1000000000000000000000000}'
    async with at_work(tmp_path) as (hub, _):
        anna, ben = await hub.add_user("anna"), await hub.add_user("ben")
        await hub.start()
        async with greeted(hub.url, ben) as other:
            async with greeted(hub.url, anna) as client:
                (hers,) = [each for each in workers(hub) if each.environ().get("HERMES_PROFILE") == "anna"]
                with Path(f"/proc/{hers.pid}/fd/1").open("w") as output:
                    output.write(f"{line}\n")
                with anyio.fail_after(WAIT_S):
                    await client.has_ended.wait()
            assert await sessions_of(other) == []
        assert hub.process.returncode is None


@pytest.mark.slow
async def test_a_changed_quota_applies_although_its_user_sends_requests(tmp_path: Path) -> None:
    async with at_work(tmp_path, rates=FREE) as (hub, _):
        token = await hub.add_user("anna")
        await hub.start()
        async with greeted(hub.url, token) as client:
            await client.open_session(tmp_path / "workspace")
            await hub.command("users", "quota", "anna", "--sessions", "1")
            async with greeted(hub.url, token):
                pass
            refused: dict[str, Any] = {}
            with anyio.fail_after(WAIT_S):
                while "error" not in refused:
                    refused = await client.call("session/new", {"cwd": str(tmp_path), "mcpServers": []})
            assert "of your sessions are open" in refused["error"]["message"]


@pytest.mark.slow
async def test_limits_apply_to_concurrent_requests(tmp_path: Path) -> None:
    rates = {**FREE, "requests_per_minute": 60}
    async with at_work(tmp_path, rates=rates) as (hub, _):
        token = await hub.add_user("anna", "--sessions", "2")
        await hub.start()
        opened: Counter[str] = Counter()
        answers: Counter[int] = Counter()
        opening: dict[str, Any] = {"cwd": str(tmp_path / "workspace"), "mcpServers": []}
        async with socket_client(hub.url, token=token) as client:
            await client.call("initialize", GREETING)

            async def open_session() -> None:
                opened["error" if "error" in await client.call("session/new", opening) else "result"] += 1

            async with anyio.create_task_group() as tasks:
                for _ in range(12):
                    tasks.start_soon(open_session)
        assert opened == {"result": 2, "error": 10}
        headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(timeout=WAIT_S, headers=headers) as http:

            async def greet() -> None:
                answers[(await http.post(hub.url, json=json.loads(HELLO))).status_code] += 1

            async with anyio.create_task_group() as tasks:
                for _ in range(60):
                    tasks.start_soon(greet)
        assert answers[200] <= 25
        assert answers[429] >= 35


@pytest.mark.slow
async def test_half_open_requests_by_strangers_keep_nobody_out(tmp_path: Path) -> None:
    """Strangers open more connections than allowed, each with half a request, while users are served."""
    halves = (
        b"GET / HTTP/1.1\r\nHost: loc",
        b"POST /acp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"",
    )
    tried = 0
    async with at_work(tmp_path, rates=FREE) as (hub, _):
        token = await hub.add_user("anna")
        await hub.start("/bin/sh", "-c", f'ulimit -n {DESCRIPTORS}; exec "$0" "$@"')
        port = hub.process_port()
        async with greeted(hub.url, token) as client, anyio.create_task_group() as tasks:

            async def hold(number: int) -> None:
                nonlocal tried
                try:
                    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                        await stream.send(halves[number % len(halves)])
                        tried += 1
                        await anyio.sleep_forever()
                except (OSError, anyio.BrokenResourceError):
                    tried += 1

            for number in range(DESCRIPTORS):
                tasks.start_soon(hold, number)
            with anyio.fail_after(WAIT_S):
                while tried < DESCRIPTORS:
                    await anyio.sleep(0.05)
            for _ in range(5):
                with anyio.fail_after(WAIT_S / 2):
                    async with greeted(hub.url, token) as another:
                        assert await sessions_of(another) == []
            assert await sessions_of(client) == []
            tasks.cancel_scope.cancel()


async def test_huge_headers_and_bodies_of_strangers_are_rejected(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (hub, _):
        await hub.start()
        port = hub.process_port()
        sent = request("GET / HTTP/1.1", "X-Big: " + "a" * 1_000_000)
        answer = await exchange(port, sent)
        assert "HTTP/1.1 200" not in answer
        head = f"POST /acp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {1 << 40}\r\n\r\n".encode()
        received = b""
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(head)
            with anyio.fail_after(WAIT_S), suppress(anyio.BrokenResourceError, anyio.EndOfStream):
                while True:
                    await stream.send(b"a" * (1 << 16))
                    with anyio.move_on_after(0.001):
                        received += await stream.receive()
        assert received.startswith(b"HTTP/1.1 401"), received[:100]
        async with httpx2.AsyncClient(timeout=WAIT_S) as http:
            assert (await http.get(hub.url.removesuffix("acp"))).status_code == 200
        assert psutil.Process(hub.process.pid).memory_info().rss < 300 << 20
