"""Sessions of one profile on two machines, each with its own home folder, as their users see them."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

from examples.fleet_demo.fleet_servers import postgres
from tests.e2e.agent_process import agent_environment, run_command, run_headless
from tests.e2e.raw_editor import Message, RawEditor, editor
from tests.model_server import Hold, ModelServer, Reply, serve

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with postgres(tmp_path_factory.mktemp("postgres")) as uri:
        yield uri


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def machine(tmp_path: Path, name: str, server: ModelServer, database: str) -> dict[str, str]:
    """Return the variables of the profile's agent on one of its machines."""
    home = tmp_path / name
    (home / ".hermes").mkdir(parents=True, exist_ok=True)
    tenant = f"t{os.stat(tmp_path).st_ino}"
    (home / ".hermes" / "config.yaml").write_text(json.dumps({"fleet": {"tenant": tenant}}))
    return agent_environment(home, server, HERMES_FLEET_DATABASE=database)


async def load(agent: RawEditor, session_id: str, workspace: Path) -> Message:
    return await agent.call(
        "session/load", {"sessionId": session_id, "cwd": str(workspace), "mcpServers": []}
    )


async def test_a_session_is_listed_found_shown_and_continued_on_another_machine(
    tmp_path: Path, workspace: Path, database: str
) -> None:
    async with serve([Reply("Herons nest in trees."), Reply("And in reeds.")]) as server:
        one, other = (machine(tmp_path, name, server, database) for name in ("one", "other"))
        asked = ("--session", "birds", "-p", "Where do herons nest?")
        assert (await run_headless(*asked, environment=one, cwd=workspace)).code == 0
        for arguments in (("list",), ("search", "herons"), ("show", "birds")):
            done = await run_command("sessions", *arguments, environment=other, cwd=workspace)
            assert (done.code, "herons" in done.output.lower()) == (0, True), done
        done = await run_headless("--resume", "birds", "-p", "Where else?", environment=other, cwd=workspace)
        assert (done.code, done.output.strip()) == (0, "And in reeds.")
        shown = await run_command("sessions", "show", "birds", environment=one, cwd=workspace)
        assert "And in reeds." in shown.output
        assert "Herons nest in trees." in json.dumps(server.requests[1].body)


async def test_an_editor_follows_a_session_on_another_machine_live(
    tmp_path: Path, workspace: Path, database: str
) -> None:
    gate, reached = anyio.Event(), anyio.Event()
    slow = Reply(("First words, ", "then the rest."), holds=(Hold(gate, after=1, reached=reached),))
    async with serve([slow, Reply("Later.")]) as server:
        one, other = (machine(tmp_path, name, server, database) for name in ("one", "other"))
        async with editor(other, workspace) as second:
            async with editor(one, workspace) as first:
                session_id = await first.open_session(workspace)
                await first.begin_prompt(session_id, "Tell me.")
                await reached.wait()
                assert "result" in await load(second, session_id, workspace)
                await second.wait_for(lambda _: "First words" in second.said())
                gate.set()
                await second.wait_for(lambda _: second.said() == "First words, then the rest.")
                refused = await second.prompt(session_id, "And now?")
                assert "open on another machine" in json.dumps(refused)
                await first.leave()
            await second.wait_for(
                lambda message: "no longer open on the other machine" in json.dumps(message)
            )
            assert "result" in await load(second, session_id, workspace)
            assert "result" in await second.prompt(session_id, "And now?")
            assert second.said().endswith("Later.")
