"""Whole conversations over HTTP with event streams and over WebSocket, with connections that are lost in between."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import agent_environment
from tests.e2e.http_serving import (
    GREETING,
    Client,
    Message,
    Serving,
    http_client,
    serving,
    socket_client,
)
from tests.model_server import Hold, ModelServer, Reply, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]

READ = ToolCall("read_file", {"path": "a.py"})
EDIT = ToolCall("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x = 5"})
KINDS = ["http", "http2", "websocket"]


@asynccontextmanager
async def at_work(tmp_path: Path, *replies: Reply) -> AsyncGenerator[tuple[Serving, ModelServer, Path]]:
    """Yield a server, its model and a workspace; the server must then exit normally and have logged nothing."""
    workspace, home = tmp_path / "workspace", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    (workspace / "a.py").write_text("x = 1\n")
    async with serve(list(replies)) as model, serving(agent_environment(home, model), tmp_path) as server:
        yield server, model, workspace
        if server.process.returncode is None:
            server.process.terminate()
        assert await server.wait() in (0, 130)
        page = server.url.removesuffix("acp")
        assert server.errors.splitlines() == [f"hermes-acp serves {server.url}", f"Web page: {page}"]
        assert not (home / ".hermes" / "logs" / "bugs.log").exists()


@asynccontextmanager
async def client_of(kind: str, url: str, answers: Any = None) -> AsyncGenerator[Client]:
    if kind == "websocket":
        async with socket_client(url, answers) as client:
            assert (await client.call("initialize", GREETING))["result"]["protocolVersion"] == 1
            yield client
    else:
        async with http_client(url, answers, http2=kind == "http2") as client:
            yield client


def permit(params: Message) -> Message:
    return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_turn_with_permission_and_diff(tmp_path: Path, kind: str) -> None:
    replies = (Reply("I will.", tool_calls=(READ, EDIT)), Reply("Done."))
    async with at_work(tmp_path, *replies) as (server, _, workspace):
        answers = {"session/request_permission": permit}
        async with client_of(kind, server.url, answers) as client:
            session_id = await client.open_session(workspace)
            reply = await client.prompt(session_id, "edit")
            assert reply["result"] == {"stopReason": "end_turn"}
            assert (workspace / "a.py").read_text() == "x = 5\n"
            assert client.said(session_id).endswith("Done.")
            (asked,) = [m for m in client.messages if m.get("method") == "session/request_permission"]
            (diff,) = [one for one in asked["params"]["toolCall"]["content"] if one["type"] == "diff"]
            assert (diff["oldText"], diff["newText"]) == ("x = 1\n", "x = 5\n")


@pytest.mark.parametrize("kind", KINDS)
async def test_cancelling_ends_an_endless_stream(tmp_path: Path, kind: str) -> None:
    talk = Reply(("one ", "two "), holds=(Hold(anyio.Event(), after=1),))
    async with (
        at_work(tmp_path, talk, Reply("Still here.")) as (server, _, workspace),
        client_of(kind, server.url) as client,
    ):
        session_id = await client.open_session(workspace)
        running = await client.begin_prompt(session_id, "talk")
        await client.hear(session_id, "one ")
        await client.cancel(session_id)
        assert (await client.reply_to(running))["result"] == {"stopReason": "cancelled"}
        assert (await client.prompt(session_id, "there?"))["result"] == {"stopReason": "end_turn"}


async def test_a_lost_event_stream_resumes_where_it_stopped(tmp_path: Path) -> None:
    go_on = anyio.Event()
    talk = Reply(("one ", "two ", "three"), holds=(Hold(go_on, after=1),))
    async with at_work(tmp_path, talk) as (server, _, workspace), http_client(server.url) as client:
        session_id = await client.open_session(workspace)
        running = await client.begin_prompt(session_id, "talk")
        await client.hear(session_id, "one ")
        client.drop_all()
        go_on.set()
        await client.listen(None, client.places[None])
        await client.listen(session_id, client.places[session_id])
        assert (await client.reply_to(running))["result"] == {"stopReason": "end_turn"}
        assert client.said(session_id) == "one two three"


async def test_a_stream_is_replayed_from_an_earlier_position(tmp_path: Path) -> None:
    async with (
        at_work(tmp_path, Reply("All of it.")) as (server, _, workspace),
        http_client(server.url) as client,
    ):
        session_id = await client.open_session(workspace)
        await client.prompt(session_id, "talk")
        first = client.messages.copy()
        last = client.places[session_id]
        client.drop(session_id)
        await client.listen(session_id, last - 2)
        await client.wait_for(lambda _: len(client.messages) >= len(first) + 2)
        assert client.messages[len(first) : len(first) + 2] == first[-2:]
        headers = {**client.connection, "acp-session-id": session_id, "accept": "text/event-stream"}
        ahead = await client.http.get(server.url, headers={**headers, "last-event-id": str(last + 1)})
        assert ahead.status_code == 400
        odd = await client.http.get(server.url, headers={**headers, "last-event-id": "first"})
        assert odd.status_code == 400


async def test_a_lost_socket_resumes_where_it_stopped(tmp_path: Path) -> None:
    go_on = anyio.Event()
    talk = Reply(("one ", "two ", "three"), holds=(Hold(go_on, after=1),))
    async with at_work(tmp_path, talk) as (server, _, workspace):
        async with socket_client(server.url, last_event_id="0") as lost:
            await lost.call("initialize", GREETING)
            session_id = await lost.open_session(workspace)
            running = await lost.begin_prompt(session_id, "talk")
            await lost.hear(session_id, "one ")
            connection_id = lost.connection_id
            lost.drop()
        go_on.set()
        place = str(len(lost.messages))
        async with socket_client(server.url, last_event_id=place, acp_connection_id=connection_id) as back:
            assert (await back.reply_to(running))["result"] == {"stopReason": "end_turn"}
            assert lost.said(session_id) + back.said(session_id) == "one two three"


async def test_a_turn_continues_when_its_socket_is_lost(tmp_path: Path) -> None:
    hold = anyio.Event()
    talk = Reply(("one ", "two "), holds=(Hold(hold, after=1),))
    async with at_work(tmp_path, talk, Reply("Again.")) as (server, _, workspace):
        async with socket_client(server.url) as first:
            await first.call("initialize", GREETING)
            session_id = await first.open_session(workspace)
            await first.begin_prompt(session_id, "talk")
            await first.hear(session_id, "one ")
        async with client_of("http", server.url) as second:
            loaded = await second.call(
                "session/load", {"sessionId": session_id, "cwd": str(workspace), "mcpServers": []}
            )
            assert "result" in loaded, loaded
            assert second.said(session_id) == "one "
            hold.set()
            await second.hear(session_id, "two ")
            assert (await second.prompt(session_id, "again"))["result"] == {"stopReason": "end_turn"}


@pytest.mark.parametrize("kind", ["http", "websocket"])
async def test_two_clients_share_a_session_over_any_transport(tmp_path: Path, kind: str) -> None:
    async with (
        at_work(tmp_path, Reply("First."), Reply("Second."), Reply("Third.")) as (server, _, workspace),
        http_client(server.url) as first,
        client_of(kind, server.url) as second,
    ):
        session_id = await first.open_session(workspace)
        await first.prompt(session_id, "one")
        params: Message = {"sessionId": session_id, "cwd": str(workspace), "mcpServers": []}
        assert "result" in await second.call("session/load", params)
        assert second.said(session_id) == "First."
        assert (await second.prompt(session_id, "two"))["result"] == {"stopReason": "end_turn"}
        await first.hear(session_id, "Second.")
        first.drop_all()
        assert (await second.prompt(session_id, "three"))["result"] == {"stopReason": "end_turn"}


async def test_delete_ends_the_connection(tmp_path: Path) -> None:
    gate = anyio.Event()
    talk = Reply(("one ", "two "), holds=(Hold(gate, after=1),))
    async with at_work(tmp_path, talk) as (server, _, workspace), http_client(server.url) as client:
        session_id = await client.open_session(workspace)
        running = await client.begin_prompt(session_id, "talk")
        await client.hear(session_id, "one ")
        assert (await client.http.delete(server.url, headers=client.connection)).status_code == 202
        assert (await client.reply_to(running))["error"]["code"] == -32800
        with anyio.fail_after(90):
            while client.ended != {None, session_id}:
                await anyio.lowlevel.checkpoint()
        assert (await client.http.delete(server.url, headers=client.connection)).status_code == 404
        gate.set()  # The turn outlives its client, and the server waits for it before it exits.


async def test_twenty_concurrent_connections(tmp_path: Path) -> None:
    gate = anyio.Event()
    replies = [Reply(("one ", "two"), holds=(Hold(gate, after=1),)) for _ in range(20)]
    async with at_work(tmp_path, *replies) as (server, _, workspace), anyio.create_task_group() as tasks:
        talking: list[str] = []

        async def converse(number: int) -> None:
            async with client_of(KINDS[number % 3], server.url) as client:
                session_id = await client.open_session(workspace)
                running = await client.begin_prompt(session_id, "talk")
                await client.hear(session_id, "one ")
                talking.append(session_id)
                if len(talking) == 20:
                    gate.set()
                assert (await client.reply_to(running))["result"] == {"stopReason": "end_turn"}
                assert client.said(session_id) == "one two"

        for number in range(20):
            tasks.start_soon(converse, number)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_signal_ends_turns_and_streams(tmp_path: Path, kind: str) -> None:
    talk = Reply(("one ", "two "), holds=(Hold(anyio.Event(), after=1),))
    async with at_work(tmp_path, talk) as (server, _, workspace), client_of(kind, server.url) as client:
        session_id = await client.open_session(workspace)
        running = await client.begin_prompt(session_id, "talk")
        await client.hear(session_id, "one ")
        server.process.send_signal(signal.SIGINT)
        assert (await client.reply_to(running))["error"]["code"] == -32800
        assert await server.wait() == 130


async def test_a_long_answer_waits_for_an_absent_client(tmp_path: Path) -> None:
    go_on = anyio.Event()
    words = [f"{number:05d} " + "x" * 1000 + " " for number in range(4000)]
    talk = Reply(("one ", *words), holds=(Hold(go_on, after=1),))
    async with at_work(tmp_path, talk) as (server, _, workspace), http_client(server.url) as client:
        session_id = await client.open_session(workspace)
        running = await client.begin_prompt(session_id, "talk")
        await client.hear(session_id, "one ")
        before_bytes = resident_bytes(server.process.pid)
        client.drop_all()
        go_on.set()
        await client.listen(session_id, client.places[session_id])
        await client.listen(None, client.places[None])
        assert (await client.reply_to(running))["result"] == {"stopReason": "end_turn"}
        assert client.said(session_id) == "one " + "".join(words)
        assert resident_bytes(server.process.pid) - before_bytes < 100 << 20


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
