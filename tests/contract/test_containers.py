"""Tests specific to containers: isolation, ending with this process, fork bombs, and leftovers from other processes."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import anyio
import pytest

from hermes_acp.config.sections.backend_settings import DockerSettings
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command, Workspace
from hermes_acp.workspaces.backends.docker import BACKEND
from hermes_acp.workspaces.containers.engine_options import OWNER_LABEL
from hermes_acp.workspaces.containers.mounted_commands import MountRestrictions
from hermes_acp.workspaces.sandbox.sandbox_policy import GuardedNames
from tests.contract.remote_machines import IMAGE, Missing, docker_engine
from tests.contract.workspace_suite import BOUND_S, Ground, Report, run

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SETTINGS = DockerSettings(image=IMAGE, pids=48, memory_mb=128, tmp_mb=64)
SERVER = """
import anyio, os, sys
from hermes_acp.config.sections.backend_settings import DockerSettings
from hermes_acp.core.ports.workspace_ports import Command
from hermes_acp.workspaces.backends.docker import BACKEND

async def serve():
    workspace = BACKEND.open(sys.argv[1], [sys.argv[1]], dict(os.environ), "", DockerSettings(image=sys.argv[2]))
    await workspace.launch(Command("sleep 1000", sys.argv[1], 1))
    print("ready", flush=True)
    await anyio.sleep_forever()

