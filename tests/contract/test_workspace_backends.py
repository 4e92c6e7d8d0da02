"""The workspace contract, passed by every backend with a real machine behind it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
from msgspec import Struct

from hermes_acp.config.sections.backend_settings import (
    DaytonaSettings,
    DockerSettings,
    ModalSettings,
    SingularitySettings,
    SshSettings,
    VercelSettings,
)
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, Workspace
from hermes_acp.core.proposals import Progress
from hermes_acp.workspaces.editor_workspace import EditorWorkspace
from tests.contract import modal_service, remote_machines, sandbox_services
from tests.contract.workspace_suite import SECRET, CommandSuite, FileSuite, Ground, LaunchSuite

pytestmark = pytest.mark.anyio
NAMES = ("local", "docker", "podman", "ssh", "editor", "singularity", "daytona", "vercel", "modal")
Machine = Callable[[Path], Workspace]
_numbers = count()


class PlainEditor:
    """An editor that shows what the disk contains, writes at once, and has no terminals although it offers them."""

    reads_files = True
    writes_files = True
    runs_commands = True

    async def read_text(self, path: str, first: int = 1, count: int = 0) -> str | None:
        if not Path(path).is_file():
            return None
        lines = Path(path).read_bytes().decode().splitlines(keepends=True)
        return "".join(lines[first - 1 :][: count or None])

    async def write_text(self, path: str, text: str) -> None:
        place = Path(path).resolve()
        if place != Path(path):
            raise WorkspaceError(f"{path} leads to {place}.")
        if place.exists() and place.stat().st_nlink > 1:
            raise WorkspaceError(f"{path} is one of 2 hard links.")
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = place.with_name(place.name + ".fresh")
        fresh.write_bytes(text.encode())
        if place.exists():
            fresh.chmod(place.stat().st_mode)
        fresh.rename(place)

    async def run(self, command: Command, progress: Progress) -> CommandResult | None:
        return None


def backend(name: str) -> Any:
    plugin_folder: PluginFolder[Any] = PluginFolder("hermes_acp.workspaces.backends", "BACKEND")
    return plugin_folder.open(name)


@asynccontextmanager
async def local(place: Path) -> AsyncGenerator[Machine]:
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "API_KEY": SECRET}
    yield lambda folder: backend("local").open(str(folder), (str(folder),), variables)


@asynccontextmanager
async def editor(place: Path) -> AsyncGenerator[Machine]:
    async with local(place) as opened:
        yield lambda folder: EditorWorkspace(PlainEditor(), opened(folder))


@asynccontextmanager
async def docker(place: Path) -> AsyncGenerator[Machine]:
    async with remote_machines.docker_engine(place) as variables:
        yield _contained("docker", dict(variables))


@asynccontextmanager
async def podman(place: Path) -> AsyncGenerator[Machine]:
    async with remote_machines.podman_engine(place) as variables:
        yield _contained("podman", dict(variables))


def _contained(engine: Any, variables: dict[str, str]) -> Machine:
    settings = DockerSettings(image=remote_machines.IMAGE, engine=engine, pids=64, memory_mb=256, tmp_mb=64)
    given = {**variables, "API_KEY": SECRET}
    return lambda folder: backend("docker").open(str(folder), (str(folder),), given, "", settings)


@asynccontextmanager
async def ssh(place: Path) -> AsyncGenerator[Machine]:
    async with remote_machines.ssh_server(place) as config_file:
        settings = SshSettings(host="far", config_file=str(config_file))
        variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "API_KEY": SECRET}
        yield lambda folder: backend("ssh").open(str(folder), (str(folder),), variables, "", settings)


# A substitute for apptainer: it starts and stops nothing, and runs the commands directly.
STAND_IN = """#!/bin/sh
echo "$*" >>{record}
[ "$1" = instance ] && exit 0
while case $1 in exec | --* | instance://*) true ;; *) false ;; esac; do shift; done
exec env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp "$@"
"""


@asynccontextmanager
async def singularity(place: Path) -> AsyncGenerator[Machine]:
    """Check apptainer's command line with a substitute: Debian's stable releases do not have apptainer."""
    record, program = place / "record", place / "bin" / "apptainer"
    program.parent.mkdir()
    program.write_text(STAND_IN.format(record=record))
    program.chmod(0o755)
    variables = {"PATH": f"{program.parent}:/usr/bin:/bin", "API_KEY": SECRET}
    settings = SingularitySettings(image="/images/debian.sif", memory_mb=512, pids=64, cpus=1.5)

    def opened(folder: Path) -> Workspace:
        (folder / ".git/hooks").mkdir(parents=True)
        return backend("singularity").open(str(folder), (str(folder),), variables, "", settings)

    yield opened
    started, *others, stopped = record.read_text(errors="replace").splitlines()
    *options, image, name = started.split()
    walls = {"--containall", "--no-home", "--no-privs", "--cleanenv", "--net", "--network=none"}
    binds = [option.removeprefix("--bind=") for option in options if option.startswith("--bind=")]
    assert options[:2] == ["instance", "start"]
    assert walls | {"--memory=512M", "--cpus=1.5", "--pids-limit=64"} <= set(options)
    assert [bind.split(":")[2:] for bind in binds] == [[], ["ro"]]
    assert image == "/images/debian.sif"
    assert stopped == f"instance stop --signal=KILL {name}"
    inside = f"exec --containall --no-home --cleanenv instance://{name} /bin/sh -c "
    assert all(line.startswith(inside) for line in others if line.startswith("exec"))
    for folder in (f"/tmp/.{name}", "/tmp/.hermes-acp"):  # A real container has its own, which ends with it.
        rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def daytona(place: Path) -> AsyncGenerator[Machine]:
    with sandbox_services.serving(sandbox_services.Daytona) as service:
        variables = {"DAYTONA_API_KEY": sandbox_services.KEY, "DAYTONA_API_URL": f"{service.url}/api"}

        def opened(folder: Path) -> Workspace:
            settings = DaytonaSettings(folder=str(folder))
            return backend("daytona").open("/elsewhere", ("/elsewhere",), variables, "", settings)

        yield opened
        assert service.created
        assert not service.living, "the sandbox was released"


@asynccontextmanager
async def vercel(place: Path) -> AsyncGenerator[Machine]:
    with sandbox_services.serving(sandbox_services.Vercel) as service:
        keys = {
            "VERCEL_TOKEN": sandbox_services.KEY,
            "VERCEL_TEAM_ID": "team",
            "VERCEL_PROJECT_ID": "project",
        }

        def opened(folder: Path) -> Workspace:
            settings = VercelSettings(folder=str(folder), api_url=service.url)
            return backend("vercel").open("/elsewhere", ("/elsewhere",), keys, "", settings)

        yield opened
        assert service.created
        assert not service.living, "the sandbox was released"


@asynccontextmanager
async def modal(place: Path) -> AsyncGenerator[Machine]:
    async with modal_service.serving() as service:
        keys = {"MODAL_TOKEN_ID": "ak-1", "MODAL_TOKEN_SECRET": "as-1"}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MODAL_SERVER_URL", service.url)  # The library itself reads this.

            def opened(folder: Path) -> Workspace:
                settings = ModalSettings(folder=str(folder))
                return backend("modal").open("/elsewhere", ("/elsewhere",), keys, "", settings)

            yield opened
            assert service.created
            assert not service.living, "the sandbox was released"


MACHINES: dict[str, Callable[[Path], AbstractAsyncContextManager[Machine]]] = {
    "local": local,
    "docker": docker,
    "podman": podman,
    "ssh": ssh,
    "editor": editor,
    "singularity": singularity,
    "daytona": daytona,
    "vercel": vercel,
    "modal": modal,
}


class Opened(Struct):
    """One workspace for all tests of a backend; each test has its own folder in it."""

    name: str
    machine: Machine
    workspace: Workspace
    root: Path


QUICK = ("local", "editor")
PARAMETERS = [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in NAMES]


@pytest.fixture(scope="module", params=PARAMETERS)
async def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, require_all: bool
) -> AsyncGenerator[Opened]:
    """Start one backend's machine, once for all its tests."""
    place = tmp_path_factory.mktemp(request.param).resolve()
    root = tmp_path_factory.mktemp("root").resolve()
    try:
        async with MACHINES[request.param](place) as machine:
            workspace = machine(root)
            yield Opened(request.param, machine, workspace, root)
            await workspace.close()
    except remote_machines.Missing as missing:
        if require_all:
            raise
        pytest.skip(f"{missing} is not here")


@pytest.fixture
def ground(opened: Opened) -> Ground:
    """Return the backend's workspace with a new folder in it."""
    number = next(_numbers)
    folder, outside = opened.root / f"t{number}", opened.root.parent / f"outside{number}"
    folder.mkdir()
    outside.mkdir()
    return Ground(opened.workspace, folder, outside)


class TestFiles(FileSuite):
    """Tests of files, on each backend."""


class TestCommands(CommandSuite):
    """Tests of commands, on each backend."""


class TestLaunches(LaunchSuite):
    """Tests of launched commands, on each backend."""
