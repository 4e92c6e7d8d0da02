"""Prompts for questions below the conversation, which are answered with a key or a line."""

from collections.abc import Sequence
from functools import partial
from textwrap import wrap
from typing import Final

import anyio
from msgspec import Struct
from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import AnyFormattedText, FormattedText
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from hermes_acp.frontends.chat.screens.screen import INTERRUPTED, LEFT, Choice, Gesture
from hermes_acp.frontends.chat.screens.terminal import Terminal, set_timeouts
from hermes_acp.frontends.chat.screens.terminal_input import is_lone_escape
from hermes_acp.frontends.chat.screens.terminal_style import input_style

LONE_KEY_S: Final = 0.4
"""A key counts as an answer if no other key follows within this time, as it would in a sentence."""
SERIES_KEY_S: Final = 0.15
"""The same time in a series of questions, which people answer quickly; at 80 words a minute, a key follows sooner."""
SETTLED_S: Final = 0.3
"""The time after Tab has moved to a question in which keys still go to the input line."""
SELECTION_S: Final = 0.3
"""The time that a choice must be selected before Enter accepts it: a quick Up and Enter means to repeat a prompt."""


class Typed(Struct, frozen=True):
    """Text that was typed for the input line, not for the question."""

    text: str


Answer = str | Gesture | Typed
Prompt = PromptSession[Answer]


class QuestionPrompts:
    """Creates the prompts of one terminal; `status` draws the line below them."""

    def __init__(self, terminal: Terminal, status: AnyFormattedText) -> None:
        self._terminal = terminal
        self._status = status

    def for_line(self, question: str, *, is_secret: bool) -> Prompt:
        """Return a prompt for a question that is answered with a line."""
        bindings = KeyBindings()
        self._bind_ends(bindings)
        return self._prompt(bindings, self._drawn(question), is_secret=is_secret)

    def for_key(
        self, question: str, choices: Sequence[Choice], *, is_in_series: bool, typed_at: float
    ) -> Prompt:
        """Return a prompt for a question that is answered with a single key; if the person types, it returns the text.

        `typed_at` is the time of the last key press in the input line.
        """
        keys = _LoneKeys(choices, self._terminal, typed_at, is_in_series=is_in_series)

        def message() -> AnyFormattedText:
            return self._drawn(f"{question}{keys.shown}")

        bindings = keys.bindings()
        self._bind_ends(bindings)
        return self._prompt(bindings, message)

    def _drawn(self, question: str) -> FormattedText:
        lines = wrap(question, self._terminal.size[1] - 1, subsequent_indent="  ")
        return FormattedText([("class:question", "\n".join(lines) + " ")])

    def _prompt(self, bindings: KeyBindings, message: AnyFormattedText, *, is_secret: bool = False) -> Prompt:
        prompt: Prompt = PromptSession(
            message,
            key_bindings=bindings,
            is_password=is_secret,
            bottom_toolbar=self._status,
            erase_when_done=True,
            color_depth=self._terminal.depth,
            style=input_style(),
            input=self._terminal.input,
            output=self._terminal.output,
        )
        set_timeouts(prompt.app)
        return prompt

    def _bind_ends(self, bindings: KeyBindings) -> None:
        @bindings.add("c-c", eager=True)
        @bindings.add("<sigint>", eager=True)
        @bindings.add("escape", eager=is_lone_escape)
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result=INTERRUPTED)

        @bindings.add("c-d", eager=True)
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result=LEFT)

        @bindings.add("c-z", eager=True)
        def _(event: KeyPressEvent) -> None:
            event.app.create_background_task(self._terminal.input.suspend())


class _LoneKeys:
    """The keys of a question, which is answered with a single key, or with Enter on a selected choice.

    In a series, the same key is ignored if it is pressed again too early: nobody has read the next question yet.
    """

    def __init__(
        self, choices: Sequence[Choice], terminal: Terminal, typed_at: float, *, is_in_series: bool
    ) -> None:
        self._choices = {choice.key: choice for choice in choices}
        self._typed_at = typed_at
        self._is_in_series = is_in_series
        self._selectable = [choice for choice in choices if choice.label]
        self._clock = terminal.clock
        self._selected: Choice | None = None
        self._selected_at = 0.0
        self._pressed = ""

    @property
    def shown(self) -> str:
        """The answer that is about to be given."""
        if self._pressed:
            return self._choices[self._pressed.lower()].label or self._pressed
        return f"▸ {self._selected.label}" if self._selected else ""

    def bindings(self) -> KeyBindings:
        """Return the key bindings of the prompt."""
        bindings = KeyBindings()
        bindings.add("up", eager=True)(partial(self._select, step=-1))
        bindings.add("down", eager=True)(partial(self._select, step=1))
        bindings.add("enter", eager=True)(self._confirm)
        bindings.add("c-j", eager=True)(self._confirm)
        bindings.add("<any>")(self._press)

        @bindings.add("<bracketed-paste>", eager=True)
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result=Typed(self._pressed + event.data))

        return bindings

    def _select(self, _: KeyPressEvent, step: int) -> None:
        if not self._selectable:
            return
        at = self._selectable.index(self._selected) if self._selected else (-1 if step > 0 else 0)
        self._selected = self._selectable[(at + step) % len(self._selectable)]
        self._selected_at = self._clock()
        self._pressed = ""

    def _confirm(self, event: KeyPressEvent) -> None:
        if self._pressed:
            event.app.exit(result=self._pressed.lower())
        elif self._selected and self._clock() - self._selected_at >= SELECTION_S:
            event.app.exit(result=self._selected.key)

    def _press(self, event: KeyPressEvent) -> None:
        typed = "".join(press.data for press in event.key_sequence)
        if not typed.isprintable():
            return
        is_of_the_line = not self._is_in_series and self._clock() - self._typed_at < SETTLED_S
        is_text = is_of_the_line or typed.lower() not in self._choices
        if self._is_in_series and typed == self._pressed:
            return
        if self._pressed or is_text:
            event.app.exit(result=Typed(self._pressed + typed))
            return
        self._pressed = typed
        event.app.create_background_task(self._answer_if_alone(event.app))

    async def _answer_if_alone(self, app: Application[Answer]) -> None:
        pressed = self._pressed
        await anyio.sleep(SERIES_KEY_S if self._is_in_series else LONE_KEY_S)
        if self._pressed is pressed and not app.is_done:
            app.exit(result=pressed.lower())
