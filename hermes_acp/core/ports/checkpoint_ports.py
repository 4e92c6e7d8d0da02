"""Checkpoints: the files of a workspace before and after a turn."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError


class CheckpointError(WorkspaceError):
    """The changes of a turn cannot be stored, or stored ones cannot be read. The turn itself continues."""

    code = "checkpoint_trouble"


class FileChange(Struct, frozen=True):
    """One file (absolute) that differs between two states; `old_path` is where a renamed one was."""

    path: str
    change: Literal["added", "modified", "deleted", "renamed"]
    old_path: str = ""


class Checkpoint(Struct, frozen=True):
    """What one turn changed, or an undo: then `undoes` names the checkpoints whose changes it reverted.

    `is_torn`: its process ended before the state after the turn was kept. `left_out` are files that it only names,
    such as those too large. `undone_by` is the checkpoint that reverted this one, empty for none.
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
    """A checkpoint in a list, without what it changed."""

    id: str
    turn_id: str
    created_at: float
    kind: Literal["turn", "undo"]


class FileTexts(Struct, frozen=True):
    """A file (absolute) before and after, None where it did not exist; `is_binary` where either is no text."""

    path: str
    old_text: str | None = None
    new_text: str | None = None
    is_binary: bool = False


class UndoConflict(Struct, frozen=True):
    """A file (absolute) that was left alone, and why, in a few words."""

    path: str
    why: str


class RestoreResult(Struct, frozen=True):
    """The result of a restore: the files restored, the conflicts, and the checkpoint that undoes it (empty for none).

    `taken_back` are the checkpoints whose changes were to be reverted, the newest first.
    """

    restored: tuple[str, ...] = ()
    conflicts: tuple[UndoConflict, ...] = ()
    checkpoint_id: str = ""
    taken_back: tuple[Checkpoint, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether nothing was done because of a conflict."""
        return bool(self.conflicts) and not self.restored

    @property
    def turns(self) -> tuple[Checkpoint, ...]:
        """The reverted checkpoints that were turns."""
        return tuple(each for each in self.taken_back if each.kind == "turn")


class CheckpointContext(Struct, frozen=True):
    """The turn, session and folders (absolute) of a checkpoint, and its title."""

    session_id: str
    turn_id: str
    title: str
    roots: tuple[str, ...]


class Checkpoints(Protocol):
    """The store of checkpoints. Every method raises CheckpointError."""

    def expect(self, roots: Sequence[str]) -> None:
        """Prepare for a checkpoint of these folders soon; returns at once."""
        ...

    async def open(self, occasion: CheckpointContext, touched: Sequence[str]) -> str:
        """Keep the state before a turn's first change and return the checkpoint's ID.

        `touched` are files (absolute) that will change; they are kept even where ignore files name them.
        """
        ...

    async def add(self, checkpoint_id: str, touched: Sequence[str]) -> None:
        """Keep further files that are about to change, where the open checkpoint does not hold them yet."""
        ...

    async def close(self, checkpoint_id: str, touched: Sequence[str]) -> tuple[FileChange, ...]:
        """Keep the state after the turn and return its changes; without changes no checkpoint is left."""
        ...
