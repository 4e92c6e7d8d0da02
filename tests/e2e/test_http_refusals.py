"""Rejected clients and requests; rejections do no harm.

Each rejection is followed by a request that is served.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import websockets
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from tests.e2e.agent_process import WAIT_S, agent_environment, run_command
from tests.e2e.http_serving import BEARER, GREETING, TOKEN, Serving, http_client, serving, socket_client

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]

HELLO: dict[str, Any] = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": GREETING}
ORIGIN = "https://app.example"


@asynccontextmanager
async def door(tmp_path: Path, *flags: str) -> AsyncGenerator[tuple[Serving, httpx2.AsyncClient]]:
    """Yield a server and a client with the token; afterwards, the server must still answer."""
    async with (
        serving(agent_environment(tmp_path), tmp_path, *flags) as server,
        httpx2.AsyncClient(timeout=WAIT_S) as http,
    ):
        yield server, http
        assert (await http.post(server.url, json=HELLO, headers=BEARER)).status_code == 200
        assert TOKEN not in server.errors


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": "Bearer é"},
    ],
    ids=["none", "wrong", "scheme", "odd"],
)
async def test_requests_without_the_token(tmp_path: Path, headers: dict[str, str]) -> None:
    async with door(tmp_path) as (server, http):
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        for method in ("POST", "GET", "DELETE", "PUT"):
            refused = await http.request(method, server.url, headers=raw)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"].startswith("Bearer")
            assert TOKEN not in refused.text
        with pytest.raises(websockets.InvalidStatus) as info:
            await connect(server.url.replace("http", "ws"))
        assert info.value.response.status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:80"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": "192.168.0.1"}, 421),
    ],
)
async def test_requests_from_another_origin(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    async with door(tmp_path, "--allow-origin", ORIGIN) as (server, http):
        assert (await http.post(server.url, json=HELLO, headers={**BEARER, **headers})).status_code == status
        assert (await http.options(server.url, headers=headers)).status_code == status
        if origin := headers.get("origin"):
            with pytest.raises(websockets.InvalidStatus) as info:
                await connect(
                    server.url.replace("http", "ws"), additional_headers={**BEARER, "origin": origin}
                )
            assert info.value.response.status_code == status


async def test_a_page_from_an_allowed_origin(tmp_path: Path) -> None:
    async with door(tmp_path, "--allow-origin", ORIGIN) as (server, http):
        asked = {"origin": ORIGIN, "access-control-request-method": "POST"}
        preflight = await http.options(server.url, headers=asked)
        assert preflight.status_code == 204
        assert "authorization" in preflight.headers["access-control-allow-headers"]
        greeted = await http.post(server.url, json=HELLO, headers={**BEARER, "origin": ORIGIN})
        assert greeted.headers["access-control-allow-origin"] == ORIGIN
        assert greeted.headers["access-control-expose-headers"] == "acp-connection-id"
        carried = "base64url.bearer." + base64.urlsafe_b64encode(TOKEN.encode()).decode().rstrip("=")
        offered = [Subprotocol("acp"), Subprotocol(carried)]
        async with connect(
            server.url.replace("http", "ws"), subprotocols=offered, additional_headers={"origin": ORIGIN}
        ) as socket:
            assert socket.subprotocol == "acp"
            await socket.send(json.dumps(HELLO))
            assert json.loads(await socket.recv())["result"]["protocolVersion"] == 1


async def test_the_requirements_for_a_post(tmp_path: Path) -> None:
    async with door(tmp_path) as (server, http), http_client(server.url) as client:
        connected = {**BEARER, **client.connection, "content-type": "application/json"}
        note: dict[str, Any] = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "a"}}
        cases: list[tuple[bytes, dict[str, str], int]] = [
            (b"{}", {**BEARER, "content-type": "text/plain"}, 415),
            (b"[]", connected, 501),
            (b"{", connected, 400),
            (b"42", connected, 400),
            (b'{"jsonrpc":"2.0"}', connected, 400),
            (b"[" * 100_000, connected, 501),
            (b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 100_000, connected, 400),
            (json.dumps(HELLO).encode(), connected, 400),
            (json.dumps(note).encode(), connected, 400),
            (json.dumps(note).encode(), {**connected, "acp-session-id": "b"}, 400),
            (json.dumps(note).encode(), {**connected, "acp-session-id": "a"}, 202),
            (json.dumps(note, indent=2).encode(), {**connected, "acp-session-id": "a"}, 202),
            (json.dumps(note).encode(), {**BEARER, "content-type": "application/json"}, 400),
            (json.dumps(note).encode(), {**connected, "acp-connection-id": "no-such"}, 404),
            (b'{"jsonrpc":"2.0","id":77,"result":{}}', connected, 202),
        ]
        for body, headers, status in cases:
            answered = await http.post(server.url, content=body, headers=headers)
            assert answered.status_code == status, (body[:60], answered.text)
        listed = await client.call("session/list", {})
        assert listed["result"] == {"sessions": []}
        assert (await http.get(server.url, headers=connected)).status_code == 406
        events = {"accept": "text/event-stream"}
        assert (await http.get(server.url, headers={**BEARER, **events})).status_code == 400
        unknown = {"acp-connection-id": "no-such"}
        assert (await http.get(server.url, headers={**BEARER, **events, **unknown})).status_code == 404
        assert (await http.put(server.url, headers=connected)).status_code == 405
        assert (await http.post(server.url + "/more", json=HELLO, headers=BEARER)).status_code == 404


async def test_an_invalid_initialize_creates_no_connection(tmp_path: Path) -> None:
    async with door(tmp_path) as (server, http):
        bad = {**HELLO, "params": {"protocolVersion": "one"}}
        answered = await http.post(server.url, json=bad, headers=BEARER)
        assert answered.status_code == 400
        assert answered.json()["error"]["code"] == -32602


@pytest.mark.parametrize("is_announced", [True, False])
async def test_a_body_that_is_too_long(tmp_path: Path, is_announced: bool) -> None:
    async with door(tmp_path) as (server, http):
        sent_bytes = 0

        async def pieces() -> AsyncGenerator[bytes]:
            nonlocal sent_bytes
            for _ in range(40):
                sent_bytes += 1 << 20
                yield b" " * (1 << 20)

        headers = {**BEARER, "content-type": "application/json"}
        if is_announced:
            headers["content-length"] = str(40 << 20)
        refused = await http.post(server.url, content=pieces(), headers=headers)
        assert refused.status_code == 413


async def test_a_socket_message_that_is_too_long(tmp_path: Path) -> None:
    async with door(tmp_path) as (server, _), socket_client(server.url) as client:
        await client.socket.send(" " * (33 << 20))
        with anyio.fail_after(WAIT_S):
            await client.has_ended.wait()
        assert client.socket.close_code == 1009


async def test_invalid_messages_on_a_socket(tmp_path: Path) -> None:
    async with door(tmp_path) as (server, _), socket_client(server.url) as client:
        await client.socket.send(b"bytes are ignored")
        await client.socket.send("")
        for text, code in (("{", -32700), ("[]", -32600), ("42", -32600)):
            behind = len(client.messages)
            await client.socket.send(text)
            await client.wait_for(lambda _, behind=behind: len(client.messages) > behind)
            assert (client.messages[-1]["id"], client.messages[-1]["error"]["code"]) == (None, code)
        early = await client.call("session/list", {})
        assert early["error"]["code"] == -32600
        assert (await client.call("initialize", GREETING))["result"]["protocolVersion"] == 1


@pytest.mark.parametrize(
    ("flags", "token", "words"),
    [
        (["--listen", "0.0.0.0:0"], "", "--allow-remote"),
        (["--listen", "somewhere"], "", "HOST:PORT"),
        (["--listen", "example.org:1"], "", "not an IP address"),
        (["--allow-origin", "nonsense"], "", "not an origin"),
        (
            ["--listen", "127.0.0.1:1"] if os.geteuid() else ["--listen", "203.0.113.1:1", "--allow-remote"],
            "",
            "Cannot listen",
        ),
        ([], "short", "16"),
    ],
)
async def test_invalid_arguments_of_the_command(
    tmp_path: Path, flags: list[str], token: str, words: str
) -> None:
    environment = agent_environment(tmp_path) | ({"HERMES_SERVE_TOKEN": token} if token else {})
    done = await run_command("serve", *flags, environment=environment, cwd=tmp_path)
    assert done.code == 2
    assert words in done.errors
    assert "Traceback" not in done.errors
    assert done.output == ""


async def test_a_token_is_created_and_shown_once(tmp_path: Path) -> None:
    async with (
        serving(agent_environment(tmp_path), tmp_path, token="") as server,
        httpx2.AsyncClient(timeout=WAIT_S) as http,
    ):
        assert (await http.post(server.url, json=HELLO)).status_code == 401
        (line,) = [line for line in server.errors.splitlines() if line.startswith("Bearer token")]
        made = {"authorization": f"Bearer {line.split()[-1]}"}
        assert (await http.post(server.url, json=HELLO, headers=made)).status_code == 200


async def test_the_help_lists_the_command(tmp_path: Path) -> None:
    done = await run_command("--help", environment=agent_environment(tmp_path), cwd=tmp_path)
    assert "serve" in done.output


async def test_without_the_extra_the_command_says_what_to_install(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden" / "hypercorn"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError(name='hypercorn')\n")
    environment = agent_environment(tmp_path, PYTHONPATH=str(hidden.parent))
    done = await run_command("serve", environment=environment, cwd=tmp_path)
    assert done.code == 2
    assert "pip install -e " in done.errors or "pip install /" in done.errors
    assert "[serve]" in done.errors
    assert "Traceback" not in done.errors
