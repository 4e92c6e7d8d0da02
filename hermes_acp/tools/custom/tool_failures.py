"""Count the consecutive failures of each tool, and disable a tool after too many of them."""

from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.storage.workspace_entries import WorkspaceEntries

MAX_CONSECUTIVE_FAILURES: Final = 3
KEPT_CHARACTERS: Final = 1_000


class ToolFailure(Struct, frozen=True):
    """The consecutive failures of a tool with its current content."""

    name: str
    digest: str
    in_a_row: int
    error: str

    @property
    def is_disabled(self) -> bool:
        """Whether the tool is disabled until it is changed or the user allows it again."""
        return self.in_a_row >= MAX_CONSECUTIVE_FAILURES


class ToolFailureLog:
    """The failures of all tools in one home directory. Blocks on disk access."""

    def __init__(self, home: Path) -> None:
        self._book = WorkspaceEntries(home / "tool-mishaps.json", ToolFailure)

    def of(self, folder: Path, name: str, digest: str) -> ToolFailure | None:
        """Return the recorded failures of a tool's current content."""
        found = (each for each in self._book.of(str(folder)) if each.name == name)
        return next((each for each in found if each.digest == digest), None)

    def note(self, folder: Path, name: str, digest: str, error: str) -> ToolFailure:
        """Record a tool failure. Raises StorageError."""
        before = self.of(folder, name, digest)
        tool_failure = ToolFailure(
            name, digest, before.in_a_row + 1 if before else 1, error[-KEPT_CHARACTERS:]
        )
        self._book.change(
            str(folder), lambda kept: (*(each for each in kept if each.name != name), tool_failure)
        )
        return tool_failure

    def forget(self, folder: Path, name: str) -> None:
        """Clear the failures of a tool. Raises StorageError."""
        if any(each.name == name for each in self._book.of(str(folder))):
            self._book.change(str(folder), lambda kept: (each for each in kept if each.name != name))
