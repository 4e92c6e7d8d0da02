"""A terminal with an input line at the bottom; the conversation continues above it.

It is not full-screen: what was written stays in the terminal's scrollback.
"""

import base64
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import anyio
import anyio.lowlevel
from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.application.current import create_app_session
from prompt_toolkit.completion import Completer
from prompt_toolkit.history import History
from prompt_toolkit.output.defaults import create_output

from hermes_acp.frontends.chat.rendering.text_rendering import ColourDepth
from hermes_acp.frontends.chat.screens.external_editor import ExternalEditor
from hermes_acp.frontends.chat.screens.input_keys import InputKeys
from hermes_acp.frontends.chat.screens.input_line import FRAME_S, InputLine
from hermes_acp.frontends.chat.screens.question_prompts import QuestionPrompts, Typed
from hermes_acp.frontends.chat.screens.screen import (
    CALLED_AWAY,
    LEFT,
    READY,
    Asking,
    Choice,
    Gesture,
    ScreenWidgets,
)
from hermes_acp.frontends.chat.screens.terminal import Terminal
from hermes_acp.frontends.chat.screens.terminal_input import TerminalInput
from hermes_acp.frontends.chat.screens.terminal_style import colour_depth

TYPING_PAUSE_S: Final = 1.0
"""The time that a question ignores keys after a key press in the input line."""
NOTICE_S: Final = 0.5
"""The time that a question ignores keys after it was shown."""


class LiveScreen:
    """A terminal with cursor control."""

    def __init__(
        self,
        widgets: ScreenWidgets,
        completer: Completer,
        history: History,
        colours: ColourDepth,
        clock: Callable[[], float],
        editor: ExternalEditor | None = None,
    ) -> None:
        self._widgets = widgets
        self._clock = clock
        self._editor = editor
        self._input = TerminalInput(sys.stdin)
        self._output = create_output()
        self._app_session = create_app_session(self._input, self._output)
        self._app_session.__enter__()
        self._app: Application[Any] | None = None
        self._is_left = False
        self._writing = anyio.Lock()
        terminal = Terminal(self._input, self._output, colour_depth(colours), clock)
        self._line = InputLine(terminal, widgets, completer, history)
        self._keys = InputKeys(self._line, widgets.actions, self._input, editor)
        self._questions = QuestionPrompts(terminal, self._line.status)

    @property
    def can_ask(self) -> bool:
        """Whether a person is present."""
        return True

    async def write(self, text: str) -> None:
        """Write above the input line."""
        if not text:
            return

        def put() -> None:
            self._output.write_raw(text.replace("\n", "\r\n"))
            self._output.flush()

        async with self._writing:
            with anyio.CancelScope(shield=True):
                if self._app is not None and self._app.is_running:
                    await run_in_terminal(put)
                else:
                    put()

    def refresh(self) -> None:
        """Redraw the live parts."""
        if self._app is not None:
            self._app.invalidate()

    async def read_prompt(self) -> str | Gesture:
        """Wait for a prompt."""
        answer = await self._run(self._line.session, self._line.take_draft())
        if isinstance(answer, Gesture):
            self._line.keep_draft()
        return answer

    async def read_key(
        self, question: str, choices: Sequence[Choice], asking: Asking = "unexpected"
    ) -> str | Gesture:
        """Ask a question that is answered with one key; keys that are part of a sentence go into the input line."""
        while True:
            if asking == "unexpected" and (gesture := await self._attention()) is not None:
                return gesture
            prompt = self._questions.for_key(
                question, choices, is_in_series=asking == "in_series", typed_at=self._line.typed_at
            )
            answer = await self._run(prompt, "")
            if not isinstance(answer, Typed):
                return answer
            self._line.insert(answer.text)
            asking = "unexpected"

    async def read_line(
        self, question: str, *, is_secret: bool = False, is_expected: bool = False
    ) -> str | Gesture:
        """Ask a question that is answered with a line."""
        if not is_expected and (gesture := await self._attention()) is not None:
            return gesture
        prompt = self._questions.for_line(question, is_secret=is_secret)
        answer = await self._run(prompt, "")
        assert not isinstance(answer, Typed)
        return answer

    def put_back(self, text: str) -> None:
        """Put text before the typed text."""
        self._line.put_back(text)

    def insert(self, text: str) -> None:
        """Insert words at the cursor."""
        self._line.insert_words(text)

    def without_pasted(self, text: str) -> str:
        """Return a prompt with markers instead of the texts that were pasted into it."""
        return self._line.pasted.restore(text)

    def copy(self, text: str) -> bool:
        """Write the escape code for the clipboard (OSC 52), which most terminals support."""
        content = base64.b64encode(text.encode("utf-8", "replace")).decode()
        self._output.write_raw(f"\x1b]52;c;{content}\x07")
        self._output.flush()
        return True

    @property
    def can_edit(self) -> bool:
        """Whether a text editor is configured."""
        return self._editor is not None

    async def edit(self, text: str, name: str) -> str | None:
        """Let the person edit text; output and input wait in the meantime."""
        if self._editor is None:
            return None
        async with self._writing:
            with self._input.released():
                return await self._editor.change(text, name)

    def cancel_read(self) -> None:
        """Make the pending read return."""
        if self._app is self._line.session.app:
            self._keys.leave(CALLED_AWAY)
        elif self._app is not None and self._app.is_running and not self._app.is_done:
            self._app.exit(result=CALLED_AWAY)

    def close(self) -> None:
        """Restore the terminal."""
        self._app_session.__exit__(None, None, None)
        self._input.close()

    async def _attention(self) -> Gesture | None:
        """Wait until keys can be taken for a question that was just shown; return None, or why the wait ended early.

        Until then, keys go to the input line. The wait ends with Tab, or when the line is empty and nothing has been
        typed for a while.
        """
        shown_at = self._clock()
        self._line.question_waits = True
        try:
            while True:
                answer = await self._read_until_idle(shown_at)
                if isinstance(answer, str):
                    if not await self._submit(answer):
                        return LEFT
                elif answer is not READY:
                    return answer
                elif not self._input.has_pending_keys():
                    return None
        finally:
            self._line.question_waits = False

    async def _submit(self, line: str) -> bool:
        """Send a line, even if the question is withdrawn in the meantime."""
        with anyio.CancelScope(shield=True):
            self._is_left = not await self._widgets.actions().submit(line)
        return not self._is_left

    async def _read_until_idle(self, shown_at: float) -> str | Gesture:
        answer: str | Gesture = CALLED_AWAY
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._leave_when_idle, shown_at)
            answer = await self.read_prompt()
            tasks.cancel_scope.cancel()
        return answer

    async def _leave_when_idle(self, shown_at: float) -> None:
        while True:
            await anyio.sleep(FRAME_S)
            idle_at = max(shown_at + NOTICE_S, self._line.typed_at + TYPING_PAUSE_S)
            if self._clock() >= idle_at and not self._line.text:
                self._keys.leave(READY)

    async def _run(self, prompt: "PromptSession[Any]", given: Any) -> Any:
        await anyio.lowlevel.checkpoint_if_cancelled()
        self._app = prompt.app
        try:
            with anyio.CancelScope(shield=True):  # `cancel_read` ends it, so that the terminal is restored
                return await prompt.prompt_async(default=given, handle_sigint=True)
        except EOFError:
            return LEFT
        finally:
            self._app = None
