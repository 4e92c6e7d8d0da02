"""One resident process for each home folder: a lock that ends with its process, and the socket it guards."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from hermes_acp.config.home_folders import RESIDENT_LOCK
from hermes_acp.core.errors import Busy
from hermes_acp.frontends.acp.daemon.daemon_socket import socket_path
from hermes_acp.frontends.acp.messages import daemon
from hermes_acp.storage.private_files import lock_or_busy, private_folder, storage_error

MAX_PID_DIGITS: Final = 20


class DaemonLock:
    """The right to be the resident process of a home folder."""

    def __init__(self, home: Path) -> None:
        """Take the lock, and remove the socket that a killed process left. Raises Busy, StorageError."""
        path = private_folder(home) / RESIDENT_LOCK
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise storage_error(daemon.OPENING_LOCK, path, error) from error
        try:
            lock_or_busy(self._descriptor, str(path))
        except Busy as error:
            pid = _pid_in(self._descriptor)
            os.close(self._descriptor)
            raise Busy(daemon.already_running(pid), hint=daemon.RUNNING_HINT) from error
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        self._socket = socket_path(str(home))
        try:
            os.unlink(self._socket)
        except FileNotFoundError:
            pass
        except OSError as error:
            os.close(self._descriptor)
            raise storage_error(daemon.REMOVING_SOCKET, Path(self._socket), error) from error

    def release(self) -> None:
        """Remove the socket, if possible, then let another process take the lock."""
        with suppress(OSError):
            os.unlink(self._socket)
        os.close(self._descriptor)


def _pid_in(descriptor: int) -> int:
    """Return the process that the lock names, or 0 if it has not yet written its number."""
    said = os.pread(descriptor, MAX_PID_DIGITS, 0).strip()
    return int(said) if said.isdigit() else 0
