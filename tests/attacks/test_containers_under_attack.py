"""Unapproved commands in a container are confined as in this machine's sandbox."""

import os
import socket
import subprocess
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import anyio
import pytest

from hermes_acp.app.confinement import guarded_names
from hermes_acp.config.sections.backend_settings import DockerSettings
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, Workspace
from hermes_acp.core.proposals import Confinement
from hermes_acp.workspaces.backends.docker import BACKEND
from hermes_acp.workspaces.containers.engine_options import OWNER_LABEL
from hermes_acp.workspaces.containers.mounted_commands import MountRestrictions
from tests.contract.remote_machines import IMAGE, Missing, docker_engine
from tests.contract.workspace_suite import BOUND_S, Report

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SECRET, TOKEN = "secret-bytes", "ghs_canaryCanaryCanaryCanaryCanary0123456"
SETTINGS = DockerSettings(image=IMAGE, pids=48, memory_mb=128, tmp_mb=64, network="bridge")
CONFINED: tuple[Confinement, ...] = ("must", "read_only")
HIDDEN = (".env", "config/prod.key", "deep/a/b/c/.env.local", "keys/.ssh/id_rsa", "x/.aws/credentials")


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


class Contained:
    """A workspace whose commands run in containers with a network, for approved commands."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self.workspace = workspace
        self.folder = folder

    async def run(self, line: str, confinement: Confinement = "must") -> CommandResult:
        command = Command(line, str(self.folder), BOUND_S, confinement)
        with anyio.fail_after(2 * BOUND_S):
            return await self.workspace.run(command, Report())


@pytest.fixture
async def box(variables: Mapping[str, str], tmp_path: Path) -> AsyncGenerator[Contained]:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "AGENTS.md").write_text("as it was")
    (folder / "src").mkdir()
    (folder / "src/x.py").write_text("x = 1\n")
    restrictions = MountRestrictions(guarded_names())
    workspace = BACKEND.open(str(folder), (str(folder),), variables, "", SETTINGS, restrictions)
    yield Contained(workspace, folder)
    await workspace.close()


def lay_secrets(folder: Path) -> None:
    for name in HIDDEN:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(SECRET)
    settings = (folder / ".git/config").read_text()
    remote = f'[remote "origin"]\n\turl = https://x:{TOKEN}@github.com/a/b.git\n'
    (folder / ".git/config").write_text(settings + remote)


@pytest.mark.parametrize("confinement", CONFINED)
async def test_no_secret_can_be_read(box: Contained, confinement: Confinement) -> None:
    lay_secrets(box.folder)
    for line in (
        f"cat {' '.join(HIDDEN)}",
        "grep -r -e bytes -e ghs . ; tar cf - . | grep -a -e bytes -e ghs",
        "cat .git/config; cat /proc/self/cwd/.env /proc/1/root$PWD/.env",
        "cp -r . /tmp/copy; grep -r bytes /tmp/copy; ln -s .env l; cat l; ln .env h; cat h",
        "mv .env e; cat e; mv config c; cat c/prod.key; mv deep d; cat d/a/b/c/.env.local; rm -f .env; cat .env",
        "umount .env; umount -l .git/config; cat .env .git/config",
    ):
        said = (await box.run(line, confinement)).output
        assert SECRET not in said, line
        assert TOKEN not in said, line
    assert "https://***@github.com" in (await box.run("cat .git/config", confinement)).output
    for name in HIDDEN:
        assert (box.folder / name).read_text() == SECRET
    assert SECRET in (await box.run("cat .env", "usual")).output


@pytest.mark.parametrize("confinement", CONFINED)
async def test_a_secret_added_later_is_hidden_from_the_next_command(
    box: Contained, confinement: Confinement
) -> None:
    (box.folder / ".env").write_text(SECRET)
    assert SECRET not in (await box.run("cat .env", confinement)).output
    (box.folder / "src/.env").write_text(SECRET)
    assert SECRET not in (await box.run("cat src/.env", confinement)).output
    os.rename(box.folder / "src", box.folder / "moved")
    assert SECRET not in (await box.run("cat moved/.env", confinement)).output


async def test_read_only_commands_change_nothing(box: Contained) -> None:
    before = sorted(os.listdir(box.folder))
    for line in ("echo x >made", "rm -rf src", "mv src s", "chmod 777 src/x.py", "touch .git/x", "mkdir m"):
        end = await box.run(line, "read_only")
        assert end.exit_code, line
    assert "read-only" in (await box.run("echo x >made", "read_only")).output
    assert sorted(os.listdir(box.folder)) == before
    assert (await box.run("cat src/x.py; echo y >/tmp/y && cat /tmp/y", "read_only")).output == "x = 1\ny\n"


@pytest.mark.parametrize("confinement", CONFINED)
async def test_there_is_no_network_whatever_the_settings_say(
    box: Contained, confinement: Confinement
) -> None:
    links = await box.run("ls /sys/class/net", confinement)
    assert links.output.split() == ["lo"]
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(box.folder / "door"))
        listener.listen()
        listener.setblocking(False)
        await box.run("nc local:door </dev/null; nc -U door </dev/null; cat door", confinement)
        with pytest.raises(BlockingIOError):
            listener.accept()


async def test_git_directories_are_written_only_by_commands_that_name_git(box: Contained) -> None:
    assert (await box.run("echo x >.git/description")).exit_code
    assert (await box.run("echo x >.git/description; echo no longer 'git '")).exit_code == 0
    for line in (
        "echo x >.git/config # git",
        "echo x >.git/hooks/pre-commit # git",
        "mv .git g # git",
        "rm -rf .git/hooks # git",
        "mv .git/hooks .git/h # git",
    ):
        assert (await box.run(line)).exit_code, line
    end = await box.run("mkdir .git/rebase-merge; echo 'exec x' >.git/rebase-merge/git-rebase-todo # git")
    assert "without approval" in end.output
    assert not (box.folder / ".git/rebase-merge").exists()


async def test_files_that_run_later_are_not_changed_at_any_depth(box: Contained) -> None:
    (box.folder / "src/.vscode").mkdir()
    (box.folder / "src/.vscode/tasks.json").write_text("{}")
    (box.folder / "src/AGENTS.md").write_text("as it was")
    line = "echo x >src/.vscode/tasks.json; echo x >src/AGENTS.md; rm -rf src/.vscode; mv src s; echo x >AGENTS.md"
    assert (await box.run(line)).exit_code
    assert (box.folder / "src/.vscode/tasks.json").read_text() == "{}"
    assert (box.folder / "src/AGENTS.md").read_text() == "as it was"
    assert (box.folder / "AGENTS.md").read_text() == "as it was"
    assert (await box.run("echo x >src/new && cat src/new")).output == "x\n"


async def test_a_command_left_running_keeps_its_container_and_ends_with_the_session(
    box: Contained, variables: Mapping[str, str]
) -> None:
    process = await box.workspace.launch(
        Command("echo on; sleep 1000", str(box.folder), BOUND_S, "must"), in_terminal=False
    )
    (box.folder / ".env").write_text(SECRET)
    assert SECRET not in (await box.run("cat .env")).output
    other = await box.workspace.launch(Command("sleep 1000", str(box.folder), BOUND_S))
    assert {process.name, other.name} == set(box.workspace.live)
    assert (await process.read(0.2)).end is None
    await box.workspace.close()
    argv = ["docker", "ps", "--quiet", "--all", f"--filter=label={OWNER_LABEL}"]
    assert (await anyio.run_process(argv, env=variables)).stdout == b""
