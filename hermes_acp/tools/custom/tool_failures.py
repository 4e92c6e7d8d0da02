"""Count how often a tool failed in a row, and disable it after too many failures."""

from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.storage.workspace_entries import WorkspaceEntries

MAX_CONSECUTIVE_FAILURES: Final = 3
KEPT_CHARACTERS: Final = 1_000


class ToolFailure(Struct, frozen=True):
    """What a tool of this content did last: it broke, so many times in a row."""

    name: str
    digest: str
    in_a_row: int
    error: str

    @property
    def is_disabled(self) -> bool:
        """Whether it is not used any more until it is changed or its user allows it again."""
        return self.in_a_row >= MAX_CONSECUTIVE_FAILURES


class ToolFailureLog:
    """The mishaps of all tools of one home. It blocks on the disk."""

    def __init__(self, home: Path) -> None:
        self._book = WorkspaceEntries(home / "tool-mishaps.json", ToolFailure)

    def of(self, folder: Path, name: str, digest: str) -> ToolFailure | None:
        """Return what is known of a tool as it is now."""
        found = (each for each in self._book.of(str(folder)) if each.name == name)
        return next((each for each in found if each.digest == digest), None)

    def note(self, folder: Path, name: str, digest: str, error: str) -> ToolFailure:
        """Take down that a tool broke. Raises StorageError."""
        before = self.of(folder, name, digest)
        tool_failure = ToolFailure(
            name, digest, before.in_a_row + 1 if before else 1, error[-KEPT_CHARACTERS:]
        )
        self._book.change(
            str(folder), lambda kept: (*(each for each in kept if each.name != name), tool_failure)
        )
        return tool_failure

    def forget(self, folder: Path, name: str) -> None:
        """Let a tool begin anew. Raises StorageError."""
        if any(each.name == name for each in self._book.of(str(folder))):
            self._book.change(str(folder), lambda kept: (each for each in kept if each.name != name))
