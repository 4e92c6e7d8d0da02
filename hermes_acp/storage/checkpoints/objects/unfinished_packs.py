"""Remove packs that a killed git process left unfinished in a shadow, because git itself keeps them for hours."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

LOCK: Final = "packing"
"""The file that is locked while garbage collection writes packs, which happens without the index lock."""
PREFIXES: Final = ("tmp_pack_", "tmp_idx_", "tmp_rev_", ".tmp-")


@contextmanager
def packing(place: Path) -> Generator[int]:
    """Protect the packs being written from removal, and yield the lock's descriptor. Raises OSError."""
    descriptor = os.open(place / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield descriptor
    finally:
        os.close(descriptor)


def remove_unfinished_packs(place: Path) -> None:
    """Remove unfinished packs unless garbage collection is running. The caller holds the lock of the shadow's index."""
    with suppress(OSError):
        names = [name for name in os.listdir(place / "objects" / "pack") if name.startswith(PREFIXES)]
        if not names:
            return
        descriptor = os.open(place / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for name in names:
                (place / "objects" / "pack" / name).unlink(missing_ok=True)
        finally:
            os.close(descriptor)
