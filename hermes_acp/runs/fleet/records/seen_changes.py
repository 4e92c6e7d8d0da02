"""Up to when this machine has seen the changes of shared records."""

from pathlib import Path
from typing import Final

from hermes_acp.storage.private_files import private_folder, write_private_text

OVERLAP_S: Final = 120.0
"""Changes are looked for again this long, since one that began earlier can be committed later."""


class SeenChanges:
    """A time on the fleet's database's clock, kept in a file."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of the records."""
        self._file = folder / ".shared-until"

    def read(self) -> float:
        """Return since when changes must be looked for, in seconds since the epoch. Blocks."""
        try:
            return max(0.0, float(self._file.read_text(encoding="ascii")) - OVERLAP_S)
        except (OSError, ValueError):
            return 0.0

    def write(self, changed_at: float) -> None:
        """Note that the changes up to a time were seen. Blocks. Raises StorageError."""
        private_folder(self._file.parent)
        write_private_text(self._file, f"{changed_at:.3f}")
