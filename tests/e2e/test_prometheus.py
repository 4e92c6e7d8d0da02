"""A real Prometheus that scrapes a real server, with the configuration that the documentation shows."""

import re
import shutil
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio import run_process

from tests.e2e.agent_process import WAIT_S, agent_environment
from tests.e2e.http_serving import BEARER, GREETING, TOKEN, Serving, serving, socket_client
from tests.model_server import Reply, ToolCall, serve
from tests.ports import quiet_port

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

DOCS = Path(__file__).parents[2] / "docs" / "remote.md"
POLL_S = 0.1
LOOK = ToolCall("read_file", {"path": "a.py"})


@pytest.fixture(autouse=True)
def programs(require_all: bool) -> None:
    if not all(map(shutil.which, ("prometheus", "promtool"))):
        assert not require_all, "Prometheus is not installed: tests/install.sh all"
        pytest.skip("Prometheus is not installed")


def documented_configuration(server: Serving, token_file: Path) -> str:
    """Return the documented configuration with the address and the file of this test, and short intervals."""
    shown = re.search(r"```yaml\n( *scrape_configs:.*?)```", DOCS.read_text(), re.DOTALL)
    assert shown, f"{DOCS} shows no scrape_configs"
    text = shown[1]
    for old, new in (
        ("127.0.0.1:8722", server.url.removeprefix("http://").removesuffix("/acp")),
        ("/etc/prometheus/hermes-acp.token", str(token_file)),
        ("scrape_interval: 15s", "scrape_interval: 300ms\n       scrape_timeout: 300ms"),
    ):
        assert old in text
        text = text.replace(old, new)
    return text


def documented_queries() -> list[str]:
    rows = re.findall(r"^\| [^|]+ \| `(.*(?:rate|_total).*)` \|$", DOCS.read_text(), re.MULTILINE)
    assert len(rows) >= 4
    return [row.replace(r"\|", "|") for row in rows]


class Prometheus:
    """One running Prometheus."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http

    async def is_ready(self) -> bool:
        """Return whether it answers queries yet."""
        try:
            return (await self._http.get("/-/ready")).status_code == 200
        except httpx2.TransportError:
            return False

    async def target(self) -> dict[str, Any]:
        """Return the only target, once it was scraped."""
        with anyio.fail_after(WAIT_S):
            while True:
                answer: dict[str, Any] = (await self._http.get("/api/v1/targets")).json()
                (target,) = answer["data"]["activeTargets"] or [{"health": "unknown"}]
                if target["health"] != "unknown":
                    return target
                await anyio.sleep(POLL_S)

    async def value(self, query: str) -> float | None:
        """Return the value of a query's only result, or None if it has none."""
        answer = (await self._http.get("/api/v1/query", params={"query": query})).json()
        assert answer["status"] == "success", answer
        found = answer["data"]["result"]
        assert len(found) <= 1, found
        return float(found[0]["value"][1]) if found else None

    async def wait_for(self, query: str, wanted: float) -> None:
        """Wait until a query has this value."""
        with anyio.fail_after(WAIT_S):
            while await self.value(query) != wanted:
                await anyio.sleep(POLL_S)


@asynccontextmanager
async def prometheus(folder: Path, configuration: str) -> AsyncGenerator[Prometheus]:
    """Run Prometheus on loopback with this configuration, which promtool must accept."""
    file = folder / "prometheus.yml"
    file.write_text(configuration)
    checked = await run_process(
        ["promtool", "check", "config", str(file)], check=False, stderr=subprocess.STDOUT
    )
    assert checked.returncode == 0, checked.stdout.decode()
    port = quiet_port()
    command = (
        "prometheus",
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'series'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    )
    with (folder / "prometheus.log").open("wb") as log:
        async with (
            await anyio.open_process(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process,
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=WAIT_S) as http,
        ):
            try:
                monitor = Prometheus(http)
                with anyio.fail_after(WAIT_S):
                    while not await monitor.is_ready():
                        await anyio.sleep(POLL_S)
                yield monitor
            finally:
                process.terminate()


async def test_prometheus_scrapes_a_server_as_documented(tmp_path: Path, workspace: Path) -> None:
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    async with (
        serve([Reply("", tool_calls=(LOOK,)), Reply("Done.")]) as model,
        serving(agent_environment(tmp_path, model), tmp_path) as server,
        prometheus(tmp_path, documented_configuration(server, token)) as monitor,
    ):
        target = await monitor.target()
        assert (target["health"], target["lastError"]) == ("up", ""), target
        await monitor.wait_for('hermes_turns_total{reason="done"}', 0)
        async with socket_client(server.url) as client:
            await client.call("initialize", GREETING)
            session_id = await client.open_session(workspace)
            assert (await client.prompt(session_id, "look"))["result"]["stopReason"] == "end_turn"
            await monitor.wait_for('hermes_turns_total{reason="done"}', 1)
        await monitor.wait_for('hermes_tool_calls_total{tool="read_file",outcome="completed"}', 1)
        await monitor.wait_for("hermes_turn_duration_seconds_count", 1)
        assert (await monitor.value("increase(hermes_turns_total{reason='done'}[1m])") or 0) > 0
        assert await monitor.value("sum(hermes_tokens_total)") == 2 * (11 + 7)
        for query in documented_queries():
            assert await monitor.value(query) is not None, query


async def test_a_wrong_token_is_a_target_that_is_down(tmp_path: Path) -> None:
    wrong = tmp_path / "token"
    wrong.write_text("another-token-that-nobody-knows")
    async with (
        serving(agent_environment(tmp_path), tmp_path) as server,
        prometheus(tmp_path, documented_configuration(server, wrong)) as monitor,
    ):
        target = await monitor.target()
    assert target["health"] == "down"
    assert "401" in str(target["lastError"])


async def test_promtool_finds_no_fault(tmp_path: Path, workspace: Path) -> None:
    async with (
        serve([Reply("", tool_calls=(LOOK,)), Reply("Done.")]) as model,
        serving(agent_environment(tmp_path, model), tmp_path) as server,
        socket_client(server.url) as client,
        httpx2.AsyncClient(timeout=WAIT_S) as http,
    ):
        await client.call("initialize", GREETING)
        await client.prompt(await client.open_session(workspace), "look")
        page = await http.get(server.url.removesuffix("/acp") + "/metrics", headers=BEARER)
    assert 'hermes_tool_calls_total{tool="read_file",outcome="completed"} 1\n' in page.text
    checked = await run_process(
        ["promtool", "check", "metrics"], input=page.content, check=False, stderr=subprocess.STDOUT
    )
    assert (checked.returncode, checked.stdout.decode()) == (0, "")
