"""The pane of current activity: the open question, calls, child agents, and queued prompts."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from hermes_acp.frontends.chat.full_screen import messages
from hermes_acp.frontends.chat.full_screen.entry_view import EntryView
from hermes_acp.frontends.chat.full_screen.view_entries import ViewEntry
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize_line
from hermes_acp.frontends.chat.rendering.text_rendering import TerminalStyle
from hermes_acp.frontends.chat.rendering.tool_call_cards import ToolCallCard

WIDTH: Final = 100


class Activity(Struct, frozen=True):
    """The current activity at one moment."""

    is_busy: bool
    asks: bool
    calls: Sequence[ToolCallCard]
    queue: Sequence[str]


class ActivityPane(Vertical):
    """Lists the activity; drawn again whenever something changes."""

    def __init__(
        self,
        style: TerminalStyle,
        look: Callable[[], Activity],
        clock: Callable[[], float],
        *,
        widget_id: str,
    ) -> None:
        super().__init__(id=widget_id)
        self._look = look
        self._clock = clock
        self._head = Static("", classes="pane-head", markup=False)
        self.view = EntryView(style, widget_id="activity-view")

    def compose(self) -> ComposeResult:
        """Create the child widgets."""
        yield self._head
        yield self.view

    async def activate(self) -> None:
        """Show the current activity."""
        self.draw()

    def focus_view(self) -> None:
        """Focus the list."""
        self.screen.set_focus(self.view)

    def draw(self) -> None:
        """Draw the current activity."""
        now = self._look()
        self._head.update(Text(messages.ACTIVITY_TITLE, style="bold"))
        rows = [Text(f"? {messages.WAITING_QUESTION}", style="bold yellow")] if now.asks else []
        rows += [card.live(self._clock(), WIDTH) for card in now.calls]
        if now.is_busy and not rows:
            rows.append(Text(messages.MODEL_WORKS))
        entries = [ViewEntry("row", (row,), key=f"run {number}") for number, row in enumerate(rows)]
        if now.queue:
            entries.append(ViewEntry("heading", (Text(messages.QUEUE_TITLE, style="bold underline"),)))
        entries += [
            ViewEntry("row", (Text(f"❯ {sanitize_line(prompt)}"),), key=f"queued {number}")
            for number, prompt in enumerate(now.queue)
        ]
        self.view.show(entries or [ViewEntry("remark", (Text(messages.NOTHING_RUNS, style="dim"),))])
