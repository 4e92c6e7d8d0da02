"""Keep every path inside the session's folders, even through links."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from hermes_acp.core.errors import OutsideRoots, WorkspaceError
from hermes_acp.workspaces.openat2 import open_beneath

MAX_PATH_CHARS = 4096
_FOLDER_FLAGS: int = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def locate(path: str, cwd: str, roots: Sequence[str]) -> str:
    """Resolve a path as written: relative to `cwd`, following links; its last components may be missing.

    `~` is an ordinary character. Raises OutsideRoots if the result is not in any of `roots`, and WorkspaceError if the
    text is not a valid path.
    """
    written = plain_path(path)
    if not written or "\0" in written or len(os.fsencode(written)) > MAX_PATH_CHARS:
        raise WorkspaceError(
            f"{path[:80]!r} is not a usable path.",
            hint=f"A path has 1 to {MAX_PATH_CHARS} bytes and none of them is NUL.",
        )
    resolved = _resolve(os.path.join(cwd, written), path)
    if not _encodes(resolved):
        raise WorkspaceError(
            f"The name of {resolved!r} is not UTF-8.", hint="Rename it, or use a command on it."
        )
    # A resolved path contains no link, so any root that is a prefix of it is resolved as well.
    is_inside = any(
        is_within(resolved, root) or is_within(resolved, os.path.realpath(root)) for root in roots
    )
    if not is_inside or is_within(resolved, "/proc"):
        leads = path if resolved == path else f"{path} leads to {resolved}, which"
        raise _outside(leads, roots)
    return resolved


def _outside(path: str, roots: Sequence[str]) -> OutsideRoots:
    return OutsideRoots(
        f"{path} is outside the folders of this session: {', '.join(roots)}.",
        hint="Use a path inside one of them.",
    )


def _resolve(path: str, written: str) -> str:
    """Follow all links in the existing part of an absolute path. Raises WorkspaceError."""
    with suppress(OSError):
        return os.path.realpath(path, strict=True)
    try:
        resolved = os.path.realpath(path)
    except OSError as error:  # a link that was replaced before it was read
        raise WorkspaceError(
            f"{path} was replaced by something else while it was being resolved.", hint="Try again."
        ) from error
    whole = PurePosixPath(resolved)
    if any(os.path.islink(part) for part in (whole, *whole.parents)):
        raise WorkspaceError(
            f"{written} is a loop of symbolic links.", hint="Repair or remove one of the links."
        )
    return resolved


def is_within(path: str, root: str) -> bool:
    """Return whether a resolved path is a resolved folder or is below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


@contextmanager
def open_parent(path: str, roots: Sequence[str], *, create: bool = False) -> Generator[int, None, None]:
    """Yield a descriptor of the folder that contains a resolved path, reached without following links.

    With `create`, missing folders along the path are created. The descriptor is closed with the context. Raises
    OSError: ELOOP or ENOTDIR if a link was swapped in, FileNotFoundError for a missing folder.
    """
    root = max((root for root in roots if is_within(path, root)), key=len, default=None)
    if root is None or is_within(path, "/proc"):
        raise _outside(path, roots)
    if path == root:
        root = os.path.dirname(root)
    names = [name for name in path[len(root) :].split("/") if name]
    if ".." in names:
        raise _outside(path, roots)
    folder = os.open(root, _FOLDER_FLAGS)
    if names[:-1]:
        folder = _go_down(folder, names[:-1], create=create)
    try:
        yield folder
    finally:
        os.close(folder)


def _go_down(folder: int, names: Sequence[str], *, create: bool) -> int:
    """Open a folder below the given one, which is closed; go step by step if the kernel cannot do it at once."""
    try:
        inner = open_beneath(folder, "/".join(names))
    except FileNotFoundError:
        if not create:
            os.close(folder)
            raise
        inner = None
    except OSError:
        os.close(folder)
        raise
    if inner is None:
        return walk_down(folder, names, create=create)
    os.close(folder)
    return inner


def walk_down(folder: int, names: Sequence[str], *, create: bool) -> int:
    """Open a folder below the given one, which is closed, step by step and without following links."""
    for name in names:
        folder = _step_into(folder, name, create=create)
    return folder


def _step_into(folder: int, name: str, *, create: bool) -> int:
    if create:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def plain_path(path: str) -> str:
    """Return a plain path, converting file URLs. Raises WorkspaceError for invalid URLs and those of other machines."""
    if not _encodes(path):
        raise WorkspaceError(f"{path[:80]!r} is not a usable path.", hint="Write it in valid Unicode.")
    if not path.lower().startswith("file:"):
        return path
    try:
        address = urlsplit(path)
    except ValueError as error:
        raise WorkspaceError(f"{path} is not a usable file URL.", hint="Use a plain path.") from error
    if address.netloc not in ("", "localhost") or not address.path.startswith("/"):
        raise WorkspaceError(f"{path} is not on this machine.", hint="Use the path of a local file.")
    return unquote(address.path)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
