"""`hermes-acp service` without a service manager, and what a resident process reports to one."""

from __future__ import annotations

import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.e2e.agent_process import agent_environment, run_command
from tests.e2e.resident_process import resident

WITHOUT_SERVER = """
import runpy
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = classmethod(lambda _, name, *more: None if name == "hypercorn" else find(name, *more))
runpy.run_module("hermes_acp", run_name="__main__", alter_sys=True)
"""
"""A hermes-acp whose Python does not have the server's packages."""
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's"),
]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The variables of a user without a service manager, whose home has an unusual name."""
    home = tmp_path / "o'dd home 50%"
    home.mkdir()
    return agent_environment(home, XDG_RUNTIME_DIR=str(tmp_path))


@pytest.fixture
def manager() -> Iterator[tuple[str, socket.socket]]:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ears:
        ears.bind(f"{folder}/notify")
        ears.settimeout(30)
        yield f"{folder}/notify", ears


async def test_a_unit_is_shown_written_and_removed(environment: dict[str, str], tmp_path: Path) -> None:
    home = Path(environment["HOME"])
    unit = home / ".config/systemd/user/hermes-acp.service"
    token = home / ".hermes/service.env"
    install = ("service", "install", "--listen", "127.0.0.1:0")

    asked = await run_command(*install, environment=environment, cwd=tmp_path)
    assert (asked.code, "Add --yes." in asked.errors) == (2, True)
    assert "+ExecStart=" in asked.output
    assert not unit.exists()
    assert not token.exists()

    done = await run_command(*install, "--yes", environment=environment, cwd=tmp_path)
    assert (done.code, "systemd is not running here" in done.errors) == (0, True)
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    written = token.read_text()
    assert written.removeprefix("HERMES_SERVE_TOKEN=").strip() not in done.output + unit.read_text()

    again = await run_command(*install, "--yes", environment=environment, cwd=tmp_path)
    assert (again.code, again.output) == (0, f"{unit} needs no change.\n")
    assert token.read_text() == written

    status = await run_command("service", "status", environment=environment, cwd=tmp_path)
    assert (status.code, "systemd is not running here" in status.output) == (1, True)
    removed = await run_command("service", "remove", "--yes", environment=environment, cwd=tmp_path)
    assert (removed.code, unit.exists(), token.exists()) == (0, False, True)
    assert removed.output.startswith(f"Removed {unit}.\n"), "nothing ran that could be stopped"


@pytest.mark.parametrize(
    "words",
    [
        ("service", "install", "--yes", "--listen", "127.0.0.1:0"),
        ("daemon", "start", "--listen", "127.0.0.1:0"),
    ],
)
async def test_without_the_extra_no_service_is_installed(
    environment: dict[str, str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = await run_command(
        "-c", WITHOUT_SERVER, *words, environment=environment, cwd=tmp_path, command=sys.executable
    )
    assert done.code == 2
    assert "needs the package hypercorn, which is not installed. Install it: " in done.errors
    assert "[serve]" in done.errors
    home = Path(environment["HOME"])
    assert not (home / ".config").exists()
    assert not (home / ".hermes" / "service.env").exists()


async def test_somebody_elses_unit_is_left_alone(environment: dict[str, str], tmp_path: Path) -> None:
    unit = Path(environment["HOME"], ".config/systemd/user/hermes-acp.service")
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\nExecStart=/bin/true\n")
    for action in ("install", "remove"):
        done = await run_command("service", action, "--yes", environment=environment, cwd=tmp_path)
        assert (done.code, "was not written by" in done.errors) == (2, True)
    assert unit.read_text() == "[Service]\nExecStart=/bin/true\n"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--listen", "0.0.0.0:80"), "Other machines can reach 0.0.0.0"),
        (("--allow-host", "x"), "Add --listen"),
        (("--as", "ann"), "only work with --system"),
        (("--system", "--as", "root"), "must not run as root|Only root"),
        (("--system", "--as", "no-such-user"), "There is no user|Only root"),
    ],
)
async def test_a_service_that_could_not_start_is_rejected(
    environment: dict[str, str], tmp_path: Path, flags: tuple[str, ...], said: str
) -> None:
    done = await run_command("service", "install", "--yes", *flags, environment=environment, cwd=tmp_path)
    assert (done.code, any(part in done.errors for part in said.split("|"))) == (2, True), done.errors
    assert not Path(environment["HOME"], ".config").exists()


async def test_a_resident_process_reports_to_its_service_manager(
    environment: dict[str, str], tmp_path: Path, manager: tuple[str, socket.socket]
) -> None:
    address, ears = manager
    variables = {**environment, "NOTIFY_SOCKET": address, "WATCHDOG_USEC": "300000"}
    heard: list[bytes] = []

    async def hear(what: bytes) -> None:
        while not any(each.startswith(what) for each in heard):
            heard.append(await anyio.to_thread.run_sync(ears.recv, 4096))

    async with resident(variables, tmp_path) as process:
        await hear(b"READY=1\nSTATUS=The resident process is ready: ")
        await hear(b"WATCHDOG=1")
        process.process.send_signal(signal.SIGTERM)
        await hear(b"STOPPING=1")
        assert await process.wait() == 0
    assert heard[-1].endswith(b"\nEXTEND_TIMEOUT_USEC=30000000")


async def test_an_obstacle_in_place_of_the_socket_is_named(
    environment: dict[str, str], tmp_path: Path
) -> None:
    Path(environment["HOME"], ".hermes", "daemon.sock").mkdir(parents=True)
    done = await run_command("daemon", "run", environment=environment, cwd=tmp_path)
    assert done.code == 4
    assert "Could not create the socket" in done.errors
    assert "Traceback" not in done.errors
