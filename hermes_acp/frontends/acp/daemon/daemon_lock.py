"""The lock that allows only one resident process per home folder, and the socket that it protects."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from hermes_acp.config.home_folders import RESIDENT_LOCK
from hermes_acp.core.errors import Busy
from hermes_acp.frontends.acp.daemon.daemon_socket import socket_path
from hermes_acp.frontends.acp.messages import daemon
from hermes_acp.storage.private_files import lock_or_busy, private_folder, storage_error

MAX_PID_DIGITS: Final = 20
MOMENT_S: Final = 0.1


class DaemonLock:
    """The lock of a home folder's resident process, released at the latest when the process ends."""

    def __init__(self, home: Path) -> None:
        """Take the lock; the socket of an earlier process stays until it is replaced. Raises Busy or StorageError."""
        path = private_folder(home) / RESIDENT_LOCK
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise storage_error(daemon.OPENING_LOCK, path, error) from error
        try:
            self._lock(str(path))
        except Busy as error:
            pid = _pid_in(self._descriptor)
            os.close(self._descriptor)
            raise Busy(daemon.already_running(pid), hint=daemon.RUNNING_HINT) from error
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        self._socket = socket_path(str(home))

    def release(self, *, is_replaced: bool) -> None:
        """Release the lock. If another process follows (`is_replaced`), keep the socket, so that clients wait."""
        if self._descriptor < 0:
            return
        if not is_replaced:
            self._remove_socket()
        os.close(self._descriptor)
        self._descriptor = -1

    def _lock(self, what: str) -> None:
        """Take the lock. Raises Busy if another process holds it longer than removing a socket takes."""
        try:
            lock_or_busy(self._descriptor, what)
        except Busy:
            time.sleep(MOMENT_S)
            lock_or_busy(self._descriptor, what)

    def _remove_socket(self) -> None:
        with suppress(OSError):
            os.unlink(self._socket)


def _pid_in(descriptor: int) -> int:
    """Return the ID of the process that the lock names, or 0 if it has not written its ID yet."""
    said = os.pread(descriptor, MAX_PID_DIGITS, 0).strip()
    return int(said) if said.isdigit() else 0
