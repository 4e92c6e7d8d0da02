"""What git tracks that matters where it shows or tells of files without their being named: secrets, and all names.

Knows: when git takes a file for unchanged, that it tells of files that are not there. Does not know: git commands, what
may be shown.
"""

import os
import re
from collections.abc import Iterator
from typing import Final

from hermes_acp.policy.names import is_sensitive
from hermes_acp.policy.shell.indexes import Entry, Index, read_index

MOST_FOUND: Final = 50
# Found at once in any index, so that few have to be read name by name.
_HINT: Final = re.compile(
    rb"\.env|\.pem\0|\.key\0|\.p12\0|\.pfx\0|\.jks\0|\.kdbx\0|\.keystore\0|\.tfvars\0|\.tfstate\0|\.cnf\0|rc\0|id_|"
    rb"credentials|secrets\.|\.pgpass|\.htpasswd|\.vault-token|\.dockercfg|\.(?:ssh|gnupg|aws|azure|kube|docker|gcloud)|"
    rb"\.password-store",
    re.IGNORECASE,
)


def secrets_tracked(cwd: str, *, only_touched: bool = False) -> tuple[str, ...]:
    """Give the files of such names that the repository around a folder tracks, those alone that were touched since.

    They are absolute. What cannot be read as an index has none.
    """
    index = read_index(cwd)
    if index is None or not any(map(_HINT.search, index.contents)):
        return ()
    found: list[str] = []
    for entry in index.entries():
        if is_sensitive(entry.path) and not (only_touched and _is_as_noted(entry, index)):
            found.append(entry.path)
        if len(found) >= MOST_FOUND:
            break
    return tuple(dict.fromkeys(found))


def names_tracked(folder: str) -> Iterator[str | None]:
    """Give the paths, from a folder on, of all tracked files beneath it, there or not; None for an index not read."""
    index = read_index(folder)
    if index is None:
        yield None
        return
    for entry in index.entries():
        if entry.path.startswith(f"{folder}/"):
            yield entry.path.removeprefix(f"{folder}/")


def _is_as_noted(entry: Entry, index: Index) -> bool:
    """Tell whether git takes a file for unchanged without a look into it; one as new as the index it looks into."""
    try:
        about = os.lstat(entry.path)
    except OSError:
        return False
    is_same = about.st_size & 0xFFFFFFFF == entry.size_bytes and about.st_mtime_ns == entry.modified_ns
    return is_same and about.st_mtime_ns < index.modified_ns
