"""The terminal on which prompts are shown."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct
from prompt_toolkit.application import Application
from prompt_toolkit.output import ColorDepth, Output

from hermes_acp.frontends.chat.screens.terminal_input import TerminalInput

ESCAPE_TIMEOUT_S: Final = 0.05
"""An escape character is the Escape key if nothing follows within this time; otherwise, it starts a key code."""
ALT_TIMEOUT_S: Final = 0.25


class Terminal(Struct, frozen=True):
    """The input, output and clock of a terminal."""

    input: TerminalInput
    output: Output
    depth: ColorDepth
    clock: Callable[[], float]

    @property
    def size(self) -> tuple[int, int]:
        """The number of rows and columns."""
        size = self.output.get_size()
        return size.rows, size.columns


def set_timeouts(app: Application[Any]) -> None:
    """Make an application react quickly to the Escape key."""
    app.ttimeoutlen, app.timeoutlen = ESCAPE_TIMEOUT_S, ALT_TIMEOUT_S
