"""References that protect the trees of a shadow from garbage collection, named after their checkpoints."""

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from hermes_acp.storage.checkpoints.atomic_write import checkpoint_io_error, write_atomically
from hermes_acp.storage.private_files import private_folder

Side = Literal["before", "after"]


class GcRefs:
    """The references of the shadow at a path."""

    def __init__(self, place: Path) -> None:
        self._folder = place / "refs" / "turns"

    def add_ref(self, checkpoint_id: str, side: Side, tree: str) -> None:
        """Protect the tree of one side of a checkpoint. Raises CheckpointError."""
        path = self._folder / checkpoint_id / side
        try:
            private_folder(path.parent)
            write_atomically(path, f"{tree}\n".encode("ascii"))
        except OSError as error:
            raise checkpoint_io_error(path, error) from error

    def remove_refs(self, checkpoint_id: str) -> None:
        """Remove every reference of a checkpoint."""
        shutil.rmtree(self._folder / checkpoint_id, ignore_errors=True)

    def has_ref(self, checkpoint_id: str, side: Side) -> bool:
        """Return whether the tree of one side of a checkpoint is referenced."""
        return (self._folder / checkpoint_id / side).is_file()

    def remove_stray_refs(self, known: Collection[str], youth_s: float) -> None:
        """Remove references without a record, except recent ones, whose record may be about to be written."""
        if not self._folder.is_dir():
            return
        pinned_at = {path: path.stat().st_mtime for path in self._folder.iterdir()}
        youngest = max(pinned_at.values(), default=0.0)
        for path, at in pinned_at.items():
            if path.name not in known and youngest - at > youth_s:
                shutil.rmtree(path, ignore_errors=True)
