"""The versions of an installation, with one environment each, and the symbolic link that selects one of them.

`ROOT/bin/hermes-acp` is what people, editors and services start. The first update replaces the script there with a
link to the script of another environment, `ROOT/versions/NAME/bin/hermes-acp`, whose first line names its own Python.
Replacing that link is one rename, so every start gets one complete version. No environment is changed or moved once it
is in use, because running processes continue to import from it. Decision 20 explains this.
"""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.config.installation import COMMAND, DISTRIBUTION, PROGRAMS, VERSIONS, command_of
from hermes_acp.core.errors import Busy, StorageError
from hermes_acp.storage.disk_sync import sync_file_system
from hermes_acp.storage.private_files import (
    lock_or_busy,
    remove_folder,
    storage_error,
    sync_folder,
    write_whole,
)
from hermes_acp.updates.update_errors import UpdateFailed
from hermes_acp.updates.update_sources import UpdateSource

FIRST: Final = "first"
"""The name of the first environment among the versions; only its script is kept below `versions`."""
RECORD: Final = "update.json"
LOCK: Final = "lock"
LOG: Final = "update.log"
STAGING: Final = "staging"
SCRIPT_MODE: Final = 0o755
MAX_SCRIPT_BYTES: Final = 1 << 16


class VersionRecord(Struct, frozen=True, omit_defaults=True):
    """The record that an update writes into a new environment once it has passed all checks."""

    version: str
    source: UpdateSource
    digest: str
    """The SHA-256 of the wheel."""
    installed_at: float
    replaces: str
    """The name of the version that was in use before."""


class VersionFolders:
    """The environments of one installation. Methods block; those that change something need `lock`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / VERSIONS

    @property
    def log(self) -> Path:
        """The log of the last update."""
        return self.folder / LOG

    @property
    def staging(self) -> Path:
        """The working folder of an update; nothing in it is in use."""
        return self.folder / STAGING

    def current(self) -> str:
        """Return the name of the version in use."""
        try:
            target = Path(os.readlink(command_of(self.root)))
        except OSError:
            return FIRST  # a script of the first environment, or of an installer that has run since
        name = target.parent.parent.name
        return name if target.parts[:-3] == ("..", VERSIONS) else FIRST

    def environment(self, name: str) -> Path:
        """Return the environment of a version."""
        return self.root if name == FIRST else self.folder / name

    def record(self, name: str) -> VersionRecord | None:
        """Return the record of a version that passed all checks, or None; the first environment has none."""
        try:
            return msgspec.json.decode((self.folder / name / RECORD).read_bytes(), type=VersionRecord)
        except (OSError, msgspec.DecodeError):
            return None

    def is_whole(self, name: str) -> bool:
        """Return whether a version is complete, so that it can be switched to."""
        if name == FIRST:
            script, kept = command_of(self.root), command_of(self.folder / FIRST)
            has_script = kept.is_file() or (script.is_file() and not script.is_symlink())
            return has_script and (self.root / PROGRAMS / "python").exists()
        return self.record(name) is not None and command_of(self.folder / name).is_file()

    def previous(self) -> str:
        """Return the name of the version before the one in use, or an empty string if there is none."""
        record = self.record(self.current())
        return record.replaces if record and self.is_whole(record.replaces) else ""

    @contextmanager
    def lock(self) -> Generator[None]:
        """Hold the lock for changing the installation. Raises Busy or StorageError."""
        path = self.folder / LOCK
        try:
            self.folder.mkdir(exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise storage_error("open the lock", path, error) from error
        try:
            try:
                lock_or_busy(descriptor, str(path))
            except Busy as error:
                raise Busy("Another update is running.", hint=f"Its log is {self.log}.") from error
            yield
        finally:
            os.close(descriptor)

    def finish(self, name: str, record: VersionRecord) -> None:
        """Record that a version passed all checks. Raises StorageError."""
        path = self.folder / name / RECORD
        try:
            write_whole(path, msgspec.json.encode(record), mode=0o644)
            sync_folder(self.folder)
        except OSError as error:
            raise storage_error("write", path, error) from error

    def switch(self, name: str) -> None:
        """Make all new starts use a version, with one rename, once all of it would survive a power failure.

        Raises UpdateFailed or StorageError.
        """
        if not self.is_whole(name):
            raise UpdateFailed(f"The version {name} is incomplete.", hint="Run `hermes-acp update` again.")
        command = command_of(self.root)
        try:
            self._keep_first_script(command)
            sync_file_system(str(self.folder))
            alias = command.with_name(DISTRIBUTION)
            if alias.is_file() and not alias.is_symlink():
                self._link(alias, COMMAND)  # the same version, which is started through the selecting link
            self._link(command, os.path.join("..", VERSIONS, name, PROGRAMS, COMMAND))
            sync_folder(command.parent)
        except OSError as error:
            raise storage_error("replace", command, error) from error

    def _keep_first_script(self, command: Path) -> None:
        """Copy the script of the first environment to a place that a link can point to."""
        if command.is_symlink() or not command.is_file():
            return
        with command.open("rb") as script:
            content = script.read(MAX_SCRIPT_BYTES)
        kept = command_of(self.folder / FIRST)
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, content, mode=SCRIPT_MODE)
        sync_folder(kept.parent)

    def _link(self, path: Path, target: str) -> None:
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(FileNotFoundError):
            draft.unlink()
        os.symlink(target, draft)
        os.replace(draft, path)

    def prune(self) -> list[str]:
        """Remove versions that are no longer needed by starts or running processes; return their names.

        The version in use, the one before it, and one left by switching back are kept. Raises StorageError.
        """
        current = self.current()
        kept = {current, FIRST, self.previous(), STAGING}
        removed: list[str] = []
        for name in self._names():
            record = self.record(name)
            if name in kept or (record and record.replaces == current) or self.is_running(name):
                continue
            remove_folder(self.folder / name)
            removed.append(name)
        with suppress(OSError):
            for draft in (self.root / PROGRAMS).glob(f".{COMMAND}*"):
                draft.unlink()
        return removed

    def unfinished(self) -> list[str]:
        """Return the names of versions left by an interrupted update, or none while an update is running."""
        if not self.folder.is_dir():
            return []
        try:
            with self.lock():
                return [name for name in self._names() if not self.is_whole(name)]
        except (Busy, StorageError):
            return []

    def is_running(self, name: str) -> bool:
        """Return whether a process that this user can see was started from a version."""
        program = os.fsencode(self.folder / name / PROGRAMS) + b"/"
        return any(each.startswith(program) for each in _programs())

    def _names(self) -> list[str]:
        entries = [path for path in self.folder.iterdir() if path.is_dir() and not path.is_symlink()]
        return sorted(path.name for path in entries if path.name != FIRST)

    def clear_staging(self) -> Path:
        """Empty the working folder and return it. Raises StorageError."""
        remove_folder(self.staging)
        try:
            self.staging.mkdir(parents=True)
        except OSError as error:
            raise storage_error("make the folder", self.staging, error) from error
        return self.staging


def _programs() -> Iterator[bytes]:
    """Yield the interpreter paths of running processes, as they were started."""
    if os.path.isdir("/proc/self"):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as file:
                    yield file.read(4096).partition(b"\0")[0]
        return
    import psutil

    for process in psutil.process_iter(("cmdline",)):
        yield os.fsencode((process.info["cmdline"] or [""])[0])
