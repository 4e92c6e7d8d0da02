"""The Textual application of the full-screen chat: its layout, its keys and its redraws."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import ClassVar, Final, Literal

import anyio
from msgspec import Struct
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Event, Key, Resize
from textual.widgets import Static

from hermes_acp.frontends.chat.full_screen import messages
from hermes_acp.frontends.chat.full_screen.entry_view import EntryView
from hermes_acp.frontends.chat.full_screen.pending_read import PendingRead
from hermes_acp.frontends.chat.full_screen.prompt_area import CompletionMenu, PromptArea
from hermes_acp.frontends.chat.full_screen.question_panel import QuestionPanel
from hermes_acp.frontends.chat.full_screen.side_panes import PaneName, SidePanes, holds
from hermes_acp.frontends.chat.full_screen.terminal_app import TerminalApp
from hermes_acp.frontends.chat.rendering.terminal_text import clip
from hermes_acp.frontends.chat.screens.external_editor import ExternalEditor
from hermes_acp.frontends.chat.screens.screen import LEFT, ScreenWidgets

FRAME_S: Final = 0.1
FRAMES_PER_SPIN: Final = 3
NARROW_COLUMNS: Final = 110
SHORT_ROWS: Final = 24
INPUT_ROWS: Final = 3
"""The rows of the input area with its border, and of the status line."""
PANES_OF_COMMANDS: Final[Mapping[str, PaneName]] = MappingProxyType(
    {"/review": "changes", "/sessions": "sessions"}
)


class Background(Struct, frozen=True):
    """Runs actions in tasks of the chat itself."""

    spawn: Callable[[Callable[[], Awaitable[object]]], None]
    is_busy: Callable[[], bool]


class ChatWidgets(Struct, frozen=True):
    """The widgets of the screen. They are created by the code that connects them to the chat."""

    conversation: EntryView
    question: QuestionPanel
    side: SidePanes
    menu: CompletionMenu
    prompt: PromptArea


class ChatApp(TerminalApp, inherit_bindings=False):
    """Draws the chat, at most ten times a second."""

    CSS_PATH = "chat_app.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+d", "leave", show=False, priority=True),
        Binding("escape", "go_back", show=False, priority=True),
        Binding("shift+tab", "input('mode')", show=False, priority=True),
        Binding("ctrl+g", "edit", show=False, priority=True),
        Binding("ctrl+t", "input('speech')", show=False, priority=True),
        Binding("ctrl+o", "fold", show=False, priority=True),
        Binding("f1", "pane('keys')", show=False, priority=True),
        Binding("question_mark", "pane('keys')", show=False),
        Binding("f2", "answer", show=False, priority=True),
        Binding("f3", "pane('changes')", show=False, priority=True),
        Binding("f4", "pane('sessions')", show=False, priority=True),
        Binding("f5", "pane('activity')", show=False, priority=True),
        Binding("f6", "mouse", show=False, priority=True),
        Binding("f7", "conversation", show=False, priority=True),
    ]

    def __init__(
        self,
        widgets: ChatWidgets,
        drawn: ScreenWidgets,
        background: Background,
        reads: PendingRead,
        editor: ExternalEditor | None,
    ) -> None:
        super().__init__()
        self._editor = editor
        self._widgets = widgets
        self._drawn = drawn
        self._background = background
        self._reads = reads
        self._status = Static("", id="status", markup=False)
        self._warned_of = ""
        self._frames = 0
        self.is_ready = anyio.Event()

    def compose(self) -> ComposeResult:
        """Create the child widgets."""
        each = self._widgets
        yield Horizontal(each.conversation, each.side, id="main")
        yield each.question
        yield each.menu
        yield Horizontal(Static(Text("❯ ", style="bold cyan"), id="input-mark"), each.prompt, id="input-row")
        yield self._status

    def on_mount(self) -> None:
        """Start drawing."""
        self.theme = "ansi-dark"
        self.set_interval(FRAME_S, self._draw)
        self.screen.set_focus(self._widgets.prompt)
        self.is_ready.set()

    async def on_event(self, event: Event) -> None:
        """Clear the note at the next key, except Ctrl+C, which has its own action."""
        if isinstance(event, Key) and event.key != "ctrl+c":
            self._note = ""
            self._drawn.actions().key_pressed()
            self.changed()
        await super().on_event(event)

    def action_interrupt(self) -> None:
        """Copy the selection; without one, stop the turn, clear the input or, the second time, quit."""
        if selected := self.screen.get_selected_text():
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
            self.changed(messages.COPIED)
            return
        match self._drawn.actions().interrupt(bool(self._widgets.prompt.text)):
            case "leave":
                self.action_leave()
            case "clear":
                self._widgets.prompt.load_text("")
            case "stay":
                self.changed()

    def action_leave(self) -> None:
        """Quit."""
        for kind in ("prompt", "key", "line"):
            self._reads.settle(kind, LEFT)
        self._reads.settle("hunks", None)

    def action_go_back(self) -> None:
        """Go back to the input; from there, stop the turn."""
        each = self._widgets
        if each.prompt.close_menu():
            return
        if holds(each.side, self.focused):
            if each.side.current != "sessions" or not each.side.sessions.cancel_edit():
                self.close_side()
        elif holds(each.question, self.focused):
            if not each.question.go_back():
                self.screen.set_focus(each.prompt)
        elif each.prompt.has_focus:
            self._drawn.actions().stop_turn()
        else:
            self.screen.set_focus(each.prompt)

    def _action_input(self, key: Literal["mode", "speech"]) -> None:
        """Switch to the next mode, or start or stop a recording."""
        if key == "speech":
            self._drawn.actions().speak()
        else:
            self._background.spawn(self._drawn.actions().cycle_mode)

    def _action_edit(self) -> None:
        """Write the prompt in the person's editor."""
        if self._editor is None:
            self._drawn.actions().miss_editor()
            self.changed()
        else:
            self._background.spawn(partial(self._widgets.prompt.write_in, self._editor, self.released))

    def on_changes_pane_edit_wanted(self) -> None:
        """Edit a hunk in the person's editor."""
        if self._editor is None:
            self._drawn.actions().miss_editor()
            self.changed()
        else:
            pane = self._widgets.side.changes
            self._background.spawn(partial(pane.edit_chosen, self._editor, self.released))

    def _action_fold(self) -> None:
        """Fold or unfold an entry of the conversation."""
        self._widgets.conversation.toggle()

    async def action_pane(self, name: PaneName) -> None:
        """Show a pane, or close it if it is shown; the changes pane starts with a proposal that waits for approval."""
        if name == "changes" and self._widgets.question.review_hunks():
            return
        if self._widgets.side.current == name:
            self.close_side()
        else:
            await self.reveal(name)

    async def reveal(self, name: PaneName) -> None:
        """Show a pane."""
        self.screen.set_class(True, "-side")
        await self._widgets.side.reveal(name)

    def action_answer(self) -> None:
        """Go to the question."""
        if self._reads.kind == "hunks":
            self._widgets.side.changes.focus_view()
        elif self._widgets.question.is_open:
            self._widgets.question.focus_answer()

    def _action_conversation(self) -> None:
        """Go to the conversation."""
        self.close_side()
        self.screen.set_focus(self._widgets.conversation)

    async def on_prompt_area_sent(self, event: PromptArea.Sent) -> None:
        """Send a prompt, or keep it until the chat can take it."""
        pane = PANES_OF_COMMANDS.get(event.text.strip())
        warning = "" if event.text == self._warned_of else self._drawn.actions().warn_before(event.text)
        self._warned_of = event.text if warning else ""
        if warning:
            self.changed(warning)
        elif pane is not None:
            self._widgets.prompt.take()
            await self.reveal(pane)
        elif self._reads.kind == "prompt":
            self._note = ""
            self._reads.settle("prompt", self._widgets.prompt.take())
        elif self._reads.kind is None or event.text.startswith("/"):
            self.changed(messages.NOT_READY if self._reads.kind is None else messages.QUESTION_FIRST)
        else:
            text = self._widgets.prompt.take()
            self._background.spawn(lambda: self._drawn.actions().submit(text))

    def on_resize(self, event: Resize) -> None:
        """Adapt the layout to the new width."""
        self.screen.set_class(event.size.width < NARROW_COLUMNS, "-narrow")
        self.screen.set_class(event.size.height < SHORT_ROWS, "-short")
        self.changed()

    def close_side(self) -> None:
        """Hide the panes."""
        self._reads.settle("hunks", None)
        self._widgets.side.close()
        self.screen.set_class(False, "-side")
        self.screen.set_focus(self._widgets.prompt)

    def action_focus_next(self) -> None:
        """Go to the input area. Only F2 and the mouse move the focus to a question."""
        self.screen.set_focus(self._widgets.prompt)

    def _draw(self) -> None:
        """Redraw if anything has changed or is animated."""
        self._frames += 1
        is_turning = self._background.is_busy() and self._frames % FRAMES_PER_SPIN == 0
        if not (self._is_changed or is_turning):
            return
        self._is_changed = False
        each = self._widgets
        view = each.conversation
        live = self._drawn.live(max(3, view.size.height - 2), max(20, view.size.width - 4))
        view.flush((Text.from_ansi(live),) if live else ())
        if each.side.current == "activity":
            each.side.activity.draw()
        self.screen.set_class(each.question.is_open, "-asking")
        rows = self.size.height
        each.question.fit(self.size.width, rows - INPUT_ROWS if rows < SHORT_ROWS else rows * 7 // 10)
        is_asking = each.question.is_open
        key = messages.ANSWER_KEY if is_asking else messages.HELP_KEY
        room = self.size.width - len(key) - 2
        status = self._note or self._drawn.status(room)
        self._status.update(_line(status, room, Text(key, style="yellow" if is_asking else "dim")))


def _line(status: str, room: int, key: Text) -> Text:
    """Return the status line: as much of the status as fits, and the key hint at the right edge."""
    text = Text(clip(status, max(1, room)), style="dim", no_wrap=True)
    text.pad_right(max(1, room + 2 - text.cell_len))
    return text.append_text(key)
