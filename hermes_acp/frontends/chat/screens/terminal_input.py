"""The keyboard of a terminal that stays in raw mode for the whole chat."""

import select
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final, TextIO

from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

ALT_ENTER: Final = "\x1b\r"
SHIFT_ENTER: Final = ("\x1b[13;2u", "\x1b[27;2;13~")
"""What terminals send for Shift+Enter, if they send anything else than for Enter."""


class TerminalInput(Vt100Input):
    """Keys of one terminal.

    Between two prompts a terminal in its usual mode would echo keys and turn Enter into Ctrl+J, so raw mode lasts until
    `close`. Keys typed before the chat was ready are kept.
    """

    def __init__(self, stdin: TextIO) -> None:
        super().__init__(stdin)
        self._raw = super().raw_mode()
        self._raw.__enter__()
        if self._is_readable():
            store_typeahead(self, [_as_raw(key) for key in self.read_keys()])

    def raw_mode(self) -> AbstractContextManager[None]:
        """Do nothing: the mode is set already."""
        return nullcontext()

    def cooked_mode(self) -> AbstractContextManager[None]:
        """Do nothing, so that keys typed while something is written are read unchanged."""
        return nullcontext()

    @contextmanager
    def released(self) -> Generator[None]:
        """Leave the terminal to another program for the length of a block."""
        self._raw.__exit__(None, None, None)
        try:
            yield
        finally:
            self._raw.__enter__()

    def has_pending_keys(self) -> bool:
        """Return whether keys were pressed that nobody has read yet."""
        ahead = get_typeahead(self)
        store_typeahead(self, ahead)
        return bool(ahead) or self._is_readable()

    def read_keys(self) -> list[KeyPress]:
        """Read the keys pressed so far; Shift+Enter counts as Alt+Enter."""
        data = self.stdin_reader.read()
        for sent in SHIFT_ENTER:
            data = data.replace(sent, ALT_ENTER)
        self.vt100_parser.feed(data)
        keys, self._buffer = self._buffer, []
        return keys

    def close(self) -> None:
        """Restore the terminal's mode."""
        self._raw.__exit__(None, None, None)

    def _is_readable(self) -> bool:
        return bool(select.select([self.fileno()], [], [], 0)[0])


def _as_raw(key: KeyPress) -> KeyPress:
    """Return a key typed in the terminal's usual mode, which turns Enter into Ctrl+J, as it is in raw mode."""
    return KeyPress(Keys.ControlM, "\r") if key.key == Keys.ControlJ else key
