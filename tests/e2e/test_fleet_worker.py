"""`hermes-acp worker` in a fleet, as a person uses it: runs of two profiles of one pool, driven by one worker."""

import json
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

from examples.fleet_demo.fleet_servers import FleetServers, fleet_servers
from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, configure, run_command
from tests.model_server import Reply, serve

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[FleetServers]:
    with fleet_servers(tmp_path_factory.mktemp("fleet")) as running:
        yield running


def settings(servers: FleetServers) -> str:
    return json.dumps({"fleet": {"address": servers.address, "pool": "team"}})


async def test_one_worker_drives_the_runs_of_two_profiles(
    home: Path, workspace: Path, servers: FleetServers
) -> None:
    configure(home, settings(servers))
    async with serve([Reply("It is 42."), Reply("It is 42.")]) as server:
        environment = agent_environment(home, server, HERMES_FLEET_DATABASE=servers.database)

        async def hermes(*words: str, code: int = 0) -> str:
            done = await run_command(*words, environment=environment, cwd=workspace)
            assert done.code == code, done.output + done.errors
            return done.output

        await hermes("profiles", "create", "other")
        (home / ".hermes" / "profiles" / "other" / "config.yaml").write_text(settings(servers))
        await hermes("runs", "start", "-p", "What is it?", "--id", "mine")
        await hermes("--profile", "other", "runs", "start", "-p", "What is it?", "--id", "theirs")
        assert "theirs" not in await hermes("runs", "list", "--all")
        worker = await anyio.open_process(
            [COMMAND, "worker", "--with-profile", "other", "--slots", "1"], env=environment, cwd=workspace
        )
        try:
            with anyio.fail_after(WAIT_S):
                for words in (("runs", "show", "mine"), ("--profile", "other", "runs", "show", "theirs")):
                    while "It is 42." not in await hermes(*words):
                        pass
            worker.terminate()
            assert await worker.wait() == 0
        finally:
            if worker.returncode is None:
                worker.kill()
            await worker.aclose()


async def test_a_worker_of_a_profile_without_a_fleet_says_what_is_missing(
    home: Path, workspace: Path
) -> None:
    environment = agent_environment(home)
    await run_command("profiles", "create", "other", environment=environment, cwd=workspace)
    done = await run_command("worker", "--with-profile", "other", environment=environment, cwd=workspace)
    assert done.code != 0
    assert "The fleet's database is not known." in done.errors
    assert "HERMES_FLEET_DATABASE" in done.errors
