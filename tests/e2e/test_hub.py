"""Several users of one hub: each is served by a process for their own profile, and cannot reach anybody else's."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psutil
import pytest
import websockets

from tests.e2e.agent_process import WAIT_S, run_command
from tests.e2e.http_serving import GREETING, Client, SocketClient, http_client, socket_client
from tests.e2e.hub_serving import Hub, hub_of
from tests.model_server import Hold, ModelServer, Reply, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="processes are POSIX")]


@asynccontextmanager
async def at_work(
    tmp_path: Path, *replies: Reply, **settings: object
) -> AsyncGenerator[tuple[Hub, ModelServer]]:
    (tmp_path / "workspace").mkdir()
    async with serve(list(replies)) as model, hub_of(tmp_path / "home", model, **settings) as hub:
        yield hub, model


@asynccontextmanager
async def greeted(url: str, token: str) -> AsyncGenerator[SocketClient]:
    async with socket_client(url, token=token) as client:
        assert (await client.call("initialize", GREETING))["result"]["protocolVersion"] == 1
        yield client


async def sessions_of(client: Client) -> list[str]:
    return [each["sessionId"] for each in (await client.call("session/list", {}))["result"]["sessions"]]


def workers(hub: Hub) -> list[psutil.Process]:
    """Return the processes of profiles."""
    return [each for each in psutil.Process(hub.process.pid).children() if "--for-hub" in each.cmdline()]


async def test_users_work_concurrently_and_cannot_reach_each_others_data(tmp_path: Path) -> None:
    async with at_work(tmp_path, Reply("For Anna."), Reply("For Ben.")) as (hub, _):
        anna, ben = await hub.add_user("anna"), await hub.add_user("ben")
        await hub.start()
        workspace = tmp_path / "workspace"
        async with greeted(hub.url, anna) as socket, http_client(hub.url, token=ben) as http:
            hers = await socket.open_session(workspace)
            await socket.prompt(hers, "hello")
            await socket.hear(hers, "For Anna.")
            his = await http.open_session(workspace)
            await http.prompt(his, "hello")
            await http.hear(his, "For Ben.")
            assert (await sessions_of(socket), await sessions_of(http)) == ([hers], [his])
            assert len(workers(hub)) == 2
            async with greeted(hub.url, ben) as other:
                refused = await methods_with(other, hers)
            refused += await requests_with(ben, hub.url, {"acp-connection-id": socket.connection_id}, hers)
            assert len(refused) >= 40
            assert all("For Anna." not in answer and "hello" not in answer for answer in refused)
            assert (await sessions_of(socket), await sessions_of(http)) == ([hers], [his])
        assert anna not in hub.audit()
        assert await hub.command("audit", "verify")


async def methods_with(client: Client, session_id: str) -> list[str]:
    """Try to reach somebody else's session with every method; return the answers."""
    text = [{"type": "text", "text": "read it"}]
    tried: list[tuple[str, dict[str, Any]]] = [
        ("session/load", {"cwd": "/tmp", "mcpServers": []}),
        ("session/resume", {"cwd": "/tmp", "mcpServers": []}),
        ("session/fork", {"cwd": "/tmp", "mcpServers": []}),
        ("session/prompt", {"prompt": text}),
        ("session/close", {}),
        ("session/delete", {}),
        ("session/set_mode", {"modeId": "accept_edits"}),
        ("session/set_config_option", {"configId": "mode", "value": "auto"}),
        ("session/attach", {}),
        ("_hermes/session/search", {"query": "hello"}),
    ]
    answers: list[str] = []
    for method, params in tried:
        reply = await client.call(method, {"sessionId": session_id, **params})
        assert "error" in reply or not reply["result"], (method, reply)
        answers.append(str(reply))
    return answers


async def requests_with(token: str, url: str, connection: dict[str, str], session_id: str) -> list[str]:
    """Try to use somebody else's connection with every kind of request; return the answers."""
    own = {"authorization": f"Bearer {token}"}
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 9, "method": "session/list", "params": {}}
    forged = ["hermes_pat_000000000000_" + "A" * 43, "hermes_web_" + "A" * 43, "null", "e30.e30.e30"]
    more: tuple[dict[str, str], ...] = (
        {},
        {"acp-session-id": session_id},
        {"x-forwarded-user": "anna"},
        {"x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1"},
        {"cookie": "hermes-sign-in=anna"},
    )
    all_headers = [{**own, **connection, **each} for each in more]
    all_headers += [{**connection, "authorization": f"Bearer {each}"} for each in forged[:3]]
    paths = (
        "/acp/../acp",
        "/hub/../acp",
        "//acp",
        "/ACP",
        "/acp/",
        "/users/anna/acp",
        "/metrics",
        "/hub/sign-in",
    )
    answers: list[str] = []
    async with httpx2.AsyncClient(timeout=WAIT_S, headers={"accept": "text/event-stream"}) as http:
        for headers in all_headers:
            for method in ("POST", "GET", "DELETE"):
                answer = await http.request(method, url, headers=headers, json=body)
                assert answer.status_code in (400, 401, 404, 409, 429), (headers, answer.text)
                answers.append(answer.text)
        for path in paths:
            answer = await http.get(url.removesuffix("/acp") + path, headers={**own, **connection})
            assert answer.status_code >= 400, (path, answer.text)
            answers.append(answer.text)
    return answers


