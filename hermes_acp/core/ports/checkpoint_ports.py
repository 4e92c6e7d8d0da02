"""Checkpoints: the state of a workspace's files before and after a turn."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError


class CheckpointError(WorkspaceError):
    """The changes of a turn cannot be stored, or stored ones cannot be read. The turn itself continues."""

    code = "checkpoint_trouble"


class FileChange(Struct, frozen=True):
    """A file (absolute path) that differs between two states; `old_path` is the former path of a renamed file."""

    path: str
    change: Literal["added", "modified", "deleted", "renamed"]
    old_path: str = ""


class Checkpoint(Struct, frozen=True):
    """The changes made by one turn or by one undo; an undo lists the checkpoints it reverted in `undoes`.

    `is_torn` means that the process ended before the state after the turn was stored. `left_out` lists files whose
    content is not stored, such as files that are too large. `undone_by` is the checkpoint that reverted this one, or
    empty.
    """

    id: str
    session_id: str
    turn_id: str
    created_at: float
    title: str
    kind: Literal["turn", "undo"] = "turn"
    files: tuple[FileChange, ...] = ()
    left_out: tuple[str, ...] = ()
    undoes: tuple[str, ...] = ()
    undone_by: str = ""
    is_torn: bool = False


class CheckpointEntry(Struct, frozen=True):
    """A checkpoint in a list, without its changes."""

    id: str
    turn_id: str
    created_at: float
    kind: Literal["turn", "undo"]


class FileTexts(Struct, frozen=True):
    """A file's text (absolute path) before and after, None if it did not exist; `is_binary` if either is not text."""

    path: str
    old_text: str | None = None
    new_text: str | None = None
    is_binary: bool = False


class UndoConflict(Struct, frozen=True):
    """A file (absolute path) that was left unchanged, with a short reason."""

    path: str
    why: str


class RestoreResult(Struct, frozen=True):
    """The result of a restore: the restored files, the conflicts, and the checkpoint that undoes it (or empty).

    `taken_back` lists the checkpoints to be reverted, the newest first.
    """

    restored: tuple[str, ...] = ()
    conflicts: tuple[UndoConflict, ...] = ()
    checkpoint_id: str = ""
    taken_back: tuple[Checkpoint, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether a conflict prevented the entire restore."""
        return bool(self.conflicts) and not self.restored

    @property
    def turns(self) -> tuple[Checkpoint, ...]:
        """The reverted checkpoints that belong to turns."""
        return tuple(each for each in self.taken_back if each.kind == "turn")


class CheckpointContext(Struct, frozen=True):
    """The turn, session, folders (absolute paths) and title of a checkpoint."""

    session_id: str
    turn_id: str
    title: str
    roots: tuple[str, ...]


class Checkpoints(Protocol):
    """The store of checkpoints. Every method raises CheckpointError."""

    def expect(self, roots: Sequence[str]) -> None:
        """Prepare for an upcoming checkpoint of these folders; returns at once."""
        ...

    async def open(
        self, occasion: CheckpointContext, touched: Sequence[str], *, is_whole: bool = True
    ) -> str:
        """Store the state before a turn's first change, and return the checkpoint's ID.

        `touched` lists files (absolute paths) that will change; they are stored even if ignore files match them. If
        nothing else will change, `is_whole` is false and only these files are stored.
        """
        ...

    async def add(self, checkpoint_id: str, touched: Sequence[str], *, is_whole: bool = False) -> None:
        """Store more files that are about to change, unless the open checkpoint already contains them.

        With `is_whole`, anything else may change as well, so the whole folders are stored.
        """
        ...

    async def close(self, checkpoint_id: str, touched: Sequence[str]) -> tuple[FileChange, ...]:
        """Store the state after the turn and return its changes; a checkpoint without changes is removed."""
        ...
