"""The agent's notes for later sessions."""

from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Diff, EventContext

MemoryStoreName = Literal["memory", "user", "workspace"]


class MemoryChange(Struct, frozen=True):
    """One change of the agent's notes; `old_text` is a part of the one note it replaces or removes.

    `meant` is the whole of that note as it was shown; empty accepts whatever it says by then.
    """

    store: MemoryStoreName
    action: Literal["add", "replace", "remove"]
    text: str = ""
    old_text: str = ""
    meant: str = ""


class MemoryPreview(Struct, frozen=True):
    """What a change would make of the notes, and that change, bound to the note that was shown."""

    change: MemoryChange
    diff: Diff


class MemoryState(Struct, frozen=True):
    """The notes of one store, their length, its limit, and the difference a change made."""

    store: MemoryStoreName
    entries: tuple[str, ...]
    characters: int
    max_characters: int
    diff: Diff | None = None


class MemoryNotes(Protocol):
    """The agent's notes for later sessions, by the folder it works in."""

    async def preview(self, cwd: str, change: MemoryChange) -> MemoryPreview:
        """Show what a change would make of the notes. Raises BadRequest."""
        ...

    async def change(self, cwd: str, change: MemoryChange, moment: EventContext) -> MemoryState:
        """Make a change of the notes as they are now. Raises BadRequest, StorageError."""
        ...

    async def defer(self, cwd: str, change: MemoryChange, moment: EventContext) -> None:
        """Keep a change until a person decides, also in a later session. Raises BadRequest, StorageError."""
        ...
