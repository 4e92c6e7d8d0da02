"""How often a tool broke in a row, and when it is put aside.

Knows: that only one content of a file has a past, and a success ends it. Does not know: what broke.
"""

from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.storage.workspace_book import WorkspaceBook

MOST_IN_A_ROW: Final = 3
KEPT_CHARACTERS: Final = 1_000


class Mishap(Struct, frozen=True):
    """What a tool of this content did last: it broke, so many times in a row."""

    name: str
    digest: str
    in_a_row: int
    error: str

    @property
    def is_put_aside(self) -> bool:
        """Whether it is not used any more until it is changed or its user allows it again."""
        return self.in_a_row >= MOST_IN_A_ROW


class Mishaps:
    """The mishaps of all tools of one home. It blocks on the disk."""

    def __init__(self, home: Path) -> None:
        self._book = WorkspaceBook(home / "tool-mishaps.json", Mishap)

    def of(self, folder: Path, name: str, digest: str) -> Mishap | None:
        """Give what is known of a tool as it is now."""
        found = (each for each in self._book.of(str(folder)) if each.name == name)
        return next((each for each in found if each.digest == digest), None)

    def note(self, folder: Path, name: str, digest: str, error: str) -> Mishap:
        """Take down that a tool broke. Raises StorageTrouble."""
        before = self.of(folder, name, digest)
        mishap = Mishap(name, digest, before.in_a_row + 1 if before else 1, error[-KEPT_CHARACTERS:])
        self._book.change(str(folder), lambda kept: (*(each for each in kept if each.name != name), mishap))
        return mishap

    def forget(self, folder: Path, name: str) -> None:
        """Let a tool begin anew. Raises StorageTrouble."""
        if any(each.name == name for each in self._book.of(str(folder))):
            self._book.change(str(folder), lambda kept: (each for each in kept if each.name != name))
