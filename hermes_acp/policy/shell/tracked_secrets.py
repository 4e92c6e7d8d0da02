"""Find secret files tracked by git, whose content git may show even if a command does not name them."""

import os
from typing import Final

from hermes_acp.git.git_index import GitIndex, IndexEntry, read_index
from hermes_acp.policy.sensitive_names import is_sensitive, may_name_secrets

MAX_RESULTS: Final = 50
# From version 4 on, the index stores each path as its difference from the previous one.
_ABRIDGED: Final = b"\0\0\0\4"


def tracked_secret_files(cwd: str, *, only_touched: bool = False) -> tuple[str, ...]:
    """Return the secret files tracked by the repository around a folder.

    With `only_touched`, only those that git would read again are returned. The paths are absolute. If the index cannot
    be read, the result is empty.
    """
    index = read_index(cwd)
    if index is None or not any(map(_may_name_secrets, index.contents)):
        return ()
    found: list[str] = []
    for entry in index.entries():
        if is_sensitive(entry.path) and not (only_touched and _is_unchanged(entry, index)):
            found.append(entry.path)
        if len(found) >= MAX_RESULTS:
            break
    return tuple(dict.fromkeys(found))


def _may_name_secrets(content: bytes) -> bool:
    return content[4:8] == _ABRIDGED or may_name_secrets(content)


def _is_unchanged(entry: IndexEntry, index: GitIndex) -> bool:
    """Return whether git considers a file unchanged without reading it; git does read files as recent as its index."""
    try:
        about = os.lstat(entry.path)
    except OSError:
        return False
    is_same = about.st_size & 0xFFFFFFFF == entry.size_bytes and about.st_mtime_ns == entry.modified_ns
    return is_same and about.st_mtime_ns < index.modified_ns
