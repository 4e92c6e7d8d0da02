"""Store every version of a small folder that the agent writes, with the author, the time and the reason.

Any version can be restored.

Everything here blocks, so call it in a worker thread. A version is the folder's content after a change; a version
without files represents a deleted folder. Manual changes between two versions are first stored as a separate version.
Stored versions are never deleted.
"""

import os
import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final, Literal

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.storage.file_locks import file_lock
from hermes_acp.storage.private_files import private_folder, storage_error, sync_folder, write_whole

MAX_FILES: Final = 500
MAX_BYTES: Final = 20 << 20
MANUAL_CHANGE_REASON: Final = "found like this"
CHANGED_MEANWHILE: Final = "{folder} was changed by someone else in the meantime."
READ_AGAIN_HINT: Final = "Read its current content, then decide again."
ChangeAuthor = Literal["agent", "user", "program"]


class VersionFile(Struct, frozen=True):
    """A file of a version: its path within the folder, the digest of its bytes, and whether it is executable."""

    path: str
    digest: str
    is_executable: bool = False


class ChangeCause(Struct, frozen=True):
    """Who changes a folder, when (in seconds since the epoch), in which session, if any, and why."""

    who: ChangeAuthor
    at: float
    why: str
    session_id: str = ""


class Version(Struct, frozen=True):
    """A folder's content after a change. Versions count from 1; 0 means that the folder did not exist yet.

    `returns_to` is the version that was restored, or None if none was.
    """

    number: int
    folder: str
    cause: ChangeCause
    files: tuple[VersionFile, ...]
    returns_to: int | None = None

    @property
    def is_gone(self) -> bool:
        """Whether the folder was deleted."""
        return not self.files


class VersionHistory:
    """The versions of a folder, stored elsewhere. The folder itself may no longer exist."""

    def __init__(self, history_folder: Path, folder: Path) -> None:
        self.folder = folder
        self._history_folder = history_folder

    def versions(self) -> tuple[Version, ...]:
        """Return all versions, oldest first. Raises StorageError."""
        try:
            paths = sorted((self._history_folder / "versions").glob("*.json"))
            return tuple(msgspec.json.decode(path.read_bytes(), type=Version) for path in paths)
        except OSError as error:
            raise storage_error("read the versions in", self._history_folder, error) from error
        except msgspec.MsgspecError as error:
            raise StorageError(
                f"The versions in {self._history_folder} cannot be read: {error}.",
                hint="Move that folder away.",
            ) from error

    def content(self, file: VersionFile) -> bytes:
        """Return the content of a stored file. Raises StorageError if it is missing or corrupt."""
        path = self._blob(file.digest)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise storage_error("read the stored file", path, error) from error
        if sha256(content).hexdigest() != file.digest:
            raise StorageError(f"The stored file {path} was changed.", hint="Choose another version.")
        return content

    def keep(self, cause: ChangeCause) -> Version:
        """Store the folder's current content, unless it is identical to the newest version.

        Raises BadRequest for content that cannot be stored, or StorageError.
        """
        with self._held():
            return self._keep(cause)

    def change(
        self,
        contents: Mapping[str, bytes | None],
        cause: ChangeCause,
        *,
        expected: str | None = None,
        seen: Collection[str] | None = None,
    ) -> Version:
        """Write files by their paths within the folder, or delete those given as None, and store the result.

        Each file is written atomically. `expected` is the digest of the tree as it was read (`tree_digest`). If the
        folder has changed since, it is left as it is. If only some paths were `seen`, the digest covers only these.
        Raises BadRequest or StorageError.
        """
        for path in contents:
            check_path(path)
        with self._held():
            if expected is not None and tree_digest(_only(read_tree(self.folder), seen)) != expected:
                raise BadRequest(CHANGED_MEANWHILE.format(folder=self.folder), hint=READ_AGAIN_HINT)
            self._keep_found(cause.at)
            self._write({path: (content, None) for path, content in contents.items()})
            return self._keep(cause)

    def replace_content(self, files: Mapping[str, tuple[bytes, bool]], cause: ChangeCause) -> Version:
        """Replace the folder's content with the given files, each with its bytes and whether it is executable.

        Raises BadRequest or StorageError.
        """
        for path in files:
            check_path(path)
        with self._held():
            self._keep_found(cause.at)
            return self._replace_content(files, cause)

    def restore(self, number: int, cause: ChangeCause, *, expected: str | None = None) -> Version:
        """Restore the folder to a version (0 deletes it) and store the result as a new version.

        Raises BadRequest or StorageError.
        """
        with self._held():
            if expected is not None and tree_digest(read_tree(self.folder)) != expected:
                raise BadRequest(CHANGED_MEANWHILE.format(folder=self.folder), hint=READ_AGAIN_HINT)
            self._keep_found(cause.at)
            wanted = next((each.files for each in self.versions() if each.number == number), None)
            if wanted is None and number:
                raise BadRequest(f"There is no version {number} of {self.folder.name}.")
            files = {each.path: (self.content(each), each.is_executable) for each in wanted or ()}
            return self._replace_content(files, cause, returns_to=number)

    def _replace_content(
        self, files: Mapping[str, tuple[bytes, bool]], cause: ChangeCause, *, returns_to: int | None = None
    ) -> Version:
        gone: dict[str, tuple[None, None]] = {each.path: (None, None) for each in read_tree(self.folder)}
        self._write({**gone, **files})
        return self._keep(cause, returns_to=returns_to)

    def _held(self) -> AbstractContextManager[None]:
        return file_lock(self._history_folder / "lock")

    def _keep_found(self, at: float) -> None:
        """Store manual changes made since the newest version."""
        if self.folder.is_dir() or self.versions():
            self._keep(ChangeCause("user", at, MANUAL_CHANGE_REASON))

    def _keep(self, cause: ChangeCause, *, returns_to: int | None = None) -> Version:
        files = read_tree(self.folder)
        known = self.versions()
        if known and known[-1].files == files:
            return known[-1]
        number = known[-1].number + 1 if known else 1
        version = Version(number, str(self.folder), cause, files, returns_to)
        try:
            blobs = private_folder(self._history_folder / "files")
            for file in files:
                if not self._blob(file.digest).exists():
                    write_whole(blobs / file.digest, (self.folder / file.path).read_bytes(), mode=0o600)
            place = private_folder(self._history_folder / "versions") / f"{version.number:06}.json"
            write_whole(place, msgspec.json.encode(version), mode=0o600)
        except OSError as error:
            raise storage_error("keep a version in", self._history_folder, error) from error
        return version

    def _write(self, files: Mapping[str, tuple[bytes | None, bool | None]]) -> None:
        """Write the target files, then delete all other files and the folders that are then empty."""
        try:
            for name, (content, is_executable) in files.items():
                if content is not None:
                    path = self.folder / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    mode = None if is_executable is None else 0o755 if is_executable else 0o644
                    write_whole(path, content, mode=mode)
            for name, (content, _) in files.items():
                if content is None:
                    _take_away(self.folder, name)
        except OSError as error:
            raise storage_error("change the folder", self.folder, error) from error

    def _blob(self, digest: str) -> Path:
        return self._history_folder / "files" / digest


