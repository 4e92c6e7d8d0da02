"""A client that is lost repeatedly during a turn: the turn ends, and every message arrives once, in order."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import WAIT_S, agent_environment
from tests.e2e.http_serving import GREETING, Client, http_client, serving, socket_client
from tests.e2e.raw_editor import permit
from tests.model_server import Reply, ToolCall, serve

pytestmark = pytest.mark.anyio

Drive = Callable[[str, Path, random.Random], Awaitable[tuple[str, Client, int]]]

DROPS = 50
WORDS = tuple(f"word{number} " for number in range(240))
ANSWERS = {"session/request_permission": permit("allow_once")}
WRITE = ToolCall("write_file", {"path": "new.txt", "content": "new\n"})
REPLIES = (Reply(WORDS[:120], tool_calls=(WRITE,), delay_s=0.008), Reply(WORDS[120:], delay_s=0.008))


async def more_of(client: Client, rolls: random.Random) -> bool:
    """Wait until a few more messages have arrived; return False once the turn has ended."""
    wanted = len(client.messages) + rolls.randint(0, 2)
    await client.wait_for(lambda _: len(client.messages) >= wanted or is_over(client))
    return not is_over(client)


def is_over(client: Client) -> bool:
    return any(message.get("result", {}).get("stopReason") for message in client.messages)


async def over_http(url: str, workspace: Path, rolls: random.Random) -> tuple[str, Client, int]:
    async with http_client(url, ANSWERS) as client:
        session_id = await client.open_session(workspace)
        running = await client.begin_prompt(session_id, "talk")
        drops = 0
        while drops < DROPS and await more_of(client, rolls):
            client.drop_all()
            drops += 1
            for place in (None, session_id):
                await client.listen(place, client.places.get(place, 0))
        assert (await client.reply_to(running))["result"] == {"stopReason": "end_turn"}
        return session_id, client, drops


async def over_websocket(url: str, workspace: Path, rolls: random.Random) -> tuple[str, Client, int]:
    async with socket_client(url, ANSWERS, last_event_id="0") as first:
        await first.call("initialize", GREETING)
        session_id = await first.open_session(workspace)
        await first.begin_prompt(session_id, "talk")
        connection = first.connection_id
        await more_of(first, rolls)
        first.drop()
        await first.has_ended.wait()
    whole, drops = Client(), 1
    whole.messages = first.messages
    while not is_over(whole):
        place = str(len(whole.messages))
        async with socket_client(url, ANSWERS, last_event_id=place, acp_connection_id=connection) as next_one:
            if drops == DROPS:
                await next_one.wait_for(lambda m: "stopReason" in m.get("result", {}))
            else:
                drops += await more_of(next_one, rolls)
                next_one.drop()
                await next_one.has_ended.wait()
            whole.messages = [*whole.messages, *next_one.messages]
    return session_id, whole, drops


@pytest.mark.parametrize("drive", [over_http, over_websocket])
async def test_a_client_dropped_at_fifty_moments_misses_nothing(tmp_path: Path, drive: Drive) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    async with (
        serve([*REPLIES]) as model,
        serving(agent_environment(tmp_path / "home", model), tmp_path / "scratch") as server,
    ):
        with anyio.fail_after(WAIT_S):
            session_id, client, drops = await drive(server.url, workspace, random.Random(7))
        assert client.said(session_id) == "".join(WORDS)
        assert drops == DROPS
        asked = [m for m in client.messages if m.get("method") == "session/request_permission"]
        assert len(asked) == 1
        assert (workspace / "new.txt").read_text() == "new\n"
        async with socket_client(server.url) as fresh:
            await fresh.call("initialize", GREETING)
            await fresh.call(
                "session/load", {"sessionId": session_id, "cwd": str(workspace), "mcpServers": []}
            )
            assert fresh.said(session_id) == "".join(WORDS)
    assert len(model.requests) == 2
