"""What the full-screen chat needs of its terminal beyond what textual does."""

from typing import Final

from rich.traceback import Traceback
from textual.app import App

MOUSE_MODES: Final = (1000, 1003, 1015, 1006)


class TerminalApp(App[None]):
    """An application that can leave the mouse to the terminal, and whose tracebacks hold no values."""

    def __init__(self) -> None:
        super().__init__(ansi_color=True)
        self._has_mouse = True

    def toggle_mouse(self) -> bool:
        """Let the terminal or the application handle the mouse; return whether the application does."""
        self._has_mouse = not self._has_mouse
        sign = "h" if self._has_mouse else "l"
        if self._driver is not None:
            self._driver.write("".join(f"\x1b[?{mode}{sign}" for mode in MOUSE_MODES))
            self._driver.flush()
        return self._has_mouse

    def _fatal_error(self) -> None:
        """Report a defect without the values of variables, which may be secret."""
        self.bell()
        self._exit_renderables.append(Traceback(show_locals=False))
        self._close_messages_no_wait()
