"""Read, replace and list files on this machine's disk.

Functions take a resolved path and walk to it without following links. All block except `peek_at`, so call
them in a worker thread.
"""

import errno
import os
import stat
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from hermes_acp.core.errors import FileTooLarge, OutsideRoots, WorkspaceError
from hermes_acp.core.ports.workspace_ports import MAX_WHOLE_FILE_BYTES, DirectoryEntry, FileChunk
from hermes_acp.storage.disk_sync import sync_file
from hermes_acp.storage.private_files import write_whole
from hermes_acp.workspaces.path_confinement import open_parent

PEEK_BYTES = 64 * 1024
_NOWAIT_FLAG: int = getattr(os, "RWF_NOWAIT", 0)
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KINDS = MappingProxyType(
    {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
        stat.S_IFLNK: "a symbolic link",
    }
)


class FileSnapshot(Struct, frozen=True):
    """A file as it was read: its identity on disk and its bytes, or None for both if there was no file."""

    identity: tuple[int, int] | None
    content: bytes | None


def read_snapshot(path: str, roots: Sequence[str]) -> FileSnapshot:
    """Return a regular file with its identity, so that a later change applies to the same file.

    Raises WorkspaceError if the file exceeds the size limit.
    """
    try:
        with _os_errors_as("read", path), open_parent(path, roots) as folder:
            _refuse_special_files(os.stat(_name(path), dir_fd=folder, follow_symlinks=False), path)
            with open(os.open(_name(path), _READ_FLAGS, dir_fd=folder), "rb") as file:
                about = os.fstat(file.fileno())
                _refuse_special_files(about, path)
                content = b"" if about.st_size > MAX_WHOLE_FILE_BYTES else file.read(MAX_WHOLE_FILE_BYTES + 1)
    except FileNotFoundError:
        return FileSnapshot(None, None)
    size_bytes = max(about.st_size, len(content))
    if size_bytes > MAX_WHOLE_FILE_BYTES:
        raise FileTooLarge(
            f"{path} has {size_bytes:,} bytes; files above {MAX_WHOLE_FILE_BYTES:,} are not read whole.",
            hint="Search it, or read a part of it by its lines.",
        )
    return FileSnapshot(_identity(about), content)


def peek_at(path: str, roots: Sequence[str]) -> FileSnapshot | None:
    """Return a small file from the page cache without waiting for the disk, or None for any other file.

    Problems with a file are reported by `read_snapshot`, not here.
    """
    if not _NOWAIT_FLAG:
        return None
    with suppress(OSError, OutsideRoots), open_parent(path, roots) as folder:
        if not stat.S_ISREG(os.stat(_name(path), dir_fd=folder, follow_symlinks=False).st_mode):
            return None
        file = os.open(_name(path), _READ_FLAGS, dir_fd=folder)
        try:
            about = os.fstat(file)
            # A file of size 0 may be a kernel file that has content nevertheless.
            if stat.S_ISREG(about.st_mode) and 0 < about.st_size < PEEK_BYTES:
                content = bytearray(about.st_size + 1)
                if os.preadv(file, [content], 0, _NOWAIT_FLAG) == about.st_size:
                    return FileSnapshot(_identity(about), bytes(content[:-1]))
        finally:
            os.close(file)
    return None


def read_range(path: str, start: int, size_bytes: int, roots: Sequence[str]) -> FileChunk | None:
    """Return a part of a regular file of any size, or None if there is no file; beyond its end, the part is empty."""
    try:
        with _os_errors_as("read", path), open_parent(path, roots) as folder:
            _refuse_special_files(os.stat(_name(path), dir_fd=folder, follow_symlinks=False), path)
            with open(os.open(_name(path), _READ_FLAGS, dir_fd=folder), "rb", buffering=0) as file:
                about = os.fstat(file.fileno())
                _refuse_special_files(about, path)
                return FileChunk(os.pread(file.fileno(), size_bytes, start), about.st_size)
    except FileNotFoundError:
        return None


def remove_file(path: str, roots: Sequence[str]) -> None:
    """Delete a regular file. Raises WorkspaceError for a folder, a device, or a missing file."""
    try:
        with _os_errors_as("delete", path), open_parent(path, roots) as folder:
            _refuse_special_files(os.stat(_name(path), dir_fd=folder, follow_symlinks=False), path)
            os.unlink(_name(path), dir_fd=folder)
    except FileNotFoundError as error:
        raise WorkspaceError(f"There is no file {path} to delete.", hint="Check the path.") from error


def replace_file(path: str, content: bytes, roots: Sequence[str], known: FileSnapshot | None = None) -> None:
    """Replace or create a whole file, including any missing folders.

    An existing file keeps its mode, owner, group, extended attributes and ACLs; if a new file cannot have
    them, the old one is overwritten in place. Raises WorkspaceError if the file is not a regular file, has
    several hard links, is reached through a link, is not the `known` one, or cannot keep its metadata.
    """
    try:
        with _os_errors_as("write", path), open_parent(path, roots, create=True) as folder:
            present = _present(folder, _name(path))
            if present is not None:
                _refuse_special_files(present, path)
                _refuse_shared_file(present, path)
            if known is not None and known.identity != (_identity(present) if present else None):
                raise WorkspaceError(
                    f"{path} was replaced by another file after it was read.",
                    hint="Read it again before you change it.",
                )
            if present is None:
                write_whole(Path(_name(path)), content, within=folder)
            else:
                _replace_present(path, folder, content)
    except FileNotFoundError as error:
        raise WorkspaceError(
            f"Could not write {path}: its folder was deleted in the meantime.", hint="Write it again."
        ) from error


