"""Tests specific to a workspace over ssh: state that persists between commands, and the effects of a lost
connection.
"""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from hermes_acp.config.sections.backend_settings import SshSettings
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command, SearchQuery
from hermes_acp.workspaces.backends.ssh import BACKEND
from hermes_acp.workspaces.processes.process_table import list_processes
from tests.contract.remote_machines import Missing, ssh_server
from tests.contract.workspace_suite import BOUND_S, Ground, Report, living, run

pytestmark = pytest.mark.anyio
VARIABLES = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
SERVER = """
import anyio, os, sys
from hermes_acp.config.sections.backend_settings import SshSettings
from hermes_acp.core.ports.workspace_ports import Command
from hermes_acp.workspaces.backends.ssh import BACKEND

async def serve():
    settings = SshSettings(host="far", config_file=sys.argv[2])
    workspace = BACKEND.open(sys.argv[1], [sys.argv[1]], dict(os.environ), "", settings)
    process = await workspace.launch(Command("echo $$ ready; sleep 1000; echo", sys.argv[1], 1))
    said = ""
    while "ready" not in said:
        said += (await process.read(20)).output
    print(said, flush=True)
    await anyio.sleep_forever()

anyio.run(serve)
"""


@pytest.fixture(scope="module")
async def config_file(tmp_path_factory: pytest.TempPathFactory, require_all: bool) -> AsyncGenerator[Path]:
    try:
        async with ssh_server(tmp_path_factory.mktemp("sshd").resolve()) as found:
            yield found
    except Missing as missing:
        if require_all:
            raise
        pytest.skip(f"{missing} is not here")


@pytest.fixture
async def ground(config_file: Path, tmp_path: Path) -> AsyncGenerator[Ground]:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    settings = SshSettings(host="far", config_file=str(config_file), folder=str(folder))
    workspace = BACKEND.open("/elsewhere", ("/elsewhere",), VARIABLES, "", settings)
    yield Ground(workspace, folder, tmp_path)
    await workspace.close()


def clients() -> list[int]:
    """Return the ssh clients that this process has running."""
    mine = [row for row in list_processes().values() if row.parent == os.getpid() and not row.is_dead]
    found: list[int] = []
    for row in mine:
        with suppress(FileNotFoundError):  # It has just ended.
            if Path(f"/proc/{row.pid}/comm").read_text().strip() == "ssh":
                found.append(row.pid)
    return found


async def test_folder_and_variables_persist_between_commands(ground: Ground) -> None:
    end = await run(ground, "mkdir sub; cd sub; export WORD='two words\n\"and\" more'; UNSEEN=x; exit 3")
    assert end.exit_code == 3
    assert ground.workspace.cwd == ground.path("sub")
    assert f"the working directory is now {ground.path('sub')}" in end.output
    end = await ground.workspace.run(Command('pwd; echo "$WORD$UNSEEN"', ground.workspace.cwd, 30), Report())
    assert end.output == f'{ground.path("sub")}\ntwo words\n"and" more\n'
    assert ground.workspace.locate("x") == ground.path("sub/x")


async def test_a_command_that_leaves_the_folders_is_moved_back(ground: Ground) -> None:
    end = await run(ground, "cd /")
    assert "left the session's folders" in end.output
    assert ground.workspace.cwd == str(ground.folder)


async def test_variables_that_load_code_do_not_persist(ground: Ground) -> None:
    await run(ground, "export LD_PRELOAD=/nowhere.so BASH_ENV=/nowhere HERMES=1")
    output = (await run(ground, "env")).output
    assert "HERMES=1" in output
    assert "nowhere" not in output


async def test_one_connection_serves_all_commands(ground: Ground) -> None:
    addresses = {(await run(ground, "echo $SSH_CONNECTION")).output for _ in range(3)}
    assert len(addresses) == 1
    assert not (await run(ground, "echo $SSH_AUTH_SOCK")).output.strip()


async def test_a_broken_connection_is_reported_and_the_next_command_gets_a_new_one(ground: Ground) -> None:
    report = Report()
    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as tasks:

            async def break_off() -> None:
                with pytest.raises(WorkspaceError, match="was lost"):
                    await ground.workspace.run(
                        Command("echo $$ ready; sleep 1000; echo", ground.cwd, 600), report
                    )

            tasks.start_soon(break_off)
            await report.seen.wait()
            for pid in clients():
                with suppress(
                    ProcessLookupError
                ):  # Killing one client can end the others, so a PID may already be gone.
                    os.kill(pid, signal.SIGKILL)
        assert (await run(ground, "echo again")).output == "again\n"
        pid = int(report.text.split()[0])
        while await living(ground, [pid]):
            await anyio.sleep(0.05)


async def test_nothing_remains_there_when_this_process_is_killed(config_file: Path, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", SERVER, str(tmp_path), str(config_file)]
    environment = {**VARIABLES, "PYTHONPATH": os.pathsep.join(sys.path)}
    with anyio.fail_after(BOUND_S):
        async with await anyio.open_process(argv, env=environment, stderr=None) as server:
            assert server.stdout is not None
            pid = int((await server.stdout.receive()).split()[0])
            assert pid in list_processes()
            os.kill(server.pid, signal.SIGKILL)
            await server.wait()
        while (row := list_processes().get(pid)) and not row.is_dead:
            await anyio.sleep(0.05)


async def test_nothing_of_ours_remains_after_closing(ground: Ground) -> None:
    before = set(Path("/tmp").glob("hermes-acp-*"))
    await run(ground, "export X=1")
    made = [path for path in set(Path("/tmp").glob("hermes-acp-*")) - before if (path / "env").exists()]
    assert made
    await ground.workspace.close()
    assert not any(path.exists() for path in made)
    assert not clients()


async def test_a_host_that_cannot_be_reached_is_reported(config_file: Path, tmp_path: Path) -> None:
    settings = SshSettings(host="far", port=1, config_file=str(config_file))
    workspace = BACKEND.open(str(tmp_path), (str(tmp_path),), VARIABLES, "", settings)
    with pytest.raises(WorkspaceError, match=r"Cannot reach .* by ssh: .*refused"):
        await workspace.read(str(tmp_path / "x"))
    await workspace.close()


async def test_a_search_never_hides_a_match_that_is_too_long_to_show(ground: Ground) -> None:
    with (ground.folder / "long.txt").open("w") as file:
        file.write("needle")
        for _ in range(20):
            file.write("x" * 1_000_000)
    with suppress(WorkspaceError):  # If the host has ripgrep, which would send the whole line.
        assert await ground.workspace.search(SearchQuery("needle", str(ground.folder)))
    with pytest.raises(WorkspaceError, match="100,000 characters"):
        await ground.workspace.search(SearchQuery("a" * 100_000, str(ground.folder)))
