"""Records that the session index lacks, newest first.

After the loss of the index, that is all of them. A page of the list needs only the newest records, so older ones are
read in the background or when someone scrolls back. A folder that has not changed since it was fully indexed is not
listed again. Of the records without a prompt, only those that have grown since are reread.
"""

import os
import time
from collections.abc import Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import Final

from hermes_acp.storage.session_rows import SessionRow, row_of

BATCH: Final = 100
RECORD_SUFFIX: Final = ".jsonl"
FOLDER: Final = ""
"""The name that represents the folder itself."""
NEVER_NS: Final = 0
"""The time that marks a record for rereading, whether or not it changes."""
SETTLED_NS: Final = 2_000_000_000
"""A file changed more recently may change again with the same mtime, because file systems keep coarse times."""


class UnlistedRecords:
    """The records of a folder that are not in the index yet."""

    def __init__(self, folder: Path, known: Set[str], looked_at: Mapping[str, int]) -> None:
        """Find the unlisted records.

        `looked_at` maps files to the modification times at which they had nothing to list.

        Blocks.
        """
        self._folder = folder
        changed_ns = _time_of(folder)
        is_same = looked_at.get(FOLDER) == changed_ns is not None
        self._folder_done = (
            {FOLDER: changed_ns} if changed_ns is not None and not is_same and _is_settled(changed_ns) else {}
        )
        found = _times_of(folder, looked_at, known) if is_same else _times(folder, known)
        self._oldest_first = sorted(item for item in found if looked_at.get(item[1]) != item[0])

    @property
    def newest_at(self) -> float:
        """When the newest unlisted record was last written, in seconds since the epoch, or 0.0 if there is none."""
        return self._oldest_first[-1][0] / 1e9 if self._oldest_first else 0.0

    def take(self) -> tuple[list[SessionRow], dict[str, int]]:
        """Read a batch of the newest records. Unreadable ones are left out.

        Blocks. Also return the files that need not be reread while their modification times stay the same.
        """
        first = max(0, len(self._oldest_first) - BATCH)
        taken = self._oldest_first[first:]
        rows: list[SessionRow] = []
        done: dict[str, int] = {}
        for changed_ns, name in reversed(taken):
            row = row_of(self._folder / name)
            if row:
                rows.append(row)
            if not (row and row.title):
                done[name] = changed_ns if _is_settled(changed_ns) else NEVER_NS
        del self._oldest_first[first:]
        if not self._oldest_first:
            done |= self._folder_done
            self._folder_done = {}
        return rows, done


def _is_settled(changed_ns: int) -> bool:
    return changed_ns < time.time_ns() - SETTLED_NS


def _time_of(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _times_of(folder: Path, names: Mapping[str, int], known: Set[str]) -> list[tuple[int, str]]:
    unknown = [name for name in names if name and name.removesuffix(RECORD_SUFFIX) not in known]
    times = [(_time_of(folder / name), name) for name in unknown]
    return [(changed_ns, name) for changed_ns, name in times if changed_ns is not None]


def _times(folder: Path, known: Set[str]) -> list[tuple[int, str]]:
    times: list[tuple[int, str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(RECORD_SUFFIX) and name[: -len(RECORD_SUFFIX)] not in known:
                    with suppress(FileNotFoundError):  # deleted in the meantime
                        times.append((entry.stat().st_mtime_ns, name))
    except OSError:
        return times  # the folder is missing or unreadable
    return times
