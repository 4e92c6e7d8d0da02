"""A layout that keeps its entries in a view instead of returning text to write."""

from collections.abc import Callable

from rich.console import RenderableType
from rich.text import Text

from hermes_acp.frontends.chat.full_screen.view_entries import LEAVE, RETURN, ViewEntry
from hermes_acp.frontends.chat.rendering.text_rendering import TextRenderer
from hermes_acp.frontends.chat.rendering.transcript_layout import EntryKind, TranscriptLayout

CONTINUATION, CHOICES = "continuation", "choices"


class RetainedLayout(TranscriptLayout):
    """Passes each entry to `keep`; the methods return empty strings."""

    def __init__(self, renderer: TextRenderer, keep: Callable[[ViewEntry], None]) -> None:
        super().__init__(renderer)
        self._keep = keep

    def entry(self, kind: EntryKind, *parts: RenderableType) -> str:
        """Keep an entry."""
        self._keep(ViewEntry(kind, tuple(parts)))
        return ""

    def foldable(self, kind: EntryKind, summary: RenderableType, whole: Callable[[], RenderableType]) -> str:
        """Keep an entry that can be unfolded."""
        self._keep(ViewEntry(kind, (summary,), whole))
        return ""

    def continuation(self, *parts: RenderableType) -> str:
        """Keep a continuation of the last entry."""
        self._keep(ViewEntry(CONTINUATION, tuple(parts)))
        return ""

    def choices(self, *parts: RenderableType) -> str:
        """Keep the choices of a question, which stay in view while its text scrolls."""
        self._keep(ViewEntry(CHOICES, tuple(parts)))
        return ""

    def change_session(self, *, is_undone: bool = False) -> str:
        """Clear the view or, if `is_undone`, show the previous view again."""
        self._keep(ViewEntry(RETURN if is_undone else LEAVE, ()))
        return ""

    def written(self, text: str) -> None:
        """Keep text with escape codes that was rendered elsewhere."""
        self._keep(ViewEntry("remark", (Text.from_ansi(text.rstrip("\n")),)))
