"""Read the keys of a terminal that stays in raw mode for the whole chat."""

import os
import select
import signal
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final, TextIO

from prompt_toolkit.application import get_app, in_terminal
from prompt_toolkit.filters import Condition
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

ALT_ENTER: Final = "\x1b\r"
SHIFT_ENTER: Final = ("\x1b[13;2u", "\x1b[27;2;13~")
"""The codes for Shift+Enter of terminals that distinguish it from Enter."""
ESCAPE: Final = "\x1b"
LONE_ESCAPE: Final = KeyPress(Keys.Escape, "lone")
"""The Escape key itself. For Alt with another key, terminals send an escape and the key at once."""
CODE_STARTS: Final = ("[", "O", ESCAPE)
"""The characters that follow an escape in a key code; a slow connection may deliver the code in two parts."""


@Condition
def is_lone_escape() -> bool:
    """Return whether the last key is the Escape key, so that there is no second key to wait for."""
    return get_app().key_processor.key_buffer[-1:] == [LONE_ESCAPE]


class TerminalInput(Vt100Input):
    """Reads the keys of one terminal.

    Between prompts, a terminal in its usual mode would echo keys and turn Enter into Ctrl+J, so raw mode lasts until
    `close`. Keys typed before the chat is ready are kept.
    """

    def __init__(self, stdin: TextIO) -> None:
        super().__init__(stdin)
        self._raw = super().raw_mode()
        self._raw.__enter__()
        self._ends_in_escape = False
        if self._is_readable():
            store_typeahead(self, [_as_raw(key) for key in self.read_keys()])

    def raw_mode(self) -> AbstractContextManager[None]:
        """Do nothing, because raw mode is already set."""
        return nullcontext()

    def cooked_mode(self) -> AbstractContextManager[None]:
        """Do nothing, so that keys typed while something is written are read unchanged."""
        return nullcontext()

    @contextmanager
    def released(self) -> Generator[None]:
        """Let another program use the terminal for the length of a block."""
        self._raw.__exit__(None, None, None)
        try:
            yield
        finally:
            self._raw.__enter__()

    async def suspend(self) -> None:
        """Suspend this process as Ctrl+Z does in a shell; once it continues, set the mode again and redraw.

        The agent runs in a separate process session and is not suspended.
        """
        async with in_terminal():
            with self.released():
                os.killpg(os.getpgrp(), signal.SIGTSTP)

    def has_pending_keys(self) -> bool:
        """Return whether there are key presses that have not been read yet."""
        ahead = get_typeahead(self)
        store_typeahead(self, ahead)
        return bool(ahead) or self._is_readable()

    def read_keys(self) -> list[KeyPress]:
        """Read the keys pressed so far; Shift+Enter is read as Alt+Enter."""
        data = self.stdin_reader.read()
        for sent in SHIFT_ENTER:
            data = data.replace(sent, ALT_ENTER)
        is_next_key = bool(data) and self._ends_in_escape and not data.startswith(CODE_STARTS)
        before = self.flush_keys() if is_next_key else []
        self.vt100_parser.feed(data)
        self._ends_in_escape = data.endswith(ESCAPE) if data else self._ends_in_escape
        keys, self._buffer = self._buffer, []
        return [*before, *keys]

    def flush_keys(self) -> list[KeyPress]:
        """Return the keys from incomplete escape sequences; an escape at the end is the Escape key."""
        keys = super().flush_keys()
        is_escape = self._ends_in_escape and [key.key for key in keys[-1:]] == [Keys.Escape]
        self._ends_in_escape = False
        return [*keys[:-1], LONE_ESCAPE] if is_escape else keys

    def close(self) -> None:
        """Restore the terminal's mode."""
        self._raw.__exit__(None, None, None)

    def _is_readable(self) -> bool:
        return bool(select.select([self.fileno()], [], [], 0)[0])


def _as_raw(key: KeyPress) -> KeyPress:
    """Convert a key that was typed in the terminal's usual mode, which turns Enter into Ctrl+J, to raw mode."""
    return KeyPress(Keys.ControlM, "\r") if key.key == Keys.ControlJ else key
