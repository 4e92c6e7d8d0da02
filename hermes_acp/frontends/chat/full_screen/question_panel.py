"""The panel that shows a question: its full text, and how to answer it.

The panel takes keys only while it has the focus, and only the person moves the focus there. Text typed into the input
area never reaches it.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Group
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input, Static

from hermes_acp.frontends.chat.full_screen import messages
from hermes_acp.frontends.chat.full_screen.entry_view import EntryView
from hermes_acp.frontends.chat.full_screen.pending_read import PendingRead
from hermes_acp.frontends.chat.full_screen.retained_layout import CHOICES
from hermes_acp.frontends.chat.full_screen.view_entries import ViewEntry
from hermes_acp.frontends.chat.questions.approval_prompt import HUNKS
from hermes_acp.frontends.chat.rendering.text_rendering import TerminalStyle
from hermes_acp.frontends.chat.screens.screen import INTERRUPTED

BODY_ID: Final = "question-body"


FRAME_ROWS: Final = 3
"""One row for the border, and two for the question with its hint."""
MARGIN: Final = 2
HINT_STYLE: Final = Style(bold=False, dim=True)


class QuestionPanel(Vertical):
    """Shows one question at a time, and is hidden otherwise. After a question, `after` gets the focus."""

    def __init__(self, style: TerminalStyle, reads: PendingRead, after: Widget, *, widget_id: str) -> None:
        super().__init__(id=widget_id)
        self._reads = reads
        self._after = after
        self._had_focus = False
        self.body = EntryView(style, widget_id=BODY_ID)
        self._entries: list[ViewEntry] = []
        self._choices = Static("", id="question-choices", markup=False)
        self._asked = Static("", id="question-asked", markup=False)
        self._field = Input(id="question-field", compact=True, select_on_focus=False)
        self._keys: Sequence[str] = ()
        self.choice_rows: list[str] = []
        self._is_agents = False
        self.display = False

    @property
    def is_open(self) -> bool:
        """Whether a question is shown."""
        return self._reads.kind in ("key", "line")

    @property
    def entries(self) -> Sequence[ViewEntry]:
        """The entries that the open question shows."""
        return self._entries

    def compose(self) -> ComposeResult:
        """Create the child widgets."""
        yield self.body
        yield self._choices
        yield self._asked
        yield self._field

    def begin(self, *, is_warning: bool = False) -> None:
        """Start a question from the agent, without taking the focus."""
        self._is_agents = True
        self.set_class(is_warning, "-warning")
        self._forget()

    def keep(self, entry: ViewEntry) -> None:
        """Add a part of the question; choices stay in view below the other parts."""
        if entry.kind == CHOICES:
            self.choice_rows = [row for part in entry.parts for row in str(part).split("\n")]
            self._choices.update(Group(*entry.parts))
            self._choices.display = True
            return
        self._entries.append(entry)
        self.body.show([*self._entries])

    def end(self) -> None:
        """End a question from the agent."""
        self._is_agents = False
        self._forget()
        self.set_class(False, "-warning")
        self.close()

    def _forget(self) -> None:
        """Clear the panel."""
        self._entries = []
        self.choice_rows = []
        self._choices.display = False
        self.body.show(())

    def ask_key(self, question: str, keys: Sequence[str]) -> None:
        """Ask for one of these keys."""
        self._keys = keys
        self._open(question, messages.key_choices(keys))
        self._field.display = False
        self._take_focus(self.body)

    def ask_line(self, question: str, *, is_secret: bool) -> None:
        """Ask for a line."""
        self._keys = ()
        self._open(question, messages.LINE_HINT)
        self._field.password = is_secret
        self._field.value = ""
        self._field.display = True
        self._take_focus(self._field)

    def close(self) -> None:
        """Hide the panel; if a question from the agent is still open, it gets the focus again."""
        self._had_focus = self._had_focus or self.has_focus_within
        self.display = False
        if self._had_focus and not self._is_agents:
            self._had_focus = False
            self.screen.set_focus(self._after)

    def focus_answer(self) -> None:
        """Focus the widget that answers the question."""
        self.screen.set_focus(self._target)

    def _on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the line."""
        event.stop()
        value, self._field.value = self._field.value, ""
        self._reads.settle("line", value)

    def on_key(self, event: Key) -> None:
        """Answer with a key."""
        key = (event.character or "").lower()
        if self._reads.kind == "key" and key in self._keys:
            event.stop()
            event.prevent_default()
            self._reads.settle("key", key)

    def review_hunks(self) -> bool:
        """Show the proposal's hunks if the question is about an edit; return whether it is."""
        return HUNKS in self._keys and self._reads.settle("key", HUNKS)

    def go_back(self) -> bool:
        """Leave a field that was opened from a question; return False if there is none."""
        return self._reads.settle("line", INTERRUPTED)

    def fit(self, columns: int, rows: int) -> None:
        """Fit the text and the choices into at most `rows` rows."""
        width = max(1, columns - MARGIN)
        below = sum(1 + max(0, cell_len(row) - 1) // width for row in self.choice_rows)
        self.body.styles.height = max(1, min(self.body.virtual_size.height, rows - below - FRAME_ROWS))

    @property
    def _target(self) -> EntryView | Input:
        return self._field if self._field.display else self.body

    def _open(self, question: str, hint: str) -> None:
        self._asked.update(Text(f"{question.strip()}  ", style="bold").append(hint, style=HINT_STYLE))
        self.body.display = bool(self._entries)
        self.set_class(self._is_agents, "-agents")
        self.display = True

    def _take_focus(self, target: EntryView | Input) -> None:
        """Take the focus, unless the question is the agent's and another widget has the focus."""
        if not self._is_agents or self.has_focus_within or self._had_focus:
            self.screen.set_focus(target)
        self._had_focus = False


def titles_of(entries: Iterable[ViewEntry]) -> list[ViewEntry]:
    """Return the entries that say what was asked and how it was answered."""
    every = list(entries)
    return [every[0], every[-1]] if len(every) > 1 else every
