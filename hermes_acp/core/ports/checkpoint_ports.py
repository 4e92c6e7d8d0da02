"""What the files of a workspace were before and after a turn: values, and the seam behind which it is kept.

Knows: checkpoints, what changed between two of them, what came of restoring one. Does not know: how anything is kept,
or who asks for it.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError


class CheckpointError(WorkspaceError):
    """What a turn changes cannot be kept, or what was kept cannot be had; the work itself goes on."""

    code = "checkpoint_trouble"


class FileChange(Struct, frozen=True):
    """One file (absolute) that differs between two states; `old_path` is where a renamed one was."""

    path: str
    change: Literal["added", "modified", "deleted", "renamed"]
    old_path: str = ""


class Checkpoint(Struct, frozen=True):
    """What one turn changed, or an undo: then `undoes` names the checkpoints whose changes it took back.

    `is_torn`: its process ended before the state after the turn was kept. `left_out` are files that are in it by name
    alone, such as those too large. `undone_by` is the checkpoint that took this one back, empty for one that holds.
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
    """That there is a checkpoint, without what it changed."""

    id: str
    turn_id: str
    created_at: float
    kind: Literal["turn", "undo"]


class FileTexts(Struct, frozen=True):
    """A file (absolute) before and after, None where it was not there; `is_binary` where either is no text."""

    path: str
    old_text: str | None = None
    new_text: str | None = None
    is_binary: bool = False


class UndoConflict(Struct, frozen=True):
    """A file (absolute) that was left alone, and why, in a few words."""

    path: str
    why: str


class RestoreResult(Struct, frozen=True):
    """What came of it: the files put back, those in the way, and the checkpoint that undoes it (empty for none).

    `taken_back` are the checkpoints whose changes were meant, the newest first.
    """

    restored: tuple[str, ...] = ()
    conflicts: tuple[UndoConflict, ...] = ()
    checkpoint_id: str = ""
    taken_back: tuple[Checkpoint, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether nothing was done, as something was in the way."""
        return bool(self.conflicts) and not self.restored

    @property
    def turns(self) -> tuple[Checkpoint, ...]:
        """What was taken back of turns."""
        return tuple(each for each in self.taken_back if each.kind == "turn")


class CheckpointContext(Struct, frozen=True):
    """When a checkpoint is taken: in which turn of which session, of which folders (absolute), under which title."""

    session_id: str
    turn_id: str
    title: str
    roots: tuple[str, ...]


class Checkpoints(Protocol):
    """Where the states of workspaces are kept. Every method raises CheckpointError."""

    def expect(self, roots: Sequence[str]) -> None:
        """Get ready for a checkpoint of these folders soon; costs nothing now."""
        ...

    async def open(self, occasion: CheckpointContext, touched: Sequence[str]) -> str:
        """Keep the state before a turn's first change and give the checkpoint's id.

        `touched` are files (absolute) that will change, and are kept even where ignore files name them.
        """
        ...

    async def add(self, checkpoint_id: str, touched: Sequence[str]) -> None:
        """Keep further files that are about to change, where the open checkpoint does not hold them yet."""
        ...

    async def close(self, checkpoint_id: str, touched: Sequence[str]) -> tuple[FileChange, ...]:
        """Keep the state after the turn and give what it changed; a turn that changed nothing leaves no checkpoint."""
        ...
