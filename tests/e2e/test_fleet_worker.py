"""`hermes-acp worker` in a fleet, as a user runs it: runs of two profiles in one pool, driven by one worker."""

import json
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

from examples.fleet_demo.fleet_servers import FleetServers, fleet_servers
from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, configure, run_command
from tests.model_server import Reply, ToolCall, serve

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
    assert "No database is configured for the fleet." in done.errors
    assert "HERMES_FLEET_DATABASE" in done.errors


async def test_another_machine_continues_a_killed_machines_run_in_a_rebuilt_folder(
    tmp_path: Path, servers: FleetServers
) -> None:
    """Two homes act as two machines. The first is killed, along with its folder, while its run waits for an answer."""
    project = tmp_path / "project"
    project.mkdir()
    for words in (["init", "-q", "--bare", str(tmp_path / "store.git")], ["init", "-q", "-b", "main"]):
        await anyio.run_process(["git", *words], cwd=project)
    fleet = {
        "address": servers.address,
        "tenant": "moving",
        "workspaces": str(tmp_path / "store.git"),
        "move_after_seconds": 1,
    }
    write = ToolCall("write_file", {"path": "done.txt", "content": "done\n"})
    ask = ToolCall("terminal", {"command": "rm done.txt"})
    replies = [
        Reply("I write.", tool_calls=(write,)),
        Reply("I remove.", tool_calls=(ask,)),
        Reply("All done."),
    ]
    async with serve(replies) as server:
        environments: list[dict[str, str]] = []
        for name in ("one", "two"):
            home = tmp_path / name
            configure(home, json.dumps({"fleet": fleet, "mode": "accept_edits"}))
            environments.append(agent_environment(home, server, HERMES_FLEET_DATABASE=servers.database))
        first, second = environments

        async def shown(words: str) -> str:
            with anyio.fail_after(WAIT_S):
                while True:
                    done = await run_command("runs", "show", "moved", environment=second, cwd=tmp_path)
                    if words in done.output:
                        return done.output

        async with await anyio.open_process([COMMAND, "worker"], env=first, cwd=project) as worker:
            await run_command(
                "runs", "start", "-p", "Do it.", "--id", "moved", environment=first, cwd=project
            )
            await shown("rm done.txt")
            worker.kill()
        project.rename(tmp_path / "lost")
        async with await anyio.open_process([COMMAND, "worker"], env=second, cwd=tmp_path) as worker:
            answered = await run_command("runs", "answer", "moved", "allow", environment=second, cwd=tmp_path)
            assert answered.code == 0, answered.errors
            await shown("All done.")
            worker.kill()
    assert (project / ".git").is_dir()
    assert not (project / "done.txt").exists()
    assert "This work continues on another machine" in str(server.requests[-1].body)
