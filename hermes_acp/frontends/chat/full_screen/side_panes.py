"""The side of the screen, which shows one pane at a time."""

from typing import Final, Literal, Protocol

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from hermes_acp.frontends.chat.full_screen import messages
from hermes_acp.frontends.chat.full_screen.activity_pane import ActivityPane
from hermes_acp.frontends.chat.full_screen.changes_pane import ChangesPane
from hermes_acp.frontends.chat.full_screen.entry_view import EntryView
from hermes_acp.frontends.chat.full_screen.sessions_pane import SessionsPane
from hermes_acp.frontends.chat.full_screen.view_entries import ViewEntry
from hermes_acp.frontends.chat.rendering.text_rendering import TerminalStyle, TextRenderer

PaneName = Literal["changes", "sessions", "activity", "keys"]
WIDTH: Final = 80


class Pane(Protocol):
    """A pane at the side of the screen."""

    async def activate(self) -> None:
        """Show the current content."""
        ...

    def focus_view(self) -> None:
        """Focus the list."""
        ...


class KeysPane(Vertical):
    """Lists the keys."""

    def __init__(self, style: TerminalStyle, *, widget_id: str) -> None:
        super().__init__(id=widget_id)
        self._markdown = TextRenderer(style, lambda: WIDTH).markdown
        self.view = EntryView(style, widget_id="keys-view")

    def compose(self) -> ComposeResult:
        """Create the child widgets."""
        yield Static(Text(messages.KEYS_TITLE, style="bold"), classes="pane-head", markup=False)
        yield self.view

    async def activate(self) -> None:
        """Show the keys."""
        self.view.show([ViewEntry("message", (self._markdown(messages.KEYS),))])

    def focus_view(self) -> None:
        """Focus the list."""
        self.screen.set_focus(self.view)


class SidePanes(Vertical):
    """Shows one pane; hidden if none is open."""

    def __init__(
        self,
        changes: ChangesPane,
        sessions: SessionsPane,
        activity: ActivityPane,
        keys: KeysPane,
        *,
        widget_id: str,
    ) -> None:
        super().__init__(id=widget_id)
        self.changes = changes
        self.sessions = sessions
        self.activity = activity
        self._keys = keys
        self.current: PaneName | None = None
        self.display = False

    def compose(self) -> ComposeResult:
        """Create the child widgets."""
        for pane in (self.changes, self.sessions, self.activity, self._keys):
            pane.display = False
            yield pane

    async def reveal(self, name: PaneName) -> None:
        """Show one pane and give it the focus."""
        panes: dict[PaneName, ChangesPane | SessionsPane | ActivityPane | KeysPane] = {
            "changes": self.changes,
            "sessions": self.sessions,
            "activity": self.activity,
            "keys": self._keys,
        }
        self.current = name
        for each, pane in panes.items():
            pane.display = each == name
        self.display = True
        self.refresh(layout=True)
        await panes[name].activate()
        panes[name].focus_view()

    def close(self) -> None:
        """Hide the panes."""
        self.current = None
        self.display = False


def holds(widget: Widget, focused: Widget | None) -> bool:
    """Return whether a widget or one of its children has the focus."""
    return focused is not None and widget in focused.ancestors_with_self
