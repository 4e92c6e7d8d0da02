"""Implement the `Screen` interface for the full-screen chat."""

from collections.abc import Callable, Sequence

from hermes_acp.frontends.chat.full_screen.pending_read import PendingRead
from hermes_acp.frontends.chat.full_screen.prompt_area import PromptArea
from hermes_acp.frontends.chat.full_screen.question_panel import QuestionPanel
from hermes_acp.frontends.chat.full_screen.retained_layout import RetainedLayout
from hermes_acp.frontends.chat.full_screen.terminal_app import TerminalApp
from hermes_acp.frontends.chat.screens.external_editor import ExternalEditor
from hermes_acp.frontends.chat.screens.screen import CALLED_AWAY, Asking, Choice, Gesture


class FullScreen:
    """Reads from the input area and the question panel; calls `changed` when something must be redrawn."""

    def __init__(
        self,
        app: TerminalApp,
        reads: PendingRead,
        panel: QuestionPanel,
        prompt: PromptArea,
        layout: RetainedLayout,
        changed: Callable[[], None],
        editor: ExternalEditor | None,
    ) -> None:
        self._app = app
        self._reads = reads
        self._panel = panel
        self._prompt = prompt
        self._layout = layout
        self._changed = changed
        self._editor = editor

    @property
    def can_ask(self) -> bool:
        """Whether a person is present."""
        return True

    async def write(self, text: str) -> None:
        """Show text that was rendered elsewhere. For entries, the text is empty, because the layout keeps them."""
        if text:
            self._layout.written(text)
        self._changed()

    def refresh(self) -> None:
        """Redraw the live parts."""
        self._changed()

    async def read_prompt(self) -> str | Gesture:
        """Wait for a prompt."""
        return _line(await self._reads.wait("prompt"))

    async def read_key(
        self, question: str, choices: Sequence[Choice], asking: Asking = "unexpected"
    ) -> str | Gesture:
        """Ask a question that is answered with one key."""
        self._panel.ask_key(question, [choice.key for choice in choices])
        self._changed()
        try:
            return _line(await self._reads.wait("key"))
        finally:
            self._panel.close()
            self._changed()

    async def read_line(
        self, question: str, *, is_secret: bool = False, is_expected: bool = False
    ) -> str | Gesture:
        """Ask a question that is answered with a line."""
        self._panel.ask_line(question, is_secret=is_secret)
        self._changed()
        try:
            return _line(await self._reads.wait("line"))
        finally:
            self._panel.close()
            self._changed()

    def put_back(self, text: str) -> None:
        """Insert unused text before the current text of the input area."""
        self._prompt.put_back(text)

    def insert(self, text: str) -> None:
        """Insert words at the cursor."""
        self._prompt.insert_words(text)

    def without_pasted(self, text: str) -> str:
        """Return a prompt with markers instead of the texts that were pasted into it."""
        return self._prompt.pasted.restore(text)

    def copy(self, text: str) -> bool:
        """Ask the terminal to copy text to the clipboard (OSC 52), which most terminals support."""
        self._app.copy_to_clipboard(text)
        return True

    @property
    def can_edit(self) -> bool:
        """Whether a text editor is configured."""
        return self._editor is not None

    async def edit(self, text: str, name: str) -> str | None:
        """Let the person edit text in their editor, which has the terminal until it exits."""
        if self._editor is None:
            return None
        async with self._app.released():
            return await self._editor.change(text, name)

    def cancel_read(self) -> None:
        """Make the pending read return."""
        self._reads.cancel()


def _line(answer: object) -> str | Gesture:
    return answer if isinstance(answer, str | Gesture) else CALLED_AWAY
