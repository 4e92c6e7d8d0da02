"""The input line keeps text that is returned to it while a read ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator

import pytest
from prompt_toolkit.completion import DummyCompleter
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.output import ColorDepth, DummyOutput

if sys.platform == "win32":
    pytest.skip("pseudo terminals are POSIX", allow_module_level=True)

import pty

from hermes_acp.frontends.chat.screens.input_line import InputLine
from hermes_acp.frontends.chat.screens.screen import CALLED_AWAY, PersonActions, ScreenWidgets
from hermes_acp.frontends.chat.screens.terminal import Terminal
from hermes_acp.frontends.chat.screens.terminal_input import TerminalInput

pytestmark = pytest.mark.anyio


@pytest.fixture
def line() -> Generator[InputLine]:
    master, slave = pty.openpty()
    with open(slave, encoding="utf-8") as stdin:
        keys = TerminalInput(stdin)
        terminal = Terminal(keys, DummyOutput(), ColorDepth.DEPTH_1_BIT, time.monotonic)
        widgets = ScreenWidgets(lambda _rows, _columns: "", lambda _: "", lambda _: "", _no_keys)
        try:
            yield InputLine(terminal, widgets, DummyCompleter(), InMemoryHistory())
        finally:
            keys.close()
            os.close(master)


def _no_keys() -> PersonActions:
    raise AssertionError("no key is pressed")


async def test_text_returned_while_a_line_is_sent_is_in_the_next_line(line: InputLine) -> None:
    def send() -> None:
        line.session.default_buffer.text = "sent"
        line.session.app.exit(result="sent")
        line.put_back("unread")

    assert await line.session.prompt_async(pre_run=send) == "sent"
    assert line.take_draft().text == "unread"


async def test_text_returned_while_a_read_is_cancelled_precedes_the_typed_text(
    line: InputLine,
) -> None:
    def call_away() -> None:
        line.session.default_buffer.text = "typed"
        line.leave(CALLED_AWAY)
        line.put_back("unread")

    assert await line.session.prompt_async(pre_run=call_away) is CALLED_AWAY
    line.keep_draft()
    assert line.take_draft().text == "unread\ntyped"
