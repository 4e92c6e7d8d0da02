"""Report the state of this process to the service manager that started it.

Source: systemd's sd_notify(3) and sd_watchdog_enabled(3): datagrams of assignments, sent to the socket in
NOTIFY_SOCKET.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Final, Self

from msgspec import Struct

SOCKET: Final = "NOTIFY_SOCKET"
WATCHDOG: Final = "WATCHDOG_USEC"
WATCHDOG_PROCESS: Final = "WATCHDOG_PID"
VARIABLES: Final = (SOCKET, WATCHDOG, WATCHDOG_PROCESS)
"""Variables meant for this process, which its children must not inherit."""
REPORTS_PER_TIMEOUT: Final = 3
"""Chosen so that one report may be lost or late without the service manager killing the process."""
STOP_RESERVE_S: Final = 10.0
"""How many seconds more than its running turns the process may take to stop."""


class ServiceManager(Struct, frozen=True):
    """The service manager that this process reports to; without an address, nothing is sent.

    Reports never block and never fail: a service manager that does not receive them acts on its own timeouts.
    """

    address: str = ""
    watchdog_s: float = 0.0

    @classmethod
    def of(cls, variables: Mapping[str, str], pid: int) -> Self:
        """Return the service manager specified by the environment variables of the process `pid`."""
        address = variables.get(SOCKET, "")
        if not address.startswith(("/", "@")):
            return cls()
        watched = variables.get(WATCHDOG_PROCESS) or str(pid)
        limit = variables.get(WATCHDOG, "")
        is_watched = watched == str(pid) and limit.isascii() and limit.isdigit()
        return cls(address, int(limit) / 1e6 if is_watched else 0.0)

    def report_ready(self, status: str) -> None:
        """Report that the process serves clients, and where."""
        self._send("READY=1", f"STATUS={_one_line(status)}")

    def report_stopping(self, status: str, seconds: float) -> None:
        """Report that the process is stopping; it exits within `seconds` plus a reserve."""
        extension = int((seconds + STOP_RESERVE_S) * 1e6)
        self._send("STOPPING=1", f"STATUS={_one_line(status)}", f"EXTEND_TIMEOUT_USEC={extension}")

    async def keep_alive(self) -> None:
        """Report at regular intervals that the event loop is running, until cancelled; return at once if there is no
        watchdog.
        """
        if not (self.address and self.watchdog_s > 0):
            return
        import anyio

        while True:
            self._send("WATCHDOG=1")
            await anyio.sleep(self.watchdog_s / REPORTS_PER_TIMEOUT)

    def _send(self, *assignments: str) -> None:
        if not self.address:
            return
        import socket

        address = f"\0{self.address[1:]}" if self.address[0] == "@" else self.address
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto("\n".join(assignments).encode(), socket.MSG_DONTWAIT, address)


def _one_line(text: str) -> str:
    """Join the lines of a text: a line break would start another assignment."""
    return " ".join(text.split())