def origin_of(versions: Sequence[Version]) -> Version | None:
    """Return the version that introduced the newest content: the newest itself, or the one it ultimately restores.

    None without versions, or if the content is that of version 0.
    """
    by_number = {version.number: version for version in versions}
    found = versions[-1] if versions else None
    while found and found.returns_to is not None:
        found = by_number.get(found.returns_to)
    return found


def histories(home: Path, kind: str) -> tuple[VersionHistory, ...]:
    """Return the histories of all folders stored for a purpose, unordered. Raises StorageError."""
    found: list[VersionHistory] = []
    for history_folder in (home / "history" / kind).glob("*/versions"):
        versions = VersionHistory(history_folder.parent, history_folder).versions()
        if versions:
            found.append(VersionHistory(history_folder.parent, Path(versions[-1].folder)))
    return tuple(found)


def open_history(home: Path, kind: str, folder: Path) -> VersionHistory:
    """Return the version history of a folder, identified by its path with links resolved."""
    return VersionHistory(history_folder_of(home, kind, folder), Path(os.path.realpath(folder)))


def history_folder_of(home: Path, kind: str, folder: Path) -> Path:
    """Return the folder that stores the versions of a folder; it is always in the user's home folder.

    `kind` separates different purposes, such as `skills`. Links in the folder's path are resolved.
    """
    place = os.path.realpath(folder)
    mark = sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return home / "history" / kind / f"{folder.name}-{mark}"


def read_tree(folder: Path) -> tuple[VersionFile, ...]:
    """Return the files in a folder by path, or none if the folder is missing.

    Hidden files, such as `.git`, are excluded. Raises BadRequest for content that cannot be stored, such as links and
    large files, and StorageError.
    """
    found: list[VersionFile] = []
    size_bytes = 0
    try:
        for place, folders, names in os.walk(folder, onerror=_raise_unless_missing):
            folders[:] = sorted(each for each in folders if not is_hidden(each))
            for name in sorted((*names, *(each for each in folders if os.path.islink(Path(place, each))))):
                if is_hidden(name):
                    continue
                path = Path(place, name)
                about = path.lstat()
                inner = path.relative_to(folder).as_posix()
                if not stat.S_ISREG(about.st_mode):
                    raise BadRequest(
                        f"{path} is not a regular file, so versions of its folder cannot be kept.",
                        hint="Replace it with a regular file, or change the folder by hand.",
                    )
                size_bytes += about.st_size
                if size_bytes > MAX_BYTES or len(found) >= MAX_FILES:
                    raise BadRequest(
                        f"{folder} has more than {MAX_FILES} files or {MAX_BYTES >> 20} MiB, too much to keep.",
                        hint="Change it by hand.",
                    )
                content = path.read_bytes()
                found.append(VersionFile(inner, sha256(content).hexdigest(), bool(about.st_mode & 0o100)))
    except OSError as error:
        raise storage_error("read the folder", folder, error) from error
    return tuple(sorted(found, key=lambda file: file.path))


def _only(files: tuple[VersionFile, ...], paths: Collection[str] | None) -> tuple[VersionFile, ...]:
    return files if paths is None else tuple(file for file in files if file.path in paths)


def tree_digest(files: tuple[VersionFile, ...]) -> str:
    """Return a digest of everything in a folder: paths, bytes and executable bits."""
    return sha256(msgspec.json.encode(files)).hexdigest()


def is_hidden(path: str) -> bool:
    """Return whether a file is hidden, or in a hidden folder."""
    return any(part.startswith(".") for part in PurePosixPath(path).parts)


def check_path(path: str) -> None:
    """Raise BadRequest unless a path stays within its folder and contains no hidden name."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or is_hidden(path):
        raise BadRequest(
            f"{path[:200]!r} is not a path within the folder.",
            hint="Use a relative path without `..` and hidden names, such as references/api.md.",
        )


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _take_away(folder: Path, name: str) -> None:
    path = folder / name
    path.unlink(missing_ok=True)
    parents = (path.parent, *path.parent.parents)
    for parent in parents:
        if not parent.is_relative_to(folder) or not parent.is_dir() or any(parent.iterdir()):
            return
        parent.rmdir()
        if parent == folder:
            sync_folder(folder.parent)
