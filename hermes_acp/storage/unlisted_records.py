"""Records that the session index lacks, the newest first.

After a loss that is all of them. A page of the list needs only the newest, so the rest is read when somebody looks
further back, or in the background.
"""

import os
from collections.abc import Set
from contextlib import suppress
from pathlib import Path
from typing import Final

from hermes_acp.storage.session_rows import SessionRow, row_of

BATCH: Final = 100
RECORD_SUFFIX: Final = ".jsonl"


class UnlistedRecords:
    """The records of a folder that are not in the index yet."""

    def __init__(self, folder: Path, known: Set[str]) -> None:
        """Look for them. Blocks."""
        self._folder = folder
        self._oldest_first = sorted(_times(folder, known))

    @property
    def newest_at(self) -> float:
        """When the newest of them was last written, in seconds since the epoch; 0.0 if there is none."""
        return self._oldest_first[-1][0] if self._oldest_first else 0.0

    def take(self) -> list[SessionRow]:
        """Read a batch of the newest records; those that cannot be read are left out. Blocks."""
        first = max(0, len(self._oldest_first) - BATCH)
        taken = self._oldest_first[first:]
        rows = [row for _, name in reversed(taken) if (row := row_of(self._folder / name))]
        del self._oldest_first[first:]
        return rows


def _times(folder: Path, known: Set[str]) -> list[tuple[float, str]]:
    times: list[tuple[float, str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(RECORD_SUFFIX) and name[: -len(RECORD_SUFFIX)] not in known:
                    with suppress(FileNotFoundError):  # deleted meanwhile
                        times.append((entry.stat().st_mtime, name))
    except OSError:
        return times  # there is no folder, or it cannot be read
    return times