anyio.run(serve)
"""


@pytest.fixture(scope="module")
async def variables(
    tmp_path_factory: pytest.TempPathFactory, require_all: bool
) -> AsyncGenerator[Mapping[str, str]]:
    try:
        async with docker_engine(tmp_path_factory.mktemp("engine").resolve()) as found:
            yield found
    except Missing as missing:
        if require_all:
            raise
        pytest.skip(f"{missing} is not here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "project"
    place.mkdir()
    return place


@pytest.fixture
async def ground(variables: Mapping[str, str], folder: Path, tmp_path: Path) -> AsyncGenerator[Ground]:
    (folder / ".git/hooks").mkdir(parents=True)
    (folder / ".git/config").write_text("[core]\n")
    home = folder / "home"
    home.mkdir()
    (home / "config.yaml").write_text("mine")
    workspace = BACKEND.open(str(folder), (str(folder),), variables, str(home), SETTINGS)
    yield Ground(workspace, folder, tmp_path)
    await workspace.close()


async def containers(variables: Mapping[str, str], *options: str) -> list[str]:
    argv = ["docker", "ps", "--quiet", "--all", f"--filter=label={OWNER_LABEL}", *options]
    done = await anyio.run_process(argv, env=variables)
    return done.stdout.decode().split()


async def test_only_the_folders_and_tmp_are_writable(ground: Ground) -> None:
    lines = (
        "touch /x", "touch /etc/x", "echo x >.git/config", "touch .git/hooks/pre-commit",
        "mv .git/hooks .git/h", "mount -t tmpfs x /tmp", "chown 1:1 .", "mknod /tmp/x b 8 0", "ls -A home | grep .",
    )  # fmt: skip
    for line in lines:
        assert (await run(ground, line)).exit_code, line
    assert (ground.folder / ".git/config").read_text() == "[core]\n"
    assert (await run(ground, "touch /tmp/x here")).exit_code == 0
    assert (ground.folder / "here").stat().st_uid == os.getuid()


async def test_there_is_no_network_no_capability_and_no_privilege_escalation(ground: Ground) -> None:
    status = (await run(ground, "cat /proc/self/status")).output
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {facts[name] for name in ("CapEff", "CapPrm", "CapBnd", "CapInh")} == {"0" * 16}
    assert (facts["NoNewPrivs"], facts["Seccomp"]) == ("1", "2")
    links = (await run(ground, "ls /sys/class/net")).output.split()
    assert links == ["lo"]
    found = await run(ground, "find / -xdev -name '*.sock' 2>/dev/null; ls /var/run /run 2>/dev/null")
    assert "docker.sock" not in found.output


async def still_answers(ground: Ground) -> bool:
    """Return whether a command runs; the remaining processes of a fork bomb may still occupy every slot."""
    try:
        return (await run(ground, "echo still here")).output == "still here\n"
    except WorkspaceError:
        return False


async def test_a_fork_bomb_and_a_memory_hog_end_and_the_next_command_runs(ground: Ground) -> None:
    bomb = await run(ground, "bomb() { bomb | bomb & }; bomb; while :; do :; done", 2)
    assert bomb.timed_out or bomb.exit_code
    with anyio.fail_after(BOUND_S):
        while not await still_answers(ground):
            await anyio.sleep(0.1)
    hog = await run(ground, "tail /dev/zero", 30)
    assert hog.exit_code == 137
    assert (await run(ground, "echo still here")).output == "still here\n"


async def test_a_container_ends_with_its_session(ground: Ground, variables: Mapping[str, str]) -> None:
    await run(ground, "sleep 1000 >/dev/null 2>&1 &")
    before = await containers(variables)
    await ground.workspace.close()
    assert len(before) == 1
    assert await containers(variables) == []


async def test_a_container_ends_with_a_killed_server(variables: Mapping[str, str], folder: Path) -> None:
    argv = [sys.executable, "-c", SERVER, str(folder), IMAGE]
    environment = {**variables, "PYTHONPATH": os.pathsep.join(sys.path)}
    with anyio.fail_after(BOUND_S):
        async with await anyio.open_process(argv, env=environment, stderr=None) as server:
            assert server.stdout is not None
            assert b"ready" in await server.stdout.receive()
            assert len(await containers(variables)) == 1
            os.kill(server.pid, signal.SIGKILL)
            await server.wait()
        while await containers(variables):
            await anyio.sleep(0.05)


async def test_leftovers_of_a_killed_server_are_removed_at_the_next_start(
    ground: Ground, variables: Mapping[str, str]
) -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    gone = subprocess.run(["true"], check=True) and 4_194_303
    stray = ["docker", "run", "--detach", "--network=none", f"--label={OWNER_LABEL}={boot}:{gone}:1", IMAGE]
    others = ["docker", "run", "--detach", "--network=none", f"--label={OWNER_LABEL}=elsewhere:1:1", IMAGE]
    try:
        for argv in (stray, others):
            await anyio.run_process([*argv, "/bin/sleep", "1000"], env=variables)
        await run(ground, "true")
        labels = f'--format={{{{.Label "{OWNER_LABEL}"}}}}'
        done = await anyio.run_process(["docker", "ps", "--all", labels], env=variables)
        left = done.stdout.decode().split()
        assert f"{boot}:{gone}:1" not in left
        assert "elsewhere:1:1" in left, "another machine's containers are its own"
    finally:
        for each in await containers(variables):
            await anyio.run_process(["docker", "rm", "--force", each], env=variables)


async def test_a_container_gets_no_more_processors_than_the_machine_has(
    variables: Mapping[str, str], folder: Path
) -> None:
    settings = DockerSettings(image=IMAGE, cpus=4096)
    workspace: Workspace = BACKEND.open(str(folder), (str(folder),), variables, "", settings)
    end = await workspace.run(Command("echo here", str(folder), BOUND_S), Report())
    assert (end.output, end.exit_code) == ("here\n", 0)
    (container,) = await containers(variables, "--filter=status=running")
    argv = ["docker", "inspect", "--format={{.HostConfig.NanoCpus}}", container]
    given = int((await anyio.run_process(argv, env=variables)).stdout)
    there = int((await anyio.run_process(["docker", "info", "--format={{.NCPU}}"], env=variables)).stdout)
    assert given == there * 1_000_000_000
    await workspace.close()


async def test_a_missing_image_is_reported_and_not_pulled(variables: Mapping[str, str], folder: Path) -> None:
    settings = DockerSettings(image="localhost/no-such-image:1")
    workspace: Workspace = BACKEND.open(str(folder), (str(folder),), variables, "", settings)
    with pytest.raises(WorkspaceError, match="did not start") as caught:
        await workspace.run(Command("true", str(folder), 5), Report())
    assert "no-such-image" in caught.value.sentence()
    await workspace.close()


async def test_an_unapproved_command_leaves_nothing_that_runs_later(
    variables: Mapping[str, str], folder: Path, tmp_path: Path
) -> None:
    (folder / "AGENTS.md").write_text("as it was")
    guarded = GuardedNames(frozenset({".vscode", ".github"}), frozenset({"agents.md", ".envrc"}))
    workspace = BACKEND.open(str(folder), (str(folder),), variables, "", SETTINGS, MountRestrictions(guarded))
    ground = Ground(workspace, folder, tmp_path)
    line = "echo x >>AGENTS.md; mv AGENTS.md b; mkdir .vscode; echo x >.vscode/tasks.json; echo x >.envrc; echo y >made"
    end = await workspace.run(Command(line, str(folder), BOUND_S, confinement="must"), Report())
    assert (folder / "AGENTS.md").read_text() == "as it was"
    assert sorted(os.listdir(folder)) == [".envrc.unapproved", ".vscode.unapproved", "AGENTS.md", "made"]
    assert "without approval" in end.output
    await run(ground, "echo approved >.envrc")
    again = await workspace.run(Command("true", str(folder), BOUND_S, confinement="must"), Report())
    assert ".envrc" in os.listdir(folder)
    assert "without approval" not in again.output
    process = await workspace.launch(
        Command("echo x >.github; sleep 100", str(folder), BOUND_S, confinement="must")
    )
    with anyio.fail_after(BOUND_S):
        while not (folder / ".github").exists():
            await anyio.sleep(0.02)
    await process.kill()
    reported = await workspace.run(Command("true", str(folder), BOUND_S, confinement="must"), Report())
    assert ".github.unapproved" in reported.output
    await workspace.close()
