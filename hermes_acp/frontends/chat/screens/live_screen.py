"""A terminal with an input line at the bottom while the conversation continues above it.

It is not full screen: what was written stays in the terminal's scrollback.
"""

from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import Any, Final

import anyio
from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, get_app, run_in_terminal
from prompt_toolkit.application.current import AppSession, create_app_session
from prompt_toolkit.completion import Completer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText, FormattedText, to_formatted_text
from prompt_toolkit.history import History
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.output.defaults import create_output
from prompt_toolkit.styles import Style

from hermes_acp.frontends.chat.rendering.text_rendering import ColourDepth
from hermes_acp.frontends.chat.screens.external_editor import ExternalEditor
from hermes_acp.frontends.chat.screens.screen import CALLED_AWAY, INTERRUPTED, LEFT, Gesture, ScreenWidgets

PROMPT: Final = "❯ "
MENU_ROWS: Final = 7
FRAME_S: Final = 0.12
TYPING_PAUSE_S: Final = 0.8
"""For this long after a keystroke, keys do not answer a new question: they were meant for the input line."""


class LiveScreen:
    """A terminal that can position its cursor."""

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
        self._draft = ""
        self._typed_at = -TYPING_PAUSE_S
        self._input = create_input()
        self._output: Output = create_output()
        self._app_session = create_app_session(self._input, self._output)
        self._session: AppSession = self._app_session.__enter__()
        self._app: Application[str | Gesture] | None = None
        self._writing = anyio.Lock()
        self._prompt: PromptSession[str | Gesture] = PromptSession(
            self._message,
            multiline=True,
            prompt_continuation="  ",
            completer=completer,
            complete_while_typing=Condition(_is_completing),
            history=history,
            key_bindings=self._keys(),
            bottom_toolbar=self._status,
            placeholder=self._placeholder,
            reserve_space_for_menu=MENU_ROWS,
            erase_when_done=True,
            refresh_interval=FRAME_S,
            color_depth=_depth(colours),
            style=_style(),
            input=self._input,
            output=self._output,
        )
        self._prompt.default_buffer.on_text_insert += self._note_typing

    @property
    def can_ask(self) -> bool:
        """Whether a person is there."""
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
        """Redraw."""
        if self._app is not None:
            self._app.invalidate()

    async def read_prompt(self) -> str | Gesture:
        """Wait for a prompt."""
        given, self._draft = self._draft, ""
        answer = await self._run(self._prompt, given)
        if answer is CALLED_AWAY:
            self._draft = self._prompt.default_buffer.text
        if isinstance(answer, str):
            self._typed_at = -TYPING_PAUSE_S
        return answer

    async def read_key(self, question: str, keys: Sequence[str]) -> str | Gesture:
        """Ask a question that one key answers."""
        asked_at = self._clock()
        was_typing = asked_at - self._typed_at < TYPING_PAUSE_S
        bindings = KeyBindings()

        @bindings.add("<any>")
        def _(event: KeyPressEvent) -> None:
            key = event.key_sequence[0].data.lower()
            is_meant = not was_typing or self._clock() - asked_at > TYPING_PAUSE_S
            if key in keys and is_meant:
                event.app.exit(result=key)

        @bindings.add("enter", eager=True)
        @bindings.add("<bracketed-paste>", eager=True)
        def _(event: KeyPressEvent) -> None:
            """Ignore Enter and pasted text."""

        self._bind_ends(bindings)
        asking = self._asking(bindings, question)
        return await self._run(asking, "")

    async def read_line(self, question: str, *, is_secret: bool = False, given: str = "") -> str | Gesture:
        """Ask a question that a line answers."""
        bindings = KeyBindings()
        self._bind_ends(bindings)
        return await self._run(self._asking(bindings, question, is_secret=is_secret), given)

    @property
    def can_edit(self) -> bool:
        """Whether the person has an editor."""
        return self._editor is not None

    async def edit(self, text: str, name: str) -> str | None:
        """Let the person edit a text; output and input wait meanwhile."""
        if self._editor is None:
            return None
        async with self._writing:
            return await self._editor.change(text, name)

    def cancel_read(self) -> None:
        """Make the pending read return."""
        if self._app is not None and self._app.is_running and not self._app.is_done:
            self._app.exit(result=CALLED_AWAY)

    def close(self) -> None:
        """Restore the terminal."""
        self._app_session.__exit__(None, None, None)

    async def _run(self, prompt: "PromptSession[str | Gesture]", given: str) -> str | Gesture:
        answer: str | Gesture = LEFT
        self._app = prompt.app
        try:
            with anyio.CancelScope(shield=True):  # `cancel_read` ends it, and the terminal is restored
                answer = await prompt.prompt_async(default=given, handle_sigint=True)
        except EOFError:
            return LEFT
        finally:
            self._app = None
        return answer

    def _asking(
        self, bindings: KeyBindings, question: str, *, is_secret: bool = False
    ) -> "PromptSession[str | Gesture]":
        lines = wrap(question, self._size()[1] - 1, subsequent_indent="  ")
        return PromptSession(
            FormattedText([("class:question", "\n".join(lines) + " ")]),
            key_bindings=bindings,
            is_password=is_secret,
            bottom_toolbar=self._status,
            erase_when_done=True,
            color_depth=self._prompt.color_depth,
            style=_style(),
            input=self._input,
            output=self._output,
        )

    def _keys(self) -> KeyBindings:
        bindings = KeyBindings()

        @bindings.add("enter")
        @bindings.add("c-j")  # Enter sends this until the terminal is in raw mode
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            state = buffer.complete_state
            if state is not None and state.current_completion is not None:
                buffer.complete_state = None
            elif buffer.text.strip():
                buffer.validate_and_handle()

        @bindings.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @bindings.add("c-c")
        @bindings.add("<sigint>")
        def _(event: KeyPressEvent) -> None:
            match self._widgets.interrupt(bool(event.current_buffer.text)):
                case "leave":
                    event.app.exit(result=LEFT)
                case "clear":
                    event.current_buffer.reset()
                case "stay":
                    event.app.invalidate()

        @bindings.add("c-d")
        def _(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                event.current_buffer.delete()
            else:
                event.app.exit(result=LEFT)

        return bindings

    def _bind_ends(self, bindings: KeyBindings) -> None:
        @bindings.add("c-c", eager=True)
        @bindings.add("<sigint>", eager=True)
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result=INTERRUPTED)

        @bindings.add("c-d", eager=True)
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result=LEFT)

    def _note_typing(self, _: object) -> None:
        self._typed_at = self._clock()

    def _message(self) -> AnyFormattedText:
        rows, columns = self._size()
        live = self._widgets.live(max(3, rows // 2), columns)
        parts = to_formatted_text(ANSI(f"{live}\n\n")) if live else to_formatted_text(ANSI("\n"))
        return FormattedText([*parts, ("class:prompt", PROMPT)])

    def _placeholder(self) -> AnyFormattedText:
        return FormattedText([("class:hint", self._widgets.placeholder(self._size()[1] - len(PROMPT) - 1))])

    def _status(self) -> AnyFormattedText:
        return FormattedText([("class:status", self._widgets.status(self._size()[1]))])

    def _size(self) -> tuple[int, int]:
        size = self._output.get_size()
        return size.rows, size.columns


def _is_completing() -> bool:
    """Return whether the word before the cursor is a command or a file; only then a menu takes space."""
    document = get_app().current_buffer.document
    before = document.text_before_cursor
    if before.startswith("/") and "\n" not in before:
        return True
    return before[before.rfind(" ") + 1 :].rpartition("\n")[2].startswith("@")


def _depth(colours: ColourDepth) -> ColorDepth:
    match colours:
        case "none" | "attributes":
            return ColorDepth.DEPTH_1_BIT
        case "standard":
            return ColorDepth.DEPTH_4_BIT
        case "256":
            return ColorDepth.DEPTH_8_BIT
        case "truecolor":
            return ColorDepth.DEPTH_24_BIT


def _style() -> Style:
    rules: Any = {
        "prompt": "bold ansicyan",
        "question": "bold",
        "hint": "ansibrightblack",
        "bottom-toolbar": "noreverse ansibrightblack",
        "status": "noreverse ansibrightblack",
        "completion-menu": "bg:default default",
        "completion-menu.completion": "bg:default default",
        "completion-menu.completion.current": "reverse",
        "completion-menu.meta.completion": "bg:default ansibrightblack",
        "completion-menu.meta.completion.current": "bg:default ansibrightblack",
        "scrollbar.background": "bg:default",
        "scrollbar.button": "bg:ansibrightblack",
    }
    return Style.from_dict(rules)
