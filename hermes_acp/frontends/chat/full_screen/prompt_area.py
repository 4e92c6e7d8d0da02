"""The input area, with several lines, completion and the prompt history."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import ClassVar, Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import History
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import Static, TextArea

from hermes_acp.frontends.chat.full_screen import messages
from hermes_acp.frontends.chat.rendering.terminal_text import clip, sanitize_line
from hermes_acp.frontends.chat.screens.external_editor import PROMPT_FILE, ExternalEditor
from hermes_acp.frontends.chat.screens.input_line import spaced
from hermes_acp.frontends.chat.screens.pasted_texts import PastedTexts

MAX_ROWS: Final = 8
MENU_ROWS: Final = 6
MAX_OFFERED: Final = 50
META_STYLE: Final = Style(dim=True, reverse=False)
NEW_LINE_KEYS: Final = frozenset({"shift+enter", "alt+enter", "ctrl+j"})


class CompletionMenu(Static):
    """Shows completions of the word before the cursor; hidden if there are none."""

    def __init__(self, *, widget_id: str) -> None:
        super().__init__(id=widget_id, markup=False)
        self._offered: Sequence[Completion] = ()
        self._index = 0
        self.was_moved = False
        self.display = False

    @property
    def chosen(self) -> Completion | None:
        """The completion to insert, or None."""
        return self._offered[self._index] if self._offered else None

    def offer(self, offered: Sequence[Completion]) -> None:
        """Show completions, or hide the menu."""
        self._offered, self._index, self.was_moved = offered, 0, False
        self._draw()

    def move(self, by: int) -> None:
        """Move the selection."""
        self._index = (self._index + by) % len(self._offered)
        self.was_moved = True
        self._draw()

    def _draw(self) -> None:
        self.display = bool(self._offered)
        start = max(0, min(self._index - MENU_ROWS + 1, len(self._offered) - MENU_ROWS))
        rows = [
            _row(each, is_chosen=start + number == self._index)
            for number, each in enumerate(self._offered[start : start + MENU_ROWS])
        ]
        self.update(Text("\n", no_wrap=True, overflow="ellipsis").join(rows))


class PromptArea(TextArea):
    """The widget for typing prompts. Nothing typed here answers a question."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", show=False, priority=True),
        Binding("pageup", "scroll_transcript(-1)", show=False, priority=True),
        Binding("pagedown", "scroll_transcript(1)", show=False, priority=True),
    ]

    class Sent(Message):
        """Sent when a prompt was entered."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Scrolled(Message):
        """Sent when the conversation should scroll by a page."""

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    def __init__(
        self, completer: Completer, history: History, menu: CompletionMenu, *, widget_id: str
    ) -> None:
        super().__init__(
            id=widget_id, compact=True, highlight_cursor_line=False, placeholder=messages.PLACEHOLDER
        )
        self._completer = completer
        self._past = history
        self._menu = menu
        self.pasted = PastedTexts()
        self._earlier: list[str] = []
        self._at = 0
        self._draft = ""

    def take(self) -> str:
        """Return the text, clear the area and add the text to the history."""
        text = self.pasted.expand(self.text)
        self._past.append_string(text)
        self._earlier, self._at = [], 0
        self.load_text("")
        return text

    def put_back(self, text: str) -> None:
        """Insert unused text before the current text."""
        self.load_text(f"{text}\n{self.text}" if self.text else text)
        self.move_cursor(self.document.end)

    def insert_words(self, words: str) -> None:
        """Insert words at the cursor, separated from the word before it."""
        self.insert(spaced(self.text[: self._cursor_index()], words))

    async def write_in(
        self, editor: ExternalEditor, released: Callable[[], AbstractAsyncContextManager[None]]
    ) -> None:
        """Let the person write the prompt in an editor, which has the terminal inside `released`."""
        async with released():
            text = await editor.change(self.pasted.expand(self.text), PROMPT_FILE)
        if text is not None:
            self.load_text(self.pasted.restore(text.removesuffix("\n")))
            self.move_cursor(self.document.end)

    def action_complete(self) -> None:
        """Insert the selected completion."""
        chosen = self._menu.chosen
        if chosen is None:
            return
        row, column = self.cursor_location
        start = (row, max(0, column + chosen.start_position))
        end = " " if not chosen.text.endswith("/") and self._is_whole_word() else ""
        self._menu.offer(())
        self.replace(f"{chosen.text}{end}", start, (row, column))

    def action_scroll_transcript(self, pages: int) -> None:
        """Scroll the conversation."""
        self.post_message(self.Scrolled(pages))

    def close_menu(self) -> bool:
        """Hide the completions; return whether there were any."""
        was_open = self._menu.chosen is not None
        self._menu.offer(())
        return was_open

    async def _on_key(self, event: Key) -> None:
        if event.key in NEW_LINE_KEYS:
            event.stop()
            event.prevent_default()
            self.insert("\n")
        elif event.key == "enter":
            event.stop()
            event.prevent_default()
            if self._menu.was_moved:
                self.action_complete()
            elif self.text.strip():
                self._menu.offer(())
                self.post_message(self.Sent(self.text))
        elif event.key in ("up", "down") and self._takes(-1 if event.key == "up" else 1):
            event.stop()
            event.prevent_default()

    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert(self.pasted.collapse(event.text))

    def _on_text_area_changed(self) -> None:
        self.styles.height = max(1, min(MAX_ROWS, self.wrapped_document.height))
        self.run_worker(self._complete(), exclusive=True)

    async def _complete(self) -> None:
        document = Document(self.text, self._cursor_index())
        offered: list[Completion] = []
        if _may_complete(document.text_before_cursor):
            async for each in self._completer.get_completions_async(document, CompleteEvent()):
                offered.append(each)
                if len(offered) >= MAX_OFFERED:
                    break
        self._menu.offer(offered)

    def _takes(self, by: int) -> bool:
        """Use an arrow key for the menu or the history; return whether it was used."""
        if self._menu.chosen is not None:
            self._menu.move(by)
            return True
        row, _ = self.cursor_location
        if row != (0 if by < 0 else self.document.line_count - 1):
            return False
        if not self._earlier:
            self._earlier, self._draft = list(_distinct(self._past.load_history_strings())), self.text
        at = self._at - by
        if not 0 <= at <= len(self._earlier):
            return False
        self._at = at
        self.load_text(self._earlier[at - 1] if at else self._draft)
        self.move_cursor(self.document.end)
        return True

    def _cursor_index(self) -> int:
        row, column = self.cursor_location
        return sum(len(self.document.get_line(number)) + 1 for number in range(row)) + column

    def _is_whole_word(self) -> bool:
        row, column = self.cursor_location
        return column == len(self.document.get_line(row))


def _may_complete(before: str) -> bool:
    """Return whether the word before the cursor is a command or a file."""
    if before.startswith("/") and "\n" not in before:
        return True
    return before.replace("\n", " ").rpartition(" ")[2].startswith("@")


def _row(completion: Completion, *, is_chosen: bool) -> Text:
    shown = clip(sanitize_line(completion.display_text), 40)
    row = Text(f" {shown:<24}", style="reverse" if is_chosen else "")
    return row.append(f"  {sanitize_line(completion.display_meta_text)}", style=META_STYLE)


def _distinct(prompts: Iterable[str]) -> Iterable[str]:
    """Skip each prompt that equals the one before it."""
    last = ""
    for prompt in prompts:
        if prompt != last:
            yield prompt
        last = prompt
