"""Draining on SIGTERM: running turns end, new ones are rejected, and the exit code is 0."""

import signal
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.e2e.agent_process import WAIT_S, agent_environment
from tests.e2e.http_serving import BEARER, GREETING, Message, Serving, SocketClient, serving, socket_client
from tests.model_server import Hold, Reply, serve

pytestmark = pytest.mark.anyio


async def begin_held_turn(client: SocketClient, workspace: Path) -> tuple[str, int]:
    """Start a turn whose answer stops after its first word."""
    await client.call("initialize", GREETING)
    session_id = await client.open_session(workspace)
    running = await client.begin_prompt(session_id, "talk")
    await client.hear(session_id, "one ")
    return session_id, running


async def refused_client(server: Serving) -> str:
    """Connect until that is refused; return the reason."""
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": GREETING}
    async with httpx2.AsyncClient(timeout=WAIT_S) as http:
        while (answer := await http.post(server.url, json=hello, headers=BEARER)).status_code == 200:
            pass
    assert answer.status_code == 503
    return answer.text


async def test_a_running_turn_ends_before_the_server_does(tmp_path: Path) -> None:
    gate = anyio.Event()
    talk = Reply(("one ", "two"), holds=(Hold(gate, after=1),))
    async with (
        serve([talk, Reply("never")]) as model,
        serving(agent_environment(tmp_path, model), tmp_path) as server,
        socket_client(server.url) as client,
    ):
        session_id, running = await begin_held_turn(client, tmp_path)
        other = await client.open_session(tmp_path)
        server.process.terminate()
        assert await refused_client(server) == "This server is stopping.\n"
        refused = await client.prompt(other, "more")
        assert "is stopping and does not start new turns" in refused["error"]["message"]
        gate.set()
        assert (await client.reply_to(running))["result"] == {"stopReason": "end_turn"}
        assert client.said(session_id) == "one two"
        assert await server.wait() == 0


@pytest.mark.parametrize(
    ("settings", "signals", "code"),
    [
        ("serve:\n  drain_seconds: 0.1\n", (signal.SIGTERM,), 0),
        ("", (signal.SIGTERM, signal.SIGTERM), 0),
        ("", (signal.SIGINT,), 130),
    ],
    ids=["after the time", "second signal", "interrupt"],
)
async def test_a_turn_that_does_not_end_is_interrupted_and_continued_at_the_next_start(
    tmp_path: Path, settings: str, signals: tuple[signal.Signals, ...], code: int
) -> None:
    (tmp_path / ".hermes").mkdir(mode=0o700)
    (tmp_path / ".hermes" / "config.yaml").write_text(settings)
    talk = Reply(("one ", "two"), holds=(Hold(anyio.Event(), after=1),))
    async with serve([talk, Reply("Continued.")]) as model:
        environment = agent_environment(tmp_path, model)
        async with serving(environment, tmp_path) as server, socket_client(server.url) as client:
            session_id, running = await begin_held_turn(client, tmp_path)
            await send_all(server, signals)
            assert "error" in await client.reply_to(running)
            assert await server.wait() == code
        record = (tmp_path / ".hermes" / "sessions" / f"{session_id}.jsonl").read_text()
        assert "one " in record.splitlines()[-1]
        async with serving(environment, tmp_path) as server, socket_client(server.url) as client:
            await client.call("initialize", GREETING)
            params: Message = {"sessionId": session_id, "cwd": str(tmp_path), "mcpServers": []}
            assert "result" in await client.call("session/load", params)
            await client.hear(session_id, "Continued.")


async def send_all(server: Serving, signals: tuple[signal.Signals, ...]) -> None:
    for number in signals:
        server.process.send_signal(number)
        await anyio.sleep(0.05)  # Two pending signals of the same kind are one.
