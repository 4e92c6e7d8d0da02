"""Make workers visible on a machine: a lock that is released when the worker's process ends, and a socket to wake it.

A worker's process holds the lock on its file, so other processes on the machine detect its death at once and never
mistake a slow worker for a dead one.
"""

import fcntl
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

from anyio.to_thread import run_sync

from hermes_acp.storage.private_files import private_folder, storage_error

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
WAKE: Final = b"."
DESCRIPTORS: Final = Path("/proc/self/fd")
MAX_FOLDER_PATH: Final = 70
"""A socket's path can have 108 bytes on Linux and 104 on macOS, of which its name here takes less than 32."""
Presence = Literal["alive", "dead"]


def boot_id() -> str:
    """Return the system's boot ID, or an empty string."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


class WorkerPresence:
    """One worker's lock and socket, from `open` to `close`."""

    def __init__(self, folder: Path, worker_id: str) -> None:
        """Store the arguments; nothing is created yet."""
        self.id = worker_id
        self.folder = folder
        self._lock = -1
        self.socket: socket.socket | None = None

    def open(self) -> None:
        """Create the lock and the socket. Raises StorageError."""
        private_folder(self.folder)
        path = _lock_path(self.folder, self.id)
        try:
            self._lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise storage_error("create", path, error) from error
        with suppress(OSError):  # without a socket, the worker polls more often
            self.socket = self._bind()

    def _bind(self) -> socket.socket:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        made.setblocking(False)
        try:
            with _short_address(self.folder) as folder:
                made.bind(f"{folder}/{self.id}.sock")
            _socket_path(self.folder, self.id).chmod(0o600)
        except OSError:
            made.close()
            raise
        return made

    def drain(self) -> None:
        """Discard the received wake-up calls."""
        with suppress(OSError):
            while self.socket and self.socket.recv(16):
                pass

    def close(self) -> None:
        """Remove the lock and the socket."""
        if self.socket:
            self.socket.close()
            self.socket = None
        if self._lock >= 0:
            remove_traces(self.folder, self.id)
            os.close(self._lock)
            self._lock = -1


class LocalPeers:
    """The workers on one machine, known by their locks; implements `Peers`."""

    def __init__(self, folder: Path) -> None:
        """Store the folder with the workers' locks."""
        self._folder = folder

    async def is_gone(self, holder: str) -> bool:
        """Return whether a worker's process is known to be dead. Raises StorageError."""
        return await run_sync(presence_of, self._folder, holder) == "dead"

    async def forget(self, holder: str) -> None:
        """Remove the files of a dead worker."""
        await run_sync(remove_traces, self._folder, holder)


def presence_of(folder: Path, worker_id: str) -> Presence:
    """Return whether a worker's process is running. Raises StorageError if that cannot be determined."""
    path = _lock_path(folder, worker_id)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return "dead"
    except OSError as error:
        raise storage_error("open", path, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return "alive"
    except OSError as error:
        raise storage_error("lock", path, error) from error
    finally:
        os.close(descriptor)
    return "dead"


def remove_traces(folder: Path, worker_id: str) -> None:
    """Remove the files of a dead worker."""
    for path in (_lock_path(folder, worker_id), _socket_path(folder, worker_id)):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def workers_in(folder: Path) -> list[str]:
    """List the workers that have files, whether they are running or not."""
    try:
        return [path.stem for path in folder.glob("*.lock")]
    except OSError:
        return []


def wake_workers(folder: Path, besides: str = "") -> None:
    """Wake all workers, because there may be work. Those that miss the call notice at their next poll."""
    others = [worker_id for worker_id in workers_in(folder) if worker_id != besides]
    if not others:
        return
    with (
        suppress(OSError),
        _short_address(folder) as address,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as caller,
    ):
        caller.setblocking(False)
        for worker_id in others:
            with suppress(OSError):
                caller.sendto(WAKE, f"{address}/{worker_id}.sock")


@contextmanager
def _short_address(folder: Path) -> Generator[str]:
    """Yield a path for a folder that is short enough for a socket address, if possible."""
    if len(os.fsencode(folder)) <= MAX_FOLDER_PATH or not DESCRIPTORS.is_dir():
        yield str(folder)
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"{DESCRIPTORS}/{descriptor}"
    finally:
        os.close(descriptor)


def _lock_path(folder: Path, worker_id: str) -> Path:
    return folder / f"{worker_id}.lock"


def _socket_path(folder: Path, worker_id: str) -> Path:
    return folder / f"{worker_id}.sock"
