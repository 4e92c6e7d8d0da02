"""Bind the non-text keys of the input line."""

from collections.abc import Awaitable, Callable
from typing import Any

from prompt_toolkit.application import in_terminal
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from hermes_acp.frontends.chat.screens.external_editor import PROMPT_FILE, ExternalEditor
from hermes_acp.frontends.chat.screens.input_line import InputLine
from hermes_acp.frontends.chat.screens.screen import LEFT, READY, Gesture, PersonActions
from hermes_acp.frontends.chat.screens.terminal_input import TerminalInput, is_lone_escape


class InputKeys:
    """The key bindings of an input line; `actions` returns the handlers of keys that affect the chat."""

    def __init__(
        self,
        line: InputLine,
        actions: Callable[[], PersonActions],
        terminal_input: TerminalInput,
        editor: ExternalEditor | None,
    ) -> None:
        self._line = line
        self._actions = actions
        self._input = terminal_input
        self._editor = editor
        self._completed_with_tab = False
        self._is_in_editor = False
        self._is_interrupt = False
        self._leaves_with: Gesture | None = None
        line.session.key_bindings = self._bindings()
        line.session.app.key_processor.after_key_press += self._note_key

    def leave(self, answer: Gesture) -> None:
        """Make the pending read return, after the person's editor has been closed."""
        if self._is_in_editor:
            self._leaves_with = answer
        else:
            self._line.leave(answer)

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        typing = ~is_searching

        def on(*keys: str, **filters: Any) -> Callable[[Callable[[KeyPressEvent], Any]], Any]:
            return bindings.add(*keys, filter=filters.get("filter", typing))

        on("enter")(self._enter)
        on("c-c")(self._interrupt)
        on("<sigint>")(self._interrupt)
        on("c-d")(self._end)
        on("c-z")(self._suspend)
        bindings.add("escape", filter=typing, eager=is_lone_escape)(self._escape)
        on("tab")(self._tab)
        on("s-tab")(self._shift_tab)
        on("c-g")(self._open_editor)
        on("c-t")(self._speak)
        on("backspace", filter=typing & Condition(self._is_after_marker))(self._delete_marker)
        on("<bracketed-paste>")(self._paste)
        on("up", filter=typing & Condition(self._has_menu))(lambda event: self._move_in_menu(event, -1))
        on("down", filter=typing & Condition(self._has_menu))(lambda event: self._move_in_menu(event, 1))

        @bindings.add("c-j", filter=typing)
        @bindings.add("escape", "enter", filter=typing)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @bindings.add("c-o", filter=typing)
        def _(event: KeyPressEvent) -> None:
            _run(event, self._actions().expand_output)

        return bindings

    def _enter(self, event: KeyPressEvent) -> None:
        """Accept the selected completion, or send the line."""
        buffer = event.current_buffer
        if self._has_selected(event) and not self._completed_with_tab:
            buffer.complete_state = None
        elif buffer.text.strip():
            self._line.submit()

    def _note_key(self, _: object) -> None:
        """Report a key that was not Ctrl+C."""
        if not self._is_interrupt:
            self._actions().key_pressed()
        self._is_interrupt = False

    def _interrupt(self, event: KeyPressEvent) -> None:
        self._is_interrupt = True
        match self._actions().interrupt(bool(event.current_buffer.text)):
            case "leave":
                event.app.exit(result=LEFT)
            case "clear":
                event.current_buffer.reset()
            case "stay":
                event.app.invalidate()

    def _end(self, event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.delete()
        else:
            event.app.exit(result=LEFT)

    def _suspend(self, event: KeyPressEvent) -> None:
        _run(event, self._input.suspend)

    def _escape(self, event: KeyPressEvent) -> None:
        """Close the menu, or stop the turn."""
        if event.current_buffer.complete_state:
            event.current_buffer.cancel_completion()
        else:
            self._actions().stop_turn()

    def _tab(self, event: KeyPressEvent) -> None:
        """Go to the waiting question, or complete the word."""
        buffer = event.current_buffer
        if self._line.question_waits:
            self.leave(READY)
            return
        self._completed_with_tab = True
        state = buffer.complete_state
        if state is None:
            buffer.start_completion(select_first=True)
            return
        buffer.complete_next()
        if len(state.completions) == 1:
            buffer.complete_state = None

    def _shift_tab(self, event: KeyPressEvent) -> None:
        """Select the previous completion, or switch to the next mode."""
        if event.current_buffer.complete_state:
            event.current_buffer.complete_previous()
        else:
            _run(event, self._actions().cycle_mode)

    def _move_in_menu(self, event: KeyPressEvent, step: int) -> None:
        self._completed_with_tab = False
        buffer = event.current_buffer
        if step > 0:
            buffer.complete_next()
        else:
            buffer.complete_previous()

    def _paste(self, event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(self._line.pasted.collapse(event.data))

    def _delete_marker(self, event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        buffer.delete_before_cursor(len(self._line.pasted.marker_before(buffer.document.text_before_cursor)))

    def _speak(self, event: KeyPressEvent) -> None:
        self._actions().speak()

    def _open_editor(self, event: KeyPressEvent) -> None:
        if self._editor is None:
            self._actions().miss_editor()
        elif not self._is_in_editor:
            _run(event, self._edit)

    async def _edit(self) -> None:
        assert self._editor is not None
        buffer = self._line.session.default_buffer
        self._is_in_editor = True
        try:
            async with in_terminal():
                with self._input.released():
                    text = await self._editor.change(self._line.pasted.expand(buffer.text), PROMPT_FILE)
        finally:
            self._is_in_editor = False
        if text is not None:
            buffer.text = self._line.pasted.restore(text.removesuffix("\n"))
            buffer.cursor_position = len(buffer.text)
        if self._leaves_with is not None:
            answer, self._leaves_with = self._leaves_with, None
            self._line.leave(answer)

    def _has_menu(self) -> bool:
        return self._line.session.default_buffer.complete_state is not None

    def _has_selected(self, event: KeyPressEvent) -> bool:
        state = event.current_buffer.complete_state
        return state is not None and state.current_completion is not None

    def _is_after_marker(self) -> bool:
        return bool(
            self._line.pasted.marker_before(self._line.session.default_buffer.document.text_before_cursor)
        )


def _run(event: KeyPressEvent, act: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await act()

    event.app.create_background_task(run())
