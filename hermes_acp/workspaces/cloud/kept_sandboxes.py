"""The sandboxes that are kept for sessions at services, in one small file each.

An entry is written as soon as a sandbox is rented, so that after a crash it is known which sandboxes still cost money.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from hermes_acp.clock import SystemClock
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.storage.private_files import write_private_text

FOLDER: Final = "sandboxes"


class KeptSandbox(Struct, frozen=True):
    """A sandbox that belongs to a session.

    `handle` identifies it at the service, `cwd` is the session's folder on this machine, and `at` is the time in
    seconds since the epoch.
    """

    session_id: str
    service: str
    handle: str
    cwd: str
    state: Literal["running", "suspended"]
    at: float


class KeptSandboxes:
    """The kept sandboxes of a home folder's sessions. Methods block; those that write raise StorageError."""

    def __init__(self, home: Path) -> None:
        self._folder = home / FOLDER

    def find(self, session_id: str, service: str) -> KeptSandbox | None:
        """Return a session's sandbox at a service."""
        return _read(self._path(session_id, service))

    def put(self, kept: KeptSandbox) -> None:
        """Store a sandbox, replacing an earlier one of the same session."""
        write_private_text(self._path(kept.session_id, kept.service), msgspec.json.encode(kept).decode())

    def forget(self, session_id: str, service: str) -> None:
        """Remove the entry of a sandbox that is gone."""
        with suppress(OSError):
            self._path(session_id, service).unlink(missing_ok=True)

    def all(self) -> list[KeptSandbox]:
        """Return all sandboxes, newest first."""
        found = [kept for path in self._folder.glob("*.json") if (kept := _read(path))]
        return sorted(found, key=lambda kept: kept.at, reverse=True)

    def _path(self, session_id: str, service: str) -> Path:
        return self._folder / f"{session_id}.{service}.json"


class SandboxClaim:
    """A workspace's right to keep the sandbox of one session, once that session is known."""

    def __init__(self, kept: KeptSandboxes, service: str, cwd: str, clock: Clock | None = None) -> None:
        self.session_id = ""
        self._kept = kept
        self._service = service
        self._cwd = cwd
        self._clock = clock or SystemClock()

    def find(self) -> str:
        """Return the handle of the session's sandbox, or an empty string."""
        kept = self._kept.find(self.session_id, self._service) if self.session_id else None
        return kept.handle if kept else ""

    def note(self, handle: str, state: Literal["running", "suspended"]) -> None:
        """Store the session's sandbox. Raises StorageError."""
        if self.session_id:
            self._kept.put(
                KeptSandbox(self.session_id, self._service, handle, self._cwd, state, self._clock.now())
            )

    def forget(self) -> None:
        """Remove the session's sandbox from the store."""
        if self.session_id:
            self._kept.forget(self.session_id, self._service)


def _read(path: Path) -> KeptSandbox | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=KeptSandbox)
    except (OSError, msgspec.MsgspecError):
        return None
