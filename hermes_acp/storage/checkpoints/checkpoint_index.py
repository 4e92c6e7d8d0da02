"""The list of checkpoints: a small file for each checkpoint, in one folder per session.

A file is written after its trees are referenced and deleted before those references are, so a killed process
leaves at most unused references.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from hermes_acp.core.ports.checkpoint_ports import CheckpointError
from hermes_acp.storage.checkpoints.atomic_write import write_atomically
from hermes_acp.storage.checkpoints.git_trees import FileState, parents_of
from hermes_acp.storage.private_files import private_folder, storage_error

SIMPLE_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")


class FolderSnapshot(Struct):
    """A folder in a checkpoint: its trees in the shadow `shadow`; `after` is empty while the turn runs.

    `modes_before` holds the unusual permission bits of the changed files; `folders_before` and `folders_after` hold
    those of folders. `files_before` is None if the whole folder was stored. Otherwise it holds the states of the files
    that were to change, `modes_before` holds all their permission bits, and the other fields describe only these files.
    """

    root: str
    shadow: str
    before: str
    after: str = ""
    empty_before: tuple[bytes, ...] = ()
    empty_after: tuple[bytes, ...] = ()
    left_before: tuple[bytes, ...] = ()
    left_after: tuple[bytes, ...] = ()
    modes_before: tuple[tuple[bytes, int], ...] = ()
    folders_before: tuple[tuple[bytes, int], ...] = ()
    folders_after: tuple[tuple[bytes, int], ...] = ()
    files_before: tuple[tuple[bytes, FileState | None], ...] | None = None

    @property
    def folders(self) -> frozenset[bytes] | None:
        """The folders that the snapshot covers, or None for all of them."""
        if self.files_before is None:
            return None
        above = frozenset(folder for path, _ in self.files_before for folder in parents_of(path))
        modes = (folder for folder, _ in (*self.folders_before, *self.folders_after))
        return above.union(self.empty_before, self.empty_after, modes)

    @property
    def has_changed(self) -> bool:
        """Whether anything differs between the states before and after."""
        before = (self.before, self.empty_before, self.folders_before)
        return before != (self.after, self.empty_after, self.folders_after)


class CheckpointRecord(Struct):
    """The stored record of a checkpoint; see `core.checkpoints.Checkpoint`."""

    id: str
    session_id: str
    turn_id: str
    created_at: float
    title: str
    kind: Literal["turn", "undo", "redo"]
    places: list[FolderSnapshot]
    undoes: tuple[str, ...] = ()
    undone_by: str = ""

    @property
    def is_torn(self) -> bool:
        """Whether the state after the change is missing."""
        return any(not place.after for place in self.places)


class CheckpointIndex:
    """The checkpoint records of a home folder. Methods raise CheckpointError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _of(self, session_id: str) -> Path:
        if SIMPLE_NAME.fullmatch(session_id):
            return self.folder / session_id
        return self.folder / hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()

    def _path(self, note: CheckpointRecord) -> Path:
        return self._of(note.session_id) / f"{int(note.created_at * 1000):015}-{note.id}.json"

    def write(self, note: CheckpointRecord) -> None:
        """Write a new or changed record."""
        path = self._path(note)
        try:
            private_folder(path.parent)
            write_atomically(path, msgspec.json.encode(note))
        except OSError as error:
            told = storage_error("write", path, error)
            raise CheckpointError(told.message, hint=told.hint) from error

    def delete(self, note: CheckpointRecord) -> None:
        """Delete a record."""
        path = self._path(note)
        with suppress(OSError):
            path.unlink(missing_ok=True)
            os.rmdir(path.parent)

    def of_session(self, session_id: str) -> list[CheckpointRecord]:
        """Return a session's records, oldest first."""
        return list(_read(self._of(session_id)))

    def newest_session(self, folder: str) -> str:
        """Return the session of the newest checkpoint in a folder or one of its parents, or an empty string."""
        for note in reversed(self.all()):
            if any(f"{folder}/".startswith(place.root.rstrip("/") + "/") for place in note.places):
                return note.session_id
        return ""

    def all(self) -> list[CheckpointRecord]:
        """Return the records of all sessions, oldest first."""
        folders = sorted(self.folder.iterdir()) if self.folder.is_dir() else []
        notes = [note for folder in folders for note in _read(folder)]
        return sorted(notes, key=lambda note: note.created_at)


def _read(folder: Path) -> Iterator[CheckpointRecord]:
    """Read a folder's records; damaged ones are skipped."""
    if not folder.is_dir():
        return
    for path in sorted(folder.glob("*.json")):
        with suppress(OSError, msgspec.MsgspecError):
            yield msgspec.json.decode(path.read_bytes(), type=CheckpointRecord)
