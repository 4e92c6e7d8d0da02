"""The Escape key and Alt with another key are distinguished, as a terminal sends them."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from typing import Any

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.application.current import set_app
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import DummyOutput

if sys.platform == "win32":
    pytest.skip("pseudo terminals are POSIX", allow_module_level=True)

import pty

from hermes_acp.frontends.chat.screens.terminal_input import TerminalInput, is_lone_escape

pytestmark = pytest.mark.anyio
ALT_ENTER = "\x1b\r"


class Line:
    """An input line with the chat's binding of Escape."""

    def __init__(self, terminal_input: TerminalInput) -> None:
        self.stops = 0
        self.input = terminal_input
        bindings = KeyBindings()
        bindings.add("escape", eager=is_lone_escape)(self._stop)
        bindings.add("escape", "enter")(_insert_line)
        self.session: PromptSession[str] = PromptSession(
            multiline=True, key_bindings=bindings, input=terminal_input, output=DummyOutput()
        )

    @property
    def text(self) -> str:
        """The text in the line."""
        return self.session.default_buffer.text

    def take(self, keys: list[Any]) -> None:
        """Process keys that the terminal sent."""
        with set_app(self.session.app):
            self.session.app.key_processor.feed_multiple(keys)
            self.session.app.key_processor.process_keys()

    def _stop(self, _: KeyPressEvent) -> None:
        self.stops += 1


def _insert_line(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")


@pytest.fixture
def keyboard() -> Generator[tuple[int, TerminalInput]]:
    """Open a pseudo terminal; yield its controlling side and the keys as the chat reads them."""
    master, slave = pty.openpty()
    with open(slave, encoding="utf-8") as stdin:
        terminal_input = TerminalInput(stdin)
        try:
            yield master, terminal_input
        finally:
            terminal_input.close()
            os.close(master)


@pytest.mark.parametrize("word", ["/status", "yes", "hello", "fine"])
@pytest.mark.parametrize("is_flushed", [True, False])
async def test_text_typed_after_escape_stays_together(
    keyboard: tuple[int, TerminalInput], word: str, is_flushed: bool
) -> None:
    master, terminal_input = keyboard
    line = Line(terminal_input)
    os.write(master, b"\x1b")
    line.take(terminal_input.read_keys())
    if is_flushed:
        line.take(terminal_input.flush_keys())
        assert line.stops == 1, "the input line does not wait for the next key"
    for character in word:
        os.write(master, character.encode())
        line.take(terminal_input.read_keys())
    assert (line.text, line.stops) == (word, 1)


async def test_alt_and_a_key_sent_together_are_one_key(keyboard: tuple[int, TerminalInput]) -> None:
    master, terminal_input = keyboard
    line = Line(terminal_input)
    os.write(master, f"a{ALT_ENTER}b".encode())
    line.take(terminal_input.read_keys())
    line.take(terminal_input.flush_keys())
    assert (line.text, line.stops) == ("a\nb", 0)


async def test_a_key_sequence_that_arrives_in_two_parts_is_one_key(
    keyboard: tuple[int, TerminalInput],
) -> None:
    master, terminal_input = keyboard
    line = Line(terminal_input)
    for piece in ("ab", "\x1b", "[D", "c"):
        os.write(master, piece.encode())
        line.take(terminal_input.read_keys())
    assert (line.text, line.stops) == ("acb", 0)
