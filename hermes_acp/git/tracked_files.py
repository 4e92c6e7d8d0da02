"""Find files whose content git stores verbatim: hiding them protects nothing, and git would report them as changed.

The name of an index entry proves nothing, because a command can add one: the file must have exactly the content that
the entry names, and producing that requires knowing the content. Everything here blocks.
"""

import hashlib
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from hermes_acp.git.git_index import object_name_in

MAX_INDEX_BYTES: Final = 1 << 26
MAX_FILE_BYTES: Final = 1 << 20

_Seen = tuple[int, int, int, int]


class TrackedFiles:
    """A cache of the files that repositories contain; callers must serialise access."""

    def __init__(self) -> None:
        """Start empty."""
        self._indexes: dict[str, tuple[_Seen, bytes]] = {}
        self._files: dict[str, tuple[_Seen, bytes]] = {}

    def unknown(self, paths: Sequence[str], repositories: Sequence[str]) -> list[str]:
        """Return the paths whose content is in none of the repositories around them."""
        if not paths:
            return []
        tops = {os.path.dirname(each): each for each in repositories if os.path.basename(each) == ".git"}
        return [path for path in paths if not self._is_known(path, tops)]

    def _is_known(self, path: str, tops: dict[str, str]) -> bool:
        top: str = os.path.dirname(path)
        while top not in tops:
            above: str = os.path.dirname(top)
            if above == top:
                return False
            top = above
        index = _read(f"{tops[top]}/index", MAX_INDEX_BYTES, self._indexes)
        named = object_name_in(index, os.path.relpath(path, top)) if index else b""
        if not named:
            return False
        content = _read(path, MAX_FILE_BYTES, self._files)
        if content is None:
            return False
        head = f"blob {len(content)}\0".encode()
        return hashlib.sha1(head + content, usedforsecurity=False).digest() == named


def _read(path: str, most_bytes: int, known: dict[str, tuple[_Seen, bytes]]) -> bytes | None:
    """Return a regular file's content, cached while the file is unchanged."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            seen = (about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
            if path in known and known[path][0] == seen:
                return known[path][1]
            if not stat.S_ISREG(about.st_mode) or about.st_size > most_bytes:
                return None
            content = file.read(most_bytes)
            known[path] = (seen, content)
            return content
    return None
