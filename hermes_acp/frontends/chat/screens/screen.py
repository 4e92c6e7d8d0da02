"""The interface of the two kinds of terminal."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final, Literal, Protocol

from msgspec import Struct


class Gesture(Enum):
    """What happened instead of input: the person left or interrupted, or the chat cancelled the read."""

    LEFT = "left"
    INTERRUPTED = "interrupted"
    CALLED_AWAY = "called_away"


LEFT: Final = Gesture.LEFT
INTERRUPTED: Final = Gesture.INTERRUPTED
CALLED_AWAY: Final = Gesture.CALLED_AWAY


Reaction = Literal["leave", "clear", "stay"]


class ScreenWidgets(Struct, frozen=True):
    """What a terminal draws around the input line, computed on each redraw.

    `live(rows, columns)` is the part above, `status(columns)` the line below, `placeholder(columns)` the hint in
    the empty line. `interrupt(has_text)` is called for Ctrl+C and returns what happens to the line.
    """

    live: Callable[[int, int], str]
    status: Callable[[int], str]
    placeholder: Callable[[int], str]
    interrupt: Callable[[bool], Reaction]


class Screen(Protocol):
    """One terminal. Only one task may read at a time; `cancel_read` ends its wait."""

    @property
    def can_ask(self) -> bool:
        """Whether a person is there."""
        ...

    async def write(self, text: str) -> None:
        """Write lines that stay, above the input line."""
        ...

    def refresh(self) -> None:
        """Redraw what moves."""
        ...

    async def read_prompt(self) -> str | Gesture:
        """Wait for a prompt. Text that was typed but not sent is kept for the next call."""
        ...

    async def read_key(self, question: str, keys: Sequence[str]) -> str | Gesture:
        """Ask a question that is answered by one of the keys."""
        ...

    async def read_line(self, question: str, *, is_secret: bool = False, given: str = "") -> str | Gesture:
        """Ask a question that a line answers; the line goes into no history."""
        ...

    @property
    def can_edit(self) -> bool:
        """Whether there is an editor for longer texts."""
        ...

    async def edit(self, text: str, name: str) -> str | None:
        """Let the person edit a text as a file of that name; return None if the editor failed."""
        ...

    def cancel_read(self) -> None:
        """Make the pending read return CALLED_AWAY."""
        ...
