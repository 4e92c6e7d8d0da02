"""Health checks and metrics of a real server, for programs without a token."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.e2e.agent_process import WAIT_S, agent_environment, unwritable_folder
from tests.e2e.http_serving import BEARER, GREETING, Serving, serving, socket_client
from tests.model_server import Hold, Reply, serve

pytestmark = pytest.mark.anyio


async def get(server: Serving, path: str, headers: Mapping[str, str] | None = None) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=WAIT_S) as http:
        return await http.get(server.url.removesuffix("/acp") + path, headers=headers)


async def ready_status(server: Serving, wanted: int) -> object:
    """Poll until the status is as expected; return the answer."""
    with anyio.fail_after(WAIT_S):
        while (answer := await get(server, "/readyz")).status_code != wanted:
            pass
    return answer.json()


async def test_a_server_is_alive_then_ready_then_draining(tmp_path: Path) -> None:
    gate = anyio.Event()
    talk = Reply(("one ", "two"), holds=(Hold(gate, after=1),))
    async with (
        serve([talk]) as model,
        serving(agent_environment(tmp_path, model), tmp_path) as server,
        socket_client(server.url) as client,
    ):
        alive = await get(server, "/healthz", {"host": "pod-7.internal"})
        assert (alive.status_code, alive.text) == (200, "ok\n")
        assert await ready_status(server, 200) == {"status": "ready", "reasons": []}
        await client.call("initialize", GREETING)
        session_id = await client.open_session(tmp_path)
        running = await client.begin_prompt(session_id, "talk")
        await client.hear(session_id, "one ")
        page = (await get(server, "/metrics", BEARER)).text.splitlines()
        assert {
            "hermes_turns_running 1",
            "hermes_sessions_open 1",
            'hermes_connections{transport="websocket"} 1',
            "hermes_model_first_word_seconds_count 1",
        } <= set(page)
        server.process.terminate()
        assert await ready_status(server, 503) == {"status": "not_ready", "reasons": ["draining"]}
        assert (await get(server, "/healthz")).status_code == 200
        gate.set()
        await client.reply_to(running)
        assert await server.wait() == 0


@pytest.mark.parametrize("is_open", [False, True])
async def test_metrics_need_the_token_unless_a_setting_says_otherwise(tmp_path: Path, is_open: bool) -> None:
    home = tmp_path / ".hermes"
    home.mkdir(mode=0o700)
    if is_open:
        (home / "config.yaml").write_text("serve:\n  open_metrics: true\n")
    async with serving(agent_environment(tmp_path), tmp_path) as server:
        assert (await get(server, "/metrics")).status_code == (200 if is_open else 401)
        assert (await get(server, "/metrics", {"host": "rebound.example"})).status_code == 421
        page = await get(server, "/metrics", BEARER)
        assert page.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert "hermes_build_info{" in page.text
        assert str(tmp_path) not in page.text


async def test_a_home_that_cannot_be_written_is_not_ready(tmp_path: Path) -> None:
    home = tmp_path / ".hermes"
    with ExitStack() as locked:
        locked.enter_context(unwritable_folder(home))
        async with serving(agent_environment(tmp_path), tmp_path) as server:
            with anyio.fail_after(WAIT_S):
                while (answer := await get(server, "/readyz")).json()["reasons"] != ["home_not_writable"]:
                    assert answer.status_code == 503
            locked.close()
            await ready_status(server, 200)