async def test_a_token_for_metrics_opens_no_connection(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (hub, _):
        await hub.add_user("anna")
        token = await hub.command("users", "token", "anna", "--scope", "metrics")
        await hub.start()
        with pytest.raises(websockets.InvalidStatus) as refused:
            async with socket_client(hub.url, token=token):
                pass
        assert refused.value.response.status_code == 403
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=WAIT_S) as http:
            assert (await http.post(hub.url, json={})).status_code == 403
            assert "hermes" in (await http.get(hub.url.removesuffix("acp") + "metrics")).text


async def test_damaged_accounts_are_reported_at_the_start(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (hub, _):
        (hub.folder / "users.json").write_text("{")
        done = await run_command("hub", environment=hub.environment, cwd=tmp_path)
        assert done.code == 4
        assert "users.json cannot be parsed" in done.errors
        assert "Traceback" not in done.errors


async def test_a_revoked_token_ends_open_connections_and_admits_nobody(tmp_path: Path) -> None:
    async with at_work(tmp_path, Reply("Hello.")) as (hub, _):
        token = await hub.add_user("anna")
        await hub.start()
        async with greeted(hub.url, token) as client:
            await hub.command("users", "revoke", "anna", "--all")
            with anyio.fail_after(WAIT_S):
                await client.has_ended.wait()
        with pytest.raises(websockets.InvalidStatus) as refused:
            async with socket_client(hub.url, token=token):
                pass
        assert refused.value.response.status_code == 401


async def test_a_quota_stops_turns_and_new_sessions(tmp_path: Path) -> None:
    async with at_work(tmp_path, Reply("One."), Reply("Two."), Reply("Three.")) as (hub, model):
        token = await hub.add_user("anna", "--tokens-per-day", "1", "--sessions", "1")
        await hub.start()
        async with greeted(hub.url, token) as client:
            session = await client.open_session(tmp_path / "workspace")
            await client.prompt(session, "first")
            await client.hear(session, "One.")
            second = await client.prompt(session, "second")
            assert second["result"]["stopReason"] == "max_tokens"
            assert "quota of 1 tokens per day is used up" in str(client.messages)
            reply = await client.call("session/new", {"cwd": str(tmp_path), "mcpServers": []})
            assert "1 of your sessions are open" in reply["error"]["message"]
            assert "tokens" in await hub.command("users", "show", "anna")
            await hub.command("users", "quota", "anna", "--tokens-per-day", "none")
            with anyio.fail_after(WAIT_S):
                while (await client.prompt(session, "again"))["result"]["stopReason"] != "end_turn":
                    await anyio.sleep(0.3)
        assert len(model.requests) >= 2


async def test_a_killed_process_is_replaced_and_the_session_continues(tmp_path: Path) -> None:
    async with at_work(tmp_path, Reply("One."), Reply("Two.")) as (hub, _):
        token = await hub.add_user("anna")
        await hub.start()
        async with greeted(hub.url, token) as client:
            session = await client.open_session(tmp_path / "workspace")
            await client.prompt(session, "first")
            (worker,) = workers(hub)
            worker.kill()
            with anyio.fail_after(WAIT_S):
                await client.has_ended.wait()
        async with greeted(hub.url, token) as client:
            params: dict[str, Any] = {
                "sessionId": session,
                "cwd": str(tmp_path / "workspace"),
                "mcpServers": [],
            }
            assert "result" in await client.call("session/load", params)
            await client.prompt(session, "second")
            await client.hear(session, "Two.")
        assert "process_ended" in hub.audit()


async def test_the_processes_of_a_killed_hub_end_after_their_turns(tmp_path: Path) -> None:
    held = Hold(anyio.Event(), reached=anyio.Event())
    async with at_work(tmp_path, Reply("Done.", holds=(held,)), Reply("Again.")) as (hub, _):
        token = await hub.add_user("anna")
        await hub.start()
        async with greeted(hub.url, token) as client:
            session = await client.open_session(tmp_path / "workspace")
            await client.begin_prompt(session, "work")
            assert held.reached
            with anyio.fail_after(WAIT_S):
                await held.reached.wait()
            (worker,) = workers(hub)
            os.kill(hub.process.pid, signal.SIGKILL)
            await hub.process.wait()
        assert worker.is_running()
        held.gate.set()
        with anyio.fail_after(WAIT_S):
            while worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE:
                await anyio.sleep(0.1)
        await hub.start()
        async with greeted(hub.url, token) as client:
            params: dict[str, Any] = {
                "sessionId": session,
                "cwd": str(tmp_path / "workspace"),
                "mcpServers": [],
            }
            assert "result" in await client.call("session/load", params)
            assert client.said(session).endswith("Done.")
