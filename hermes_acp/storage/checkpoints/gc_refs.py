"""References that protect the trees of a shadow from garbage collection, named after their checkpoints."""

import fcntl
import os
import shutil
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from hermes_acp.storage.checkpoints.atomic_write import checkpoint_io_error, write_atomically
from hermes_acp.storage.private_files import private_folder

Side = Literal["before", "after"]
RefName = Side | Literal["before-of-record", "after-of-record"]
USED: Final = "used"
"""The file that is locked while unreferenced objects are written. Its modification time is the last use."""


class GcRefs:
    """The references of the shadow at a path."""

    def __init__(self, place: Path) -> None:
        self._folder = place / "refs" / "turns"

    def add_ref(self, checkpoint_id: str, name: RefName, tree: str) -> None:
        """Protect a tree of a checkpoint. Raises CheckpointError."""
        path = self._folder / checkpoint_id / name
        try:
            private_folder(path.parent)
            write_atomically(path, f"{tree}\n".encode("ascii"))
        except OSError as error:
            raise checkpoint_io_error(path, error) from error

    def protect_also(self, checkpoint_id: str, side: Side, tree: str) -> None:
        """Protect a record's tree if its reference names another one, because a process was killed in between."""
        try:
            named = (
                (self._folder / checkpoint_id / side).read_text(encoding="ascii", errors="replace").strip()
            )
        except OSError:
            return
        if tree and named != tree:
            name: RefName = "before-of-record" if side == "before" else "after-of-record"
            self.add_ref(checkpoint_id, name, tree)

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


@contextmanager
def protect_new_objects(place: Path) -> Generator[None]:
    """Protect new objects of the shadow at a path from deletion until they are referenced."""
    try:
        descriptor = os.open(place / USED, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise checkpoint_io_error(place, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        os.utime(descriptor)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def exclude_object_writers(place: Path) -> Generator[None]:
    """Wait until no process has unreferenced new objects, and block further ones until the `with` block ends.

    Raises OSError.
    """
    descriptor = os.open(place / USED, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
