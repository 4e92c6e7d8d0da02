"""Terminal functions that the full-screen chat needs but Textual lacks."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from rich.traceback import Traceback
from textual.app import App

from hermes_acp.frontends.chat.full_screen import messages

MOUSE_MODES: Final = (1000, 1003, 1015, 1006)


class TerminalApp(App[None]):
    """An application that can show notes and release the mouse and the terminal; its tracebacks contain no values."""

    def __init__(self) -> None:
        super().__init__(ansi_color=True)
        self._has_mouse = True
        self._note = ""
        self._is_changed = True

    def changed(self, note: str = "") -> None:
        """Request a redraw, with a note in the status line. May be called by any task."""
        self._is_changed = True
        self._note = note or self._note

    @asynccontextmanager
    async def released(self) -> AsyncGenerator[None]:
        """Let another program use the terminal for the length of a block; nothing is drawn in the meantime."""
        with self.batch_update():
            with self.suspend():
                yield
            self._has_mouse = True
        self.refresh(layout=True)

    def _action_mouse(self) -> None:
        """Switch the mouse between the terminal and the application."""
        self._has_mouse = not self._has_mouse
        sign = "h" if self._has_mouse else "l"
        if self._driver is not None:
            self._driver.write("".join(f"\x1b[?{mode}{sign}" for mode in MOUSE_MODES))
            self._driver.flush()
        self.changed(messages.MOUSE_ON if self._has_mouse else messages.MOUSE_OFF)

    def _fatal_error(self) -> None:
        """Report a bug without the values of variables, which may be secret."""
        self.bell()
        self._exit_renderables.append(Traceback(show_locals=False))
        self._close_messages_no_wait()
