"""`hermes-acp batch` in a fleet: real Postgres and Temporal, killed workers and killed batches, questions."""

import json
import re
import subprocess
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from examples.fleet_demo.fleet_servers import FleetServers, fleet_servers
from tests.e2e.agent_process import COMMAND, agent_environment, configure, run_command
from tests.e2e.test_batch_command import WRITE, batch_running, results_in, until, whole_lines, write_lines
from tests.model_server import Reply, Script, ToolCall, serve
from tests.model_server.requests import Recorded

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[FleetServers]:
    with fleet_servers(tmp_path_factory.mktemp("fleet")) as running:
        yield running


@asynccontextmanager
async def _fleet_worker(environment: Mapping[str, str], cwd: Path) -> AsyncGenerator[anyio.abc.Process]:
    """Start a worker of the fleet; kill it at the end of the block."""
    command = [COMMAND, "worker", "--slots", "2", "--allow-bypass"]
    log = (cwd.parent / "worker.log").open("ab")
    async with await anyio.open_process(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=dict(environment), cwd=cwd
    ) as process:
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            log.close()


@pytest.mark.parametrize("workers", [0, 2])
async def test_a_batch_in_a_fleet_survives_kills_of_itself_and_of_its_workers(
    home: Path, workspace: Path, servers: FleetServers, workers: int
) -> None:
    """Each line is processed once, by workers of the fleet or, without any, by the batch's own process."""
    number = 12
    fleet = {"address": servers.address, "tenant": f"batch{workers}"}
    configure(home, json.dumps({"fleet": fleet, "allow_bypass": True, "mode": "bypass"}))
    write_lines(workspace, *({"id": f"n{each}", "prompt": f"note {each}"} for each in range(number)))

    def choose(request: Recorded) -> Reply:
        (line,) = set(re.findall(r"note (\d+)", json.dumps(request.body["messages"])))
        if '"role": "tool"' in json.dumps(request.body["messages"]):
            return Reply(f"About {line}")
        return Reply("Noted.", tool_calls=(ToolCall("terminal", {"command": f"echo {line} >> log.txt"}),))

    async with serve(Script(choose=choose)) as server, AsyncExitStack() as stack:
        environment = agent_environment(home, server, HERMES_FLEET_DATABASE=servers.database)
        started = [
            await stack.enter_async_context(_fleet_worker(environment, workspace)) for _ in range(workers)
        ]
        async with batch_running(environment=environment, cwd=workspace) as process:
            await until(lambda: whole_lines(workspace) >= number // 4)
            if started:
                started[0].kill()
            process.kill()
            await process.wait()
        done = await run_command("batch", "run", "prompts.jsonl", environment=environment, cwd=workspace)
        shown = await run_command(
            "batch", "status", "prompts.jsonl", "--json", environment=environment, cwd=workspace
        )
    assert done.code == 0, done.errors
    results = {each["id"]: each for each in results_in(workspace)}
    assert len(results) == len(results_in(workspace)) == number
    assert all(each["answer"] == f"About {line[1:]}" for line, each in results.items())
    noted = Counter((workspace / "log.txt").read_text().split())
    assert set(noted.values()) == {1}, noted.most_common(3)
    missing = {line for line in results if line[1:] not in noted}
    assert all(results[line]["interruptions"] for line in missing), "a call that was cut off is not repeated"
    assert json.loads(shown.output)["counts"]["done"] == number


async def test_a_question_of_a_line_in_a_fleet_is_answered_and_collected(
    home: Path, workspace: Path, servers: FleetServers
) -> None:
    configure(home, json.dumps({"fleet": {"address": servers.address, "tenant": "asking"}}))
    write_lines(workspace, {"id": "w", "prompt": "write"})
    batch = ("batch", "run", "prompts.jsonl")
    async with serve([Reply("I write.", tool_calls=(WRITE,)), Reply("Wrote it.")]) as server:
        environment = agent_environment(home, server, HERMES_FLEET_DATABASE=servers.database)
        async with _fleet_worker(environment, workspace):
            waits = await run_command(*batch, environment=environment, cwd=workspace)
            assert waits.code == 5, waits.errors
            (run,) = set(re.findall(r"hermes-acp runs show (\S+)", waits.errors))
            await run_command("runs", "answer", run, "allow", environment=environment, cwd=workspace)
            done = await run_command(*batch, environment=environment, cwd=workspace)
    assert done.code == 0, done.errors
    assert [(each["answer"], each["interruptions"]) for each in results_in(workspace)] == [("Wrote it.", 0)]
    assert (workspace / "made.txt").read_text() == "made\n"
