"""Find the resident process of a home folder: wait for a successor, or start a process on demand.

Every process that an editor starts imports this module, so it imports little itself.
"""

import os
import stat
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from hermes_acp.config.home_folders import RESIDENT_LOCK
from hermes_acp.frontends.acp.daemon.daemon_socket import connect, socket_path

if TYPE_CHECKING:
    import socket

SUCCESSOR_S: Final = 5.0
"""The time that a client waits for the next resident process after one has ended unexpectedly."""
POLL_INTERVAL_S: Final = 0.05
CONFIG_FILE: Final = "config.yaml"
MAX_SETTINGS_BYTES: Final = 1 << 20
"""The number of bytes of the settings file that are searched for `daemon: auto`."""


class ResidentLookup:
    """One client's attempts to reach the resident process of a home folder."""

    def __init__(self, home: str, variables: Mapping[str, str], *, allows_bypass: bool) -> None:
        """Prepare the lookup; a process started on demand gets the client's `variables`."""
        self._home = home
        self._variables = variables
        self._allows_bypass = allows_bypass
        self._is_on_demand = is_on_demand(home)
        self._deadline = time.monotonic() + SUCCESSOR_S
        self._has_tried = False
        self.has_failed = False
        """Whether a process was expected or was started, but does not answer."""

    @property
    def may_succeed(self) -> bool:
        """Whether a resident process is running, was killed, or should be started."""
        return self._is_on_demand or os.path.exists(socket_path(self._home))

    def connection(self) -> "socket.socket | None":
        """Connect, or reconnect to the process that replaces one that is ending. Return None without a usable one.

        If the settings say `daemon: auto` and none is running, start one.
        """
        if self._has_tried:
            time.sleep(POLL_INTERVAL_S)
            if time.monotonic() > self._deadline:
                return None
        self._has_tried = True
        line = connect(self._home)
        if line is None and self._is_on_demand:
            start_on_demand(self._variables, allows_bypass=self._allows_bypass)
            line = connect(self._home)
            self.has_failed = line is None
        return line or self._successor()

    def _successor(self) -> "socket.socket | None":
        """Wait for the successor of a process that was killed or is restarting and has left its socket."""
        path = socket_path(self._home)
        while os.path.exists(path) and not self.has_failed:
            if time.monotonic() > self._deadline:
                self.has_failed = True
                _forget(self._home)
                break
            time.sleep(POLL_INTERVAL_S)
            if line := connect(self._home):
                return line
        return None


def is_on_demand(home: str) -> bool:
    """Return whether the settings say `daemon: auto`, without parsing YAML; other settings are not read here."""
    try:
        descriptor = os.open(os.path.join(home, CONFIG_FILE), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        text = os.read(descriptor, MAX_SETTINGS_BYTES).decode("utf-8", "replace")
    finally:
        os.close(descriptor)
    return any(_says_auto(line) for line in text.splitlines())


def _says_auto(line: str) -> bool:
    name, _, value = line.partition(":")
    word = value.partition(" #")[0].strip().strip("'\"")
    return name.rstrip().strip("'\"") == "daemon" and word == "auto"


def start_on_demand(variables: Mapping[str, str], *, allows_bypass: bool) -> None:
    """Start a resident process that ends when idle, and wait until it answers or has failed.

    `daemon start` detaches it and then ends, so a signal that ends this process does not reach it. Failures are
    written to standard error.
    """
    flags = ["--on-demand", *(["--allow-bypass"] if allows_bypass else [])]
    command = [sys.executable, "-m", "hermes_acp", "daemon", "start", *flags]
    try:
        pid = os.posix_spawn(sys.executable, command, variables, setsigmask=())
        os.waitpid(pid, 0)
    except OSError as error:
        sys.stderr.write(f"hermes-acp: {sys.executable}: {error.strerror}\n")


def _forget(home: str) -> None:
    """Remove the socket that a process left, unless another process is about to replace it."""
    import fcntl

    try:
        descriptor = os.open(os.path.join(home, RESIDENT_LOCK), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(socket_path(home))
    except OSError:
        pass
    finally:
        os.close(descriptor)
