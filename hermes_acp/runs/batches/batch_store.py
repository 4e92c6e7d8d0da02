"""The batches of a home folder: their files, the digests of their lines, and their locks."""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadRequest, Busy, StorageError
from hermes_acp.runs.batches.batch_budget import BatchBudget
from hermes_acp.storage.private_files import (
    private_folder,
    storage_error,
    take_lock,
    unlock_and_close,
    write_private_text,
)

BATCH_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
MAX_STEM: Final = 30
ORIGIN: Final = "batch:"
LIST_THEM: Final = "List the batches: hermes-acp batch status"


class Batch(Struct, frozen=True):
    """A batch: its files, the digests of its lines by ID, and its budget.

    `created_at` is in seconds since the epoch.
    """

    id: str
    prompts: str
    results: str
    created_at: float
    lines: Mapping[str, str] = {}
    budget: BatchBudget = BatchBudget()

    @property
    def origin(self) -> str:
        """The origin of the runs of this batch."""
        return f"{ORIGIN}{self.id}"

    def run_id(self, line_id: str, attempt: int) -> str:
        """Return the run ID for an attempt at a line, which ensures that an attempt is started only once."""
        return f"{self.id}:{line_id}:{attempt}"


def default_batch_id(prompts: Path) -> str:
    """Return the batch ID for a prompts file: its name and a digest of its path."""
    stem = re.sub(r"[^A-Za-z0-9_.-]", "-", prompts.stem).lstrip("_.-")[:MAX_STEM]
    return f"{stem or 'batch'}-{sha256(str(prompts.absolute()).encode()).hexdigest()[:6]}"


class BatchStore:
    """The batches of one home folder. Its methods block."""

    def __init__(self, home: Path) -> None:
        """Store the path; nothing is created yet."""
        self._folder = home / "runs" / "batches"

    def find(self, named: str) -> Batch:
        """Return a batch by its ID or its prompts file. Raises BadRequest or StorageError."""
        for batch_id in (named, default_batch_id(Path(named))):
            if BATCH_ID.fullmatch(batch_id) and (batch := self.load(batch_id)):
                return batch
        raise BadRequest(f"There is no batch {named!r}.", hint=LIST_THEM)

    def load(self, batch_id: str) -> Batch | None:
        """Return the batch with an ID, or None if there is none. Raises StorageError."""
        path = self._path(batch_id, ".json")
        try:
            return msgspec.json.decode(path.read_bytes(), type=Batch)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise storage_error("read the batch", path, error) from error
        except msgspec.DecodeError as error:
            raise StorageError(f"The batch {path} is damaged: {error}.", hint="Remove the file.") from error

    def save(self, batch: Batch) -> None:
        """Store a batch. Raises StorageError."""
        write_private_text(self._path(batch.id, ".json"), msgspec.json.encode(batch).decode())

    def list(self) -> Sequence[Batch]:
        """Return all batches, newest first. Raises StorageError."""
        found = (self.load(path.stem) for path in self._folder.glob("*.json"))
        return sorted((each for each in found if each), key=lambda batch: -batch.created_at)

    def lock(self, batch_id: str) -> int:
        """Lock a batch for this process, and return the descriptor. Raises Busy or StorageError."""
        private_folder(self._folder)
        path = self._path(batch_id, ".lock")
        try:
            return take_lock(path)
        except Busy as error:
            hint = f"Watch it: hermes-acp batch status {batch_id}. Stop it: hermes-acp batch stop {batch_id}"
            raise Busy(f"Another process works on the batch {batch_id!r}.", hint=hint) from error
        except OSError as error:
            raise storage_error("lock the batch", path, error) from error

    def is_locked(self, batch_id: str) -> bool:
        """Return whether any process is running a batch."""
        if not self._path(batch_id, ".lock").exists():
            return False
        try:
            unlock_and_close(self.lock(batch_id))
        except Busy:
            return True
        return False

    def ask_to_stop(self, batch_id: str, *, is_asked: bool = True) -> None:
        """Record whether the batch should stop starting lines. Raises StorageError."""
        path = self._path(batch_id, ".stop")
        if is_asked:
            write_private_text(path, "")
        else:
            path.unlink(missing_ok=True)

    def must_stop(self, batch_id: str) -> bool:
        """Return whether no more lines may be started."""
        return self._path(batch_id, ".stop").exists()

    def _path(self, batch_id: str, ending: str) -> Path:
        return self._folder / f"{batch_id}{ending}"
