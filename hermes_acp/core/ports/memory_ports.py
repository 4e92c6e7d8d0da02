"""The port for the agent's notes for later sessions."""

from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Diff, EventContext

MemoryStoreName = Literal["memory", "user", "workspace"]
NoteSource = Literal["", "written", "said", "approved", "found"]
"""Where a note came from: the user wrote it, said it in the session, or approved it later; or the agent found it
elsewhere. Empty if unknown.
"""


class MemoryChange(Struct, frozen=True):
    """A change to the agent's notes; `old_text` is a part of the one note to be replaced or removed.

    `meant` is the whole text of that note as it was shown; if empty, the note may have changed since. `source` says
    where the new text came from.
    """

    store: MemoryStoreName
    action: Literal["add", "replace", "remove"]
    text: str = ""
    old_text: str = ""
    meant: str = ""
    source: NoteSource = ""


class MemoryPreview(Struct, frozen=True):
    """A preview of the notes after a change, and the change itself, bound to the note that was shown.

    `related` lists other notes in the store about the same subject, which the new note may contradict.
    """

    change: MemoryChange
    diff: Diff
    related: tuple[str, ...] = ()


class MemoryState(Struct, frozen=True):
    """The notes in one store, their length and limit, and the difference that a change made."""

    store: MemoryStoreName
    entries: tuple[str, ...]
    characters: int
    max_characters: int
    diff: Diff | None = None


class MemoryNotes(Protocol):
    """The agent's notes for later sessions, looked up by working directory."""

    async def preview(self, cwd: str, change: MemoryChange) -> MemoryPreview:
        """Preview a change to the notes. Raises BadRequest."""
        ...

    async def change(self, cwd: str, change: MemoryChange, moment: EventContext) -> MemoryState:
        """Apply a change to the current notes. Raises BadRequest or StorageError."""
        ...

    async def defer(self, cwd: str, change: MemoryChange, moment: EventContext) -> None:
        """Store a change for a person to decide on, possibly in a later session. Raises BadRequest or StorageError."""
        ...
