"""Decide which changed paths go into a snapshot: no secrets, and nothing too large or unreadable."""

import os
import stat
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from hermes_acp.storage.checkpoints.git_trees import parents_of
from hermes_acp.telemetry.secret_files import MAX_BYTES, secret_in


class SnapshotLimits(Struct, frozen=True):
    """The limits of a snapshot, and the predicates that recognise key files by relative or absolute path."""

    largest_file_bytes: int
    max_files: int = 300_000
    holds_keys: Callable[[str], bool] = lambda _: False


class FilteredPaths(Struct):
    """The paths to store, with files' permission bits, and the paths to remove from the index, some of them left out.

    If `became_folders`, a tracked file is now a folder.
    """

    update: list[bytes] = field(default_factory=list[bytes])
    forget: list[bytes] = field(default_factory=list[bytes])
    left_out: set[bytes] = field(default_factory=set[bytes])
    became_folders: bool = False
    modes: dict[bytes, int] = field(default_factory=dict[bytes, int])


def filter_paths(
    root: str, changed: Iterable[bytes], fresh: Sequence[bytes], bounds: SnapshotLimits
) -> FilteredPaths:
    """Separate the paths to store from those that hold keys, are too large, are unreadable, or are no longer files.

    `changed` lists tracked paths, `fresh` untracked ones, all relative to `root`.
    """
    sifted, others = FilteredPaths(), set(fresh)
    known = [path for path in changed if others.isdisjoint(parents_of(path))]
    for path in dict.fromkeys((*known, *fresh)):
        whole = os.fsencode(root) + b"/" + path
        try:
            about = os.lstat(whole)
        except OSError:
            sifted.update.append(path)  # deleted: git notices that too
            continue
        if stat.S_ISDIR(about.st_mode):
            sifted.forget.append(path)  # git would treat it as a nested repository
            sifted.became_folders = sifted.became_folders or path not in others
        elif not _can_be_taken(whole, about, bounds) or _holds_keys(path, whole, about, bounds):
            sifted.forget.append(path)
            sifted.left_out.add(path)
        else:
            sifted.update.append(path)
            if stat.S_ISREG(about.st_mode):
                sifted.modes[path] = stat.S_IMODE(about.st_mode)
    return sifted


def _can_be_taken(path: bytes, about: os.stat_result, bounds: SnapshotLimits) -> bool:
    if stat.S_ISLNK(about.st_mode):
        return not path.lower().endswith(b"/.gitmodules")  # git rejects such a link as an attack
    if not stat.S_ISREG(about.st_mode) or about.st_size > bounds.largest_file_bytes:
        return False
    return os.access(path, os.R_OK)


def _holds_keys(path: bytes, whole: bytes, about: os.stat_result, bounds: SnapshotLimits) -> bool:
    """Return whether a file's name or content shows that it holds keys. A link contains only a path."""
    if stat.S_ISLNK(about.st_mode):
        return False
    if bounds.holds_keys(os.fsdecode(path)):
        return True
    if about.st_size > MAX_BYTES:
        return False
    try:
        descriptor = os.open(whole, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return True  # it disappeared a moment ago
    with open(descriptor, "rb") as file:
        return bool(secret_in(file.read(MAX_BYTES + 1)))
