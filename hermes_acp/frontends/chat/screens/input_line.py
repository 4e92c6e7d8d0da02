"""The line in which prompts are typed. Typed text is kept while questions are asked."""

from textwrap import wrap
from typing import Final

from prompt_toolkit import PromptSession, search
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import Completer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText, FormattedText, to_formatted_text
from prompt_toolkit.history import History

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.screens.pasted_texts import PastedTexts
from hermes_acp.frontends.chat.screens.screen import Gesture, ScreenWidgets
from hermes_acp.frontends.chat.screens.terminal import Terminal, set_timeouts
from hermes_acp.frontends.chat.screens.terminal_style import input_style

PROMPT: Final = "❯ "
MENU_ROWS: Final = 7
FRAME_S: Final = 0.12

Answer = str | Gesture


class InputLine:
    """The input line; `session.app` runs while the line is being read."""

    def __init__(
        self, terminal: Terminal, widgets: ScreenWidgets, completer: Completer, history: History
    ) -> None:
        self._terminal = terminal
        self._widgets = widgets
        self._draft = Document()
        self.pasted = PastedTexts()
        self._warned_of = ""
        self._warning = ""
        self.question_waits = False
        self.typed_at = float("-inf")
        """The time of the last key press in text that has not been sent."""
        self.session: PromptSession[Answer] = PromptSession(
            self._message,
            multiline=True,
            prompt_continuation="  ",
            completer=completer,
            complete_while_typing=Condition(is_completing),
            history=history,
            bottom_toolbar=self.status,
            placeholder=self._placeholder,
            reserve_space_for_menu=MENU_ROWS,
            erase_when_done=True,
            refresh_interval=FRAME_S,
            color_depth=terminal.depth,
            style=input_style(),
            input=terminal.input,
            output=terminal.output,
        )
        set_timeouts(self.session.app)
        self.session.app.key_processor.before_key_press += self._note_key

    @property
    def text(self) -> str:
        """The text that was typed but has not been sent."""
        return self.session.default_buffer.text if self.session.app.is_running else self._draft.text

    def take_draft(self) -> Document:
        """Return the unsent text of the previous read, with which the next read continues."""
        draft, self._draft = self._draft, Document()
        return draft

    def keep_draft(self) -> None:
        """Keep typed text for the next read, after any text that was put back while this read was ending."""
        self._draft = _prepended(self._draft.text, self.session.default_buffer.document)

    def insert(self, typed: str) -> None:
        """Insert text that was typed while the line was not being read, at the cursor."""
        text, at = self._draft.text, self._draft.cursor_position
        self._draft = Document(f"{text[:at]}{typed}{text[at:]}", at + len(typed))
        self.typed_at = self._terminal.clock()

    def insert_words(self, words: str) -> None:
        """Insert words at the cursor, separated from the word before it."""
        if self.session.app.is_running:
            buffer = self.session.default_buffer
            buffer.insert_text(spaced(buffer.document.text_before_cursor, words))
        else:
            self.insert(spaced(self._draft.text_before_cursor, words))

    def put_back(self, text: str) -> None:
        """Insert text before the current line or, if that has been sent, before the next one."""
        app = self.session.app
        if app.is_running and not app.is_done:
            buffer = self.session.default_buffer
            buffer.document = _prepended(text, buffer.document)
        else:
            self._draft = _prepended(text, self._draft)

    def leave(self, answer: Gesture) -> None:
        """Make the pending read return, even in the middle of a search."""
        app = self.session.app
        if app.is_running and not app.is_done:
            if app.layout.is_searching:
                search.stop_search()
            app.exit(result=answer)

    def submit(self) -> None:
        """Send the line and add it to the history; a line with a likely mistake is sent only the second time."""
        buffer = self.session.default_buffer
        if buffer.text != self._warned_of and (warning := self._widgets.actions().warn_before(buffer.text)):
            self._warned_of, self._warning = buffer.text, warning
            return
        self._warned_of = ""
        text = self.pasted.expand(buffer.text)
        strings = buffer.history.get_strings()
        if not strings or strings[-1] != text:
            buffer.history.append_string(text)
        self.typed_at = float("-inf")
        self.session.app.exit(result=text)

    def status(self) -> AnyFormattedText:
        """Draw the status line."""
        return FormattedText([("class:status", self._widgets.status(self._terminal.size[1]))])

    def _note_key(self, _: object) -> None:
        self.typed_at = self._terminal.clock()

    def _message(self) -> AnyFormattedText:
        rows, columns = self._terminal.size
        live = self._widgets.live(max(3, rows // 2), columns)
        parts = to_formatted_text(ANSI(f"{live}\n\n")) if live else to_formatted_text(ANSI("\n"))
        if hint := self._hint():
            wrapped = "\n".join(wrap(hint, columns - 1))
            parts = [*parts, ("class:waiting", f"{wrapped}\n")]
        return FormattedText([*parts, ("class:prompt", PROMPT)])

    def _hint(self) -> str:
        if self._warned_of and self.text == self._warned_of:
            return f"! {self._warning}"
        return f"? {messages.QUESTION_WAITS}" if self.question_waits and self.text else ""

    def _placeholder(self) -> AnyFormattedText:
        if is_searching():
            return ""
        columns = self._terminal.size[1] - len(PROMPT) - 1
        return FormattedText([("class:hint", self._widgets.placeholder(columns))])


def is_completing() -> bool:
    """Return whether the word before the cursor is a command or a file; only then is space needed for a menu."""
    document = get_app().current_buffer.document
    before = document.text_before_cursor
    if before.startswith("/") and "\n" not in before:
        return True
    return before[before.rfind(" ") + 1 :].rpartition("\n")[2].startswith("@")


def spaced(before: str, words: str) -> str:
    """Return the words, with a space in front if another word precedes them."""
    return f" {words}" if before and not before[-1].isspace() else words


def _prepended(text: str, document: Document) -> Document:
    if not text:
        return document
    before = f"{text}\n" if document.text else text
    return Document(before + document.text, len(before) + document.cursor_position)