def list_folder(path: str, roots: Sequence[str]) -> list[DirectoryEntry]:
    """List a folder by name; a link to a folder counts as a folder. Raises WorkspaceError if the folder is missing."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with _os_errors_as("list", path), open_parent(path, roots) as parent:
            name = _name(path) or "."
            folder = os.open(name, flags, dir_fd=parent)
            try:
                with os.scandir(folder) as found:
                    return sorted((_entry(each) for each in found), key=lambda entry: entry.name)
            finally:
                os.close(folder)
    except FileNotFoundError as error:
        raise WorkspaceError(f"There is no folder {path}.", hint="Check the path.") from error


def _entry(found: "os.DirEntry[str]") -> DirectoryEntry:
    is_folder = False
    size_bytes = 0
    with suppress(OSError):
        is_folder = found.is_dir()
        size_bytes = 0 if is_folder else found.stat(follow_symlinks=False).st_size
    return DirectoryEntry(f"{found.name}/" if is_folder else found.name, size_bytes)


def _identity(about: os.stat_result) -> tuple[int, int]:
    return about.st_dev, about.st_ino


def _name(path: str) -> str:
    return os.path.basename(path)


def _present(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _replace_present(path: str, folder: int, content: bytes) -> None:
    """Replace a file with one that has the same metadata. Raises OSError or WorkspaceError."""
    present = os.open(_name(path), _READ_FLAGS, dir_fd=folder)
    try:
        about, attributes = os.fstat(present), _attributes(present)
    finally:
        os.close(present)
    mode = stat.S_IMODE(about.st_mode)
    try:
        write_whole(
            Path(_name(path)),
            content,
            mode=mode & 0o700,
            within=folder,
            adorn=lambda draft: _copy_metadata(draft, about, attributes),
        )
    except _CannotPreserve as error:
        _write_in_place(path, folder, content, error)


class _CannotPreserve(Exception):
    """A new file cannot have the old one's owner or one of its attributes."""


def _copy_metadata(draft: int, about: os.stat_result, attributes: Mapping[str, bytes]) -> None:
    """Copy owner, mode and attributes to an open file. Raises _CannotPreserve."""
    now, present = os.fstat(draft), _attributes(draft)
    try:
        if (now.st_uid, now.st_gid) != (about.st_uid, about.st_gid):
            os.fchown(draft, about.st_uid, about.st_gid)
        os.fchmod(draft, stat.S_IMODE(about.st_mode))
        for name in (
            present.keys() - attributes.keys()
        ):  # attributes that the new file inherited from its folder
            os.removexattr(draft, name)
        for name, value in attributes.items():
            if present.get(name) != value:
                os.setxattr(draft, name, value)
    except OSError as error:
        raise _CannotPreserve(str(error)) from error


def _attributes(file: int) -> dict[str, bytes]:
    """Return a file's extended attributes, including ACLs, or none if its file system does not support them."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        return {name: os.getxattr(file, name) for name in os.listxattr(file)}
    except OSError:
        return {}


def _write_in_place(path: str, folder: int, content: bytes, why: _CannotPreserve) -> None:
    """Write a file in place, keeping its metadata. Raises OSError or WorkspaceError."""
    flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = os.open(_name(path), flags, dir_fd=folder)
    except PermissionError as error:
        raise WorkspaceError(
            f"{path} was not changed: its owner, group or attributes could not be kept ({why}).",
            hint="Ask the user to make it writable, or to change it themselves.",
        ) from error
    with open(file, "wb") as stream:
        stream.truncate(0)
        stream.write(content)
        stream.flush()
        sync_file(stream.fileno())


def _refuse_special_files(about: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(about.st_mode):
        kind = _KINDS.get(stat.S_IFMT(about.st_mode), "not a regular file")
        hint = (
            "List it instead." if stat.S_ISDIR(about.st_mode) else "Only regular files are read and written."
        )
        raise WorkspaceError(f"{path} is {kind}.", hint=hint)


def _refuse_shared_file(about: os.stat_result, path: str) -> None:
    if about.st_nlink > 1:
        raise WorkspaceError(
            f"{path} is one of {about.st_nlink} hard links to one file; others may lie outside this session.",
            hint="Make it a separate file first: cp it aside, mv the copy over it; then write again.",
        )


@contextmanager
def _os_errors_as(doing: str, path: str) -> Generator[None, None, None]:
    """Convert an OSError to a WorkspaceError about `path`; FileNotFoundError is left to the caller."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        hints = {
            errno.ENOSPC: "The disk is full: free some space first.",
            errno.EACCES: "The user running this agent does not have permission.",
            errno.ELOOP: "A part of the path is now a symbolic link; resolve the path again.",
            errno.ENOTDIR: "A part of the path is a file or a symbolic link, not a folder.",
            errno.ENAMETOOLONG: "Use shorter names.",
            errno.EROFS: "The file system is read-only.",
        }
        raise WorkspaceError(
            f"Could not {doing} {path}: {error.strerror or error}.",
            hint=hints.get(error.errno or 0, "Check the path and its permissions."),
        ) from error
