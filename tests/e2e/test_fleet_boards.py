"""A board that several machines share. Each home acts as a machine; they share only Postgres and a repository."""

import json
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest

from examples.fleet_demo.fleet_servers import FleetServers, fleet_servers
from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, configure, run_command
from tests.model_server import ModelServer, Recorded, Reply, Script, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
ENDLESS = Reply(("word ",) * 10_000, delay_s=0.5)
WRITE = ToolCall("write_file", {"path": "done.txt", "content": "done\n"})


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[FleetServers]:
    with fleet_servers(tmp_path_factory.mktemp("fleet")) as running:
        yield running


class Machines:
    """Two machines of one profile, and their repository."""

    def __init__(self, folder: Path, servers: FleetServers, model: ModelServer, tenant: str) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        self.environments: dict[str, dict[str, str]] = {}
        settings = {
            "fleet": {"address": servers.address, "tenant": tenant},
            "mode": "accept_edits",
            "boards": {"confine_checks": False},
        }
        for name in ("one", "two"):
            configure(folder / name, json.dumps(settings))
            named = {
                f"GIT_{who}_{what}": "a@example.com"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            }
            self.environments[name] = agent_environment(
                folder / name, model, HERMES_FLEET_DATABASE=servers.database, **named
            )
        self.git("init", "-q", "--initial-branch=main")
        self.git("commit", "-q", "--allow-empty", "-m", "Begin")

    def git(self, *words: str) -> str:
        variables = self.environments["one"]
        done = subprocess.run(
            ["git", *words], cwd=self.project, env=variables, capture_output=True, text=True, check=True
        )
        return done.stdout

    async def hermes(self, machine: str, *words: str) -> str:
        done = await run_command(*words, environment=self.environments[machine], cwd=self.project)
        assert done.code == 0, done.output + done.errors
        return done.output

    async def card(self, machine: str, state: str) -> dict[str, Any]:
        """Wait until the first card is in a state, as a machine sees it."""
        with anyio.fail_after(WAIT_S):
            while True:
                (card,) = json.loads(await self.hermes(machine, "board", "list", "--all", "--json"))
                if card["state"] == state:
                    return card

    @asynccontextmanager
    async def worker(self, machine: str) -> AsyncGenerator[anyio.abc.Process]:
        """Run a worker in its own process group while the block runs."""
        with (self.project.parent / f"{machine}.log").open("ab") as log:
            process = await anyio.open_process(
                [COMMAND, "worker", "--board", "default"],
                env=self.environments[machine],
                cwd=self.project,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        async with process:
            try:
                yield process
            finally:
                if process.returncode is None:
                    process.terminate()
                with anyio.CancelScope(shield=True), anyio.fail_after(WAIT_S):
                    await process.wait()


async def test_the_card_of_a_killed_machine_is_continued_by_another_and_merged_once(
    tmp_path: Path, servers: FleetServers
) -> None:
    killed = anyio.Event()

    def choose(request: Recorded) -> Reply:
        if not killed.is_set():
            return ENDLESS
        has_written = any(each["role"] == "tool" for each in request.body["messages"])
        return Reply("It is done.") if has_written else Reply("I write.", tool_calls=(WRITE,))

    async with serve(Script(choose=choose)) as model:
        machines = Machines(tmp_path, servers, model, "boards")
        await machines.hermes(
            "one", "board", "add", "Make it", "--ready", "--approval", "checks", "--check", "test -s done.txt"
        )
        async with machines.worker("one") as worker:
            card = await machines.card("two", "running")
            with anyio.fail_after(WAIT_S):
                while not model.requests:
                    await anyio.sleep(0.05)
            os.killpg(worker.pid, signal.SIGKILL)
            killed.set()
        await machines.hermes("two", "board", "comment", "1", "Hello from two.")
        async with machines.worker("two"):
            card = await machines.card("one", "done")
    assert card["attempt"]["number"] == 1
    assert [each["text"] for each in card["comments"]] == ["Hello from two."]
    assert machines.git("log", "--format=%s", "main").splitlines() == ["Make it", "Begin"]
    assert machines.git("show", "main:done.txt") == "done\n"
    shown = await machines.hermes("one", "board", "show", "1")
    assert f"Machine:   {os.uname().nodename}" in shown
    assert "Make it" in (tmp_path / "one/.hermes/boards/default/cards/done/1-make-it.md").read_text()


async def test_a_board_is_watched_edited_and_imported_on_any_machine(
    tmp_path: Path, servers: FleetServers
) -> None:
    async with serve([]) as model:
        machines = Machines(tmp_path, servers, model, "watched")
        alone = dict(machines.environments["one"])
        del alone["HERMES_FLEET_DATABASE"]
        done = await run_command("board", "add", "Old", environment=alone, cwd=machines.project)
        assert done.code == 0, done.errors
        listed = await run_command("board", environment=machines.environments["one"], cwd=machines.project)
        assert "hermes-acp board import" in listed.errors
        assert "Imported the board 'default': 1 card." in await machines.hermes("one", "board", "import")
        async with await anyio.open_process(
            [COMMAND, "board", "watch", "--json"], env=machines.environments["two"], cwd=machines.project
        ) as watch:
            assert watch.stdout
            with anyio.fail_after(WAIT_S):
                line = b""
                while b"\n" not in line:
                    with anyio.move_on_after(1):
                        line += await watch.stdout.receive()
                    if not line:
                        await machines.hermes("one", "board", "comment", "1", "Look.")
            watch.kill()
        assert json.loads(line.splitlines()[0])["title"] == "Old"
        await machines.hermes("two", "board", "list")
        file = tmp_path / "two/.hermes/boards/default/cards/1-old.md"
        file.write_text(file.read_text().replace("title: Old", "title: New"))
        await machines.hermes("two", "board", "list")
        assert "New" in await machines.hermes("one", "board", "list")


async def test_an_unreachable_database_of_a_board_is_named_by_its_address(tmp_path: Path) -> None:
    home = tmp_path / "home"
    configure(home, "{}")
    environment = agent_environment(home, HERMES_FLEET_DATABASE="postgresql://ann:secret@127.0.0.1:9/hermes")
    for words in (("board", "list"), ("board", "add", "x"), ("board", "watch"), ("board", "import")):
        (home / ".hermes" / "boards" / "default").mkdir(parents=True, exist_ok=True)
        (home / ".hermes" / "boards" / "default" / "log.jsonl").touch()
        done = await run_command(*words, environment=environment, cwd=tmp_path)
        assert done.code != 0
        assert "hermes at 127.0.0.1" in done.errors
        assert "secret" not in done.errors + done.output
    assert (home / ".hermes" / "boards" / "default" / "log.jsonl").exists()
