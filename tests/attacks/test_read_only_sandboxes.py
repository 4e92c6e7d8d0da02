"""Read-only sandboxes: a command can read the workspace and change nothing."""

import os
import socket
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.attacks.sandboxes import WAYS, Sandboxed, sandboxed, usual_bounds

pytestmark = pytest.mark.anyio
PYTHON = "/usr/bin/python3"
CONNECT = f"{PYTHON} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"door\")'"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=WAYS)
async def box(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Sandboxed]:
    async with sandboxed(tmp_path, request.param, usual_bounds(has_network=True)) as opened:
        (opened.folder / "notes.txt").write_text("first\n")
        yield opened


@pytest.mark.parametrize(
    "line",
    [
        "echo second >> notes.txt",
        "rm notes.txt",
        "mv notes.txt other.txt",
        "touch new",
        "mkdir new",
        "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x",
        "chmod 0777 notes.txt",
        "touch -d 2001-01-01 notes.txt",
    ],
)
async def test_nothing_in_the_workspace_changes(box: Sandboxed, line: str) -> None:
    before = sorted(os.listdir(box.folder)), os.stat(box.folder / "notes.txt")
    end = await box.run(line, confinement="read_only")
    assert end.exit_code != 0, end.output
    about = os.stat(box.folder / "notes.txt")
    assert (before[1].st_mode, before[1].st_mtime, before[1].st_size) == (
        about.st_mode,
        about.st_mtime,
        about.st_size,
    )
    assert before[0] == sorted(os.listdir(box.folder))
    assert not os.listdir(box.folder / ".git/refs/heads")


async def test_reading_commands_still_work(box: Sandboxed) -> None:
    end = await box.run(
        'cat notes.txt; git status --short; T=${TMPDIR:-/tmp}; sort notes.txt > "$T/x" && cat "$T/x"',
        confinement="read_only",
    )
    assert end.exit_code == 0, end.output
    assert end.output == "first\n?? notes.txt\nfirst\n"


async def test_a_failure_names_the_read_only_workspace(box: Sandboxed) -> None:
    end = await box.run("touch new", confinement="read_only")
    assert "the workspace is read-only" in end.output
    assert "unsandboxed" in end.output


async def test_no_network_and_no_local_socket_is_reachable_even_with_the_network_enabled(
    box: Sandboxed,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        end = await box.run(f"exec 3<>/dev/tcp/127.0.0.1/{port}", confinement="read_only")
        assert end.exit_code != 0
    with socket.socket(socket.AF_UNIX) as local:
        local.bind(str(box.folder / "door"))
        local.listen()
        end = await box.run(CONNECT, confinement="read_only")
        assert end.exit_code != 0
        assert "Address family not supported" in end.output


async def test_the_sandbox_leaves_no_file_in_the_workspace_while_it_runs(box: Sandboxed) -> None:
    end = await box.run("ls -A", confinement="read_only")
    assert end.output == ".git\nnotes.txt\n"
