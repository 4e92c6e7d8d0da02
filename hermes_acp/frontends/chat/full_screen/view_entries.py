"""Lay out the entries of a scrolling view as lines."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from rich.console import RenderableType
from rich.segment import Segment
from textual.strip import Strip

MAX_ENTRIES: Final = 3_000
"""If a conversation has more entries, the oldest ones are dropped from the view; the session keeps them."""
RUNS: Final = frozenset({"call", "row", "hunk"})
"""Kinds of entries between which there is no blank line."""

Render = Callable[[Sequence[RenderableType]], list[list[Segment]]]
LEAVE, RETURN = "leave", "return"
"""Kinds of entries that are not displayed: the view is cleared, or the previous view is shown again."""


class ViewEntry(Struct):
    """An entry; `whole` is its long form, which is shown while `is_open` is set; `key` identifies its subject."""

    kind: str
    parts: tuple[RenderableType, ...]
    whole: Callable[[], RenderableType] | None = None
    is_open: bool = False
    key: str = ""


class PlacedEntry(Struct):
    """An entry, its lines, and the number of its first line."""

    entry: ViewEntry
    strips: list[Strip]
    top: int


class EntryLines:
    """The lines of a list of entries, rendered for one width."""

    def __init__(self, render: Render) -> None:
        self.render = render
        self._placed: list[PlacedEntry] = []
        self._tops: list[int] = []

    def __len__(self) -> int:
        return len(self._placed)

    @property
    def height(self) -> int:
        """The number of lines."""
        return self._placed[-1].top + len(self._placed[-1].strips) if self._placed else 0

    def entry(self, index: int) -> ViewEntry | None:
        """Return the entry at an index, or None."""
        return self._placed[index].entry if 0 <= index < len(self._placed) else None

    def span(self, index: int) -> tuple[int, int]:
        """Return the first line of an entry, and the line after its last one."""
        placed = self._placed[index]
        return placed.top, placed.top + len(placed.strips)

    def at(self, line: int) -> int:
        """Return the index of the entry that a line belongs to; a blank line belongs to the entry above."""
        return max(0, bisect_right(self._tops, line) - 1)

    def line(self, y: int) -> Strip | None:
        """Return one line, or None for a blank one."""
        if not self._placed:
            return None
        placed = self._placed[self.at(y)]
        offset = y - placed.top
        return placed.strips[offset] if 0 <= offset < len(placed.strips) else None

    def add(self, entry: ViewEntry) -> None:
        """Add an entry at the end."""
        self._place(entry, self._strips(entry))
        if len(self._placed) > MAX_ENTRIES:
            del self._placed[: MAX_ENTRIES // 4]
            self._move()

    def replace(self, entries: Iterable[ViewEntry]) -> None:
        """Show other entries."""
        self._placed.clear()
        self._tops.clear()
        for entry in entries:
            self._place(entry, self._strips(entry))

    def pop(self) -> None:
        """Remove the last entry."""
        self._placed.pop()
        self._tops.pop()

    def render_again(self, index: int | None = None) -> None:
        """Rerender one entry or, for a new width, all of them."""
        for number, placed in enumerate(self._placed):
            if index is None or number == index:
                placed.strips = self._strips(placed.entry)
        self._move()

    def _strips(self, entry: ViewEntry) -> list[Strip]:
        parts = (entry.whole(),) if entry.whole is not None and entry.is_open else entry.parts
        return [Strip(line) for line in self.render(parts)]

    def _place(self, entry: ViewEntry, strips: list[Strip]) -> None:
        gap = 0
        if self._placed:
            last = self._placed[-1].entry.kind
            gap = 0 if entry.kind == "continuation" or (entry.kind == last and last in RUNS) else 1
        self._placed.append(PlacedEntry(entry, strips, self.height + gap))
        self._tops.append(self._placed[-1].top)

    def _move(self) -> None:
        """Recompute the first line of each entry."""
        placed, self._placed, self._tops = self._placed, [], []
        for each in placed:
            self._place(each.entry, each.strips)
