"""Where a conversation is shown and a person types: the two kinds of terminal behind one seam.

Knows: what a chat asks of a terminal. Does not know: how either kind does it.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final, Literal, Protocol

from msgspec import Struct


class Gesture(Enum):
    """What a person, or the chat itself, did instead of writing something."""

    LEFT = "left"
    INTERRUPTED = "interrupted"
    CALLED_AWAY = "called_away"


LEFT: Final = Gesture.LEFT
INTERRUPTED: Final = Gesture.INTERRUPTED
CALLED_AWAY: Final = Gesture.CALLED_AWAY


Reaction = Literal["leave", "clear", "stay"]


class ScreenWidgets(Struct, frozen=True):
    """What a terminal draws around the line that is being typed, asked for whenever it draws.

    `live(rows, columns)` is the moving part above, `status(columns)` the line below, `invitation(columns)` what stands
    in the line while nothing is typed. `interrupt(has_text)` is called for Ctrl+C, `has_text` telling whether something
    was typed, and says what becomes of the line.
    """

    live: Callable[[int, int], str]
    status: Callable[[int], str]
    invitation: Callable[[int], str]
    interrupt: Callable[[bool], Reaction]


class Screen(Protocol):
    """One terminal. Reading is for one task alone; whatever it waits for, `cancel_read` ends the wait."""

    @property
    def can_ask(self) -> bool:
        """Whether a person is there."""
        ...

    async def write(self, text: str) -> None:
        """Write lines that stay, above what is being typed."""
        ...

    def refresh(self) -> None:
        """Draw again what moves."""
        ...

    async def read_prompt(self) -> str | Gesture:
        """Wait for a prompt. What was typed and not sent is kept for the next time."""
        ...

    async def read_key(self, question: str, keys: Sequence[str]) -> str | Gesture:
        """Put a question that one key answers: one of the keys, each with its meaning."""
        ...

    async def read_line(self, question: str, *, is_secret: bool = False, given: str = "") -> str | Gesture:
        """Put a question that a line answers; it goes into no history."""
        ...

    @property
    def can_edit(self) -> bool:
        """Whether there is an editor for longer texts."""
        ...

    async def edit(self, text: str, name: str) -> str | None:
        """Have a text changed in the person's own editor, as a file of that name; None where that failed."""
        ...

    def cancel_read(self) -> None:
        """Have whoever reads come back at once."""
        ...
