"""Find ignored files that are stored anyway because they are about to change.

Paths are bytes, relative to the workspace.
"""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from hermes_acp.storage.checkpoints.shadow_git import ShadowGit

MAX_FILES: Final = 2_000
MAX_BYTES: Final = 64 << 20
"""The maximum size in bytes of an ignored folder that is about to change as a whole; larger ones are left out."""


def ignored(git: ShadowGit, path: bytes) -> list[bytes]:
    """Return the ignored files at or below a path that the shadow does not track yet."""
    listed = git.run("ls-files", "-z", "-o", "-i", "--exclude-standard", "--", os.fsdecode(path))
    return [each for each in listed.split(b"\0") if each]


def ignored_within(git: ShadowGit, root: str, paths: Iterable[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Return the ignored files in those of the paths that are folders, and the folders that are too large."""
    files: list[bytes] = []
    left: list[bytes] = []
    for folder in paths:
        whole = os.fsencode(root) + b"/" + folder
        if not folder or os.path.islink(whole) or not os.path.isdir(whole):
            continue
        found = ignored(git, folder)
        if len(found) > MAX_FILES or _size_bytes(root, found) > MAX_BYTES:
            left.append(folder)
        else:
            files += found
    return files, left


def _size_bytes(root: str, paths: Iterable[bytes]) -> int:
    size_bytes = 0
    for path in paths:
        with suppress(OSError):
            about = os.lstat(os.fsencode(root) + b"/" + path)
            size_bytes += about.st_size if stat.S_ISREG(about.st_mode) else 0
    return size_bytes
