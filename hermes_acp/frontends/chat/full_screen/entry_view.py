"""A scrolling list of entries with a cursor. Entries can be folded, and their text can be copied."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from hermes_acp.frontends.chat.full_screen.view_entries import LEAVE, RETURN, EntryLines, ViewEntry
from hermes_acp.frontends.chat.rendering.text_rendering import TerminalStyle, TextRenderer

CURSOR = Segment("▌", Style(color="cyan", bold=True))
NO_CURSOR = Segment(" ")
SELECTED = Style(reverse=True)
SIDE_COLUMNS = 3
"""One column for the cursor, and two for the scrollbar."""


class EntryView(ScrollView, can_focus=True):
    """Draws entries. With `follows_end`, the end stays in view unless the person scrolls up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("home", "ends(0)", show=False),
        Binding("end", "ends(1)", show=False),
        Binding("enter", "choose", show=False),
    ]

    class Chosen(Message):
        """Sent when Enter is pressed or the entry under the cursor is clicked."""

        def __init__(self, view: "EntryView", entry: ViewEntry) -> None:
            super().__init__()
            self.view = view
            self.entry = entry

        @property
        def control(self) -> "EntryView":
            """The view that sent the message."""
            return self.view

    def __init__(self, style: TerminalStyle, *, widget_id: str, follows_end: bool = False) -> None:
        super().__init__(id=widget_id)
        self._renderer = TextRenderer(style, lambda: self._columns)
        self._columns = 80
        self._follows_end = follows_end
        self._lines = EntryLines(lambda parts: self._renderer.segments(*parts))
        self._waiting: list[ViewEntry] = []
        self._cursor = -1
        self._has_live = False
        self._left: EntryLines | None = None
        self._is_at_end = True

    @property
    def chosen(self) -> ViewEntry | None:
        """The entry under the cursor, or None."""
        return self._lines.entry(self._cursor)

    def append(self, entry: ViewEntry) -> None:
        """Add an entry; `flush` shows it. May be called by any task."""
        self._waiting.append(entry)

    def flush(self, live: Sequence[RenderableType] = ()) -> None:
        """Show the appended entries, and the live part below them."""
        if not (self._waiting or live or self._has_live) or not self.size.width:
            return
        if self._has_live:
            self._lines.pop()
        for entry in self._waiting:
            if entry.kind == LEAVE:
                self._left, self._lines = self._lines, EntryLines(self._lines.render)
                self._cursor, self._is_at_end = -1, True
            elif entry.kind == RETURN:
                self._lines = self._left or self._lines
            else:
                self._lines.add(entry)
        self._waiting.clear()
        self._has_live = bool(live)
        if live:
            self._lines.add(ViewEntry("live", tuple(live)))
        self._measure()

    def show(self, entries: Iterable[ViewEntry]) -> None:
        """Show other entries; the cursor stays on the entry with the same key."""
        key = self.chosen.key if self.chosen else ""
        self._has_live = False
        self._lines.replace(entries)
        keys = {
            entry.key: n for n in range(len(self._lines)) if (entry := self._lines.entry(n)) and entry.key
        }
        _, near = min(((abs(number - self._cursor), number) for number in keys.values()), default=(0, -1))
        self._cursor = keys.get(key, near)
        self._measure()

    def toggle(self) -> None:
        """Fold or unfold the entry under the cursor or, without focus, the last foldable one."""
        index = self._cursor
        if not self.has_focus:
            numbers = reversed(range(len(self._lines)))
            index = next((n for n in numbers if (each := self._lines.entry(n)) and each.whole), -1)
        entry = self._lines.entry(index)
        if entry is None or entry.whole is None:
            return
        entry.is_open = not entry.is_open
        self._lines.render_again(index)
        self._follow(index)
        self._measure()

    def action_move(self, by: int) -> None:
        """Move the cursor; scroll through a long entry first."""
        if not len(self._lines):
            return
        if 0 <= self._cursor < len(self._lines) and self._scrolls_inside(by):
            return
        at = (len(self._lines) if self._cursor < 0 else self._cursor) + by
        while (entry := self._lines.entry(at)) and entry.kind == "heading":
            at += by
        if self._lines.entry(at) is None:
            return
        self._cursor = at
        self._follow(self._cursor)
        self.refresh()

    def action_ends(self, end: int) -> None:
        """Go to the first or the last entry."""
        self._cursor = len(self._lines) - 1 if end else min(0, len(self._lines) - 1)
        if end:
            self.scroll_end(animate=False)
        else:
            self.scroll_home(animate=False)
        self.refresh()

    def action_choose(self) -> None:
        """Send `Chosen` for the entry under the cursor."""
        if self.chosen is not None:
            self.post_message(self.Chosen(self, self.chosen))

    def render_line(self, y: int) -> Strip:
        """Render one line of the view."""
        line = self.scroll_offset.y + y
        strip = self._lines.line(line)
        if strip is None:
            return Strip.blank(self.size.width, self.rich_style)
        is_chosen = self.has_focus and self._lines.at(line) == self._cursor
        content = strip.apply_style(self.rich_style)
        if (selection := self.text_selection) and (span := selection.get_span(line)):
            content = _highlighted(content, *span)
        content = content.apply_offsets(0, line)
        return Strip.join([Strip([CURSOR if is_chosen else NO_CURSOR]), content]).crop_extend(
            0, self.size.width, self.rich_style
        )

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that is selected with the mouse."""
        lines = (self._lines.line(number) for number in range(self._lines.height))
        return selection.extract("\n".join(line.text if line else "" for line in lines)), "\n"

    def on_resize(self, event: Resize) -> None:
        """Render the entries for the new width."""
        columns = event.size.width - SIDE_COLUMNS
        if columns > 0 and columns != self._columns:
            self._columns = columns
            self._lines.render_again()
        self._measure()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Track whether the end is in view."""
        super().watch_scroll_y(old_value, new_value)
        self._is_at_end = round(new_value) >= self.max_scroll_y - 1

    def on_click(self, event: Click) -> None:
        """Move the cursor to the entry; a click on the entry under the cursor chooses it."""
        self._cursor = self._lines.at(self.scroll_offset.y + event.y)
        self.refresh()
        if event.chain == 2:
            self.action_choose()

    def on_focus(self) -> None:
        """Show the cursor."""
        if self._cursor < 0:
            self._cursor = len(self._lines) - 1 if self._follows_end else min(0, len(self._lines) - 1)
        self.refresh()

    def _scrolls_inside(self, by: int) -> bool:
        """Scroll by a line while the entry under the cursor continues outside the view; return whether it did."""
        top, end = self._lines.span(self._cursor)
        first = self.scroll_offset.y
        is_outside = end > first + self.size.height if by > 0 else top < first
        if is_outside:
            self.scroll_to(y=first + by, animate=False)
        return is_outside

    def _follow(self, index: int) -> None:
        """Scroll an entry into view; if it does not fit, its first line takes precedence."""
        top, end = self._lines.span(index)
        first, height = self.scroll_offset.y, self.size.height
        if top < first or end - top >= height:
            self.scroll_to(y=top, animate=False)
        elif end > first + height:
            self.scroll_to(y=end - height, animate=False)

    def _measure(self) -> None:
        self.virtual_size = Size(self.size.width, self._lines.height)
        if self._follows_end and self._is_at_end and not self.has_focus:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
        self.refresh()


def _highlighted(strip: Strip, start: int, end: int) -> Strip:
    """Mark the selected part of a line."""
    last = strip.cell_length if end == -1 else strip.index_to_cell_position(end)
    first = strip.index_to_cell_position(start)
    parts = [strip.crop(0, first), strip.crop(first, last).apply_style(SELECTED), strip.crop(last)]
    return Strip.join(parts)
