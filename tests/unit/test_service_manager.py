"""Messages that a service manager receives, on real sockets."""

from __future__ import annotations

import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from hermes_acp.service_manager import ServiceManager

PID = 4711


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest) -> Iterator[tuple[str, socket.socket]]:
    """Yield the address of a service manager's socket, and the socket."""
    if request.param == "abstract" and sys.platform != "linux":
        pytest.skip("abstract sockets are Linux's")
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ears:
        name = f"hermes {secrets.token_hex(8)}"
        address = f"@{name}" if request.param == "abstract" else str(Path(folder, name))
        ears.bind(f"\0{name}" if request.param == "abstract" else address)
        ears.settimeout(10)
        yield address, ears


def reporter(address: str, watchdog: str = "", process: str = "") -> ServiceManager:
    variables = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": watchdog, "WATCHDOG_PID": process}
    return ServiceManager.of({name: value for name, value in variables.items() if value}, PID)


def test_the_start_and_the_end_are_reported(manager: tuple[str, socket.socket]) -> None:
    address, ears = manager
    one = reporter(address)
    one.report_ready("Serves at\nMAINPID=1")
    assert ears.recv(4096) == b"READY=1\nSTATUS=Serves at MAINPID=1"
    one.report_stopping("Stopping.", 20.0)
    assert ears.recv(4096) == b"STOPPING=1\nSTATUS=Stopping.\nEXTEND_TIMEOUT_USEC=30000000"


@pytest.mark.anyio
async def test_a_running_event_loop_is_reported(manager: tuple[str, socket.socket]) -> None:
    address, ears = manager
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reporter(address, "30000", str(PID)).keep_alive)
        for _ in range(3):
            assert await anyio.to_thread.run_sync(ears.recv, 4096) == b"WATCHDOG=1"
        tasks.cancel_scope.cancel()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("watchdog", "process"),
    [("", ""), ("0", ""), ("-5", ""), ("five", ""), ("²", ""), ("30000", "1")],
)
async def test_without_a_watchdog_no_pings_are_sent(
    manager: tuple[str, socket.socket], watchdog: str, process: str
) -> None:
    await reporter(manager[0], watchdog, process).keep_alive()


@pytest.mark.anyio
async def test_nothing_is_sent_without_a_service_manager() -> None:
    for address in ("", "relative/path", "vsock:2:1234"):
        one = reporter(address, "30000")
        assert one == ServiceManager()
        one.report_ready("Ready.")
        one.report_stopping("Stopping.", 1.0)
        await one.keep_alive()


def test_a_service_manager_that_is_gone_or_not_reading_disturbs_nothing(
    manager: tuple[str, socket.socket],
) -> None:
    address, ears = manager
    reporter("/no/such/socket").report_ready("Ready.")
    for _ in range(2000):
        reporter(address).report_ready("Nobody reads this.")
    ears.close()
    reporter(address).report_ready("Ready.")
