"""Store the time up to which this machine has seen changes to shared records."""

from pathlib import Path
from typing import Final

from hermes_acp.storage.private_files import private_folder, write_private_text

OVERLAP_S: Final = 120.0
"""How many seconds of changes are fetched again, because a transaction that started earlier can be committed later."""


class SeenChanges:
    """A time on the clock of the fleet's database, stored in a file."""

    def __init__(self, folder: Path) -> None:
        """Store the folder of the records."""
        self._file = folder / ".shared-until"

    def read(self) -> float:
        """Return the time since which changes must be fetched, in seconds since the epoch. Blocks."""
        try:
            return max(0.0, float(self._file.read_text(encoding="ascii")) - OVERLAP_S)
        except (OSError, ValueError):
            return 0.0

    def write(self, changed_at: float) -> None:
        """Record that the changes up to a time have been seen. Blocks. Raises StorageError."""
        private_folder(self._file.parent)
        write_private_text(self._file, f"{changed_at:.3f}")
