"""Small files written whole, without waiting for the disk.

Knows: that a reader, or a process that is killed, sees the old bytes or the new ones, and how trouble with the disk is
told. Does not know: what they say.
A power cut may cost the last of them: a checkpoint is a convenience that no conversation waits for.
"""

import os
from contextlib import suppress
from pathlib import Path

from hermes_acp.core.checkpoints import CheckpointTrouble
from hermes_acp.storage.files import storage_trouble


def write_slip(path: Path, content: bytes) -> None:
    """Replace a file, readable by its owner alone. Raises OSError."""
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


def disk_trouble(path: Path, error: OSError) -> CheckpointTrouble:
    """Tell of trouble with the disk."""
    told = storage_trouble("keep a checkpoint in", path, error)
    return CheckpointTrouble(told.message, hint=told.hint)
