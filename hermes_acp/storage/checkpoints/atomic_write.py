"""Write small files atomically, without waiting for the disk.

Readers see either the old bytes or the new ones, even if this process is killed. A power failure may lose the
last write: a checkpoint is a convenience that no conversation waits for.
"""

import os
from contextlib import suppress
from pathlib import Path

from hermes_acp.core.ports.checkpoint_ports import CheckpointError
from hermes_acp.storage.private_files import storage_error


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file and make it readable only by its owner. Raises OSError."""
    draft = path.parent / f".draft-{os.urandom(8).hex()}"
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def checkpoint_io_error(path: Path, error: OSError) -> CheckpointError:
    """Convert an OSError from a checkpoint operation."""
    told = storage_error("keep a checkpoint in", path, error)
    return CheckpointError(told.message, hint=told.hint)
