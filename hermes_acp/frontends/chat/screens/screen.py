"""The interface that all screens of the chat implement."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final, Literal, Protocol

from msgspec import Struct


class Gesture(Enum):
    """The result of a read without input: the person left or interrupted, or the chat cancelled the read.

    READY is used only inside a screen: the person is ready to answer the waiting question.
    """

    LEFT = "left"
    INTERRUPTED = "interrupted"
    CALLED_AWAY = "called_away"
    READY = "ready"


LEFT: Final = Gesture.LEFT
INTERRUPTED: Final = Gesture.INTERRUPTED
CALLED_AWAY: Final = Gesture.CALLED_AWAY
READY: Final = Gesture.READY


Reaction = Literal["leave", "clear", "stay"]


Asking = Literal["unexpected", "again", "in_series"]
"""The context of a question: unexpected, asked again after the person made a change, or part of a series that the
person is working through.
"""


class Choice(Struct, frozen=True):
    """One answer to a question: its key, and its label if it can also be selected with the arrow keys."""

    key: str
    label: str = ""


class PersonActions(Protocol):
    """The handlers of non-text keys."""

    def interrupt(self, has_text: bool) -> Reaction:
        """Handle Ctrl+C; return what to do with the line."""
        ...

    def key_pressed(self) -> None:
        """Handle any key except Ctrl+C."""
        ...

    def warn_before(self, line: str) -> str:
        """Return a warning about a line that is about to be sent, or an empty string."""
        ...

    def stop_turn(self) -> None:
        """Discard a recording, if there is one; otherwise, stop the running turn."""
        ...

    def speak(self) -> None:
        """Start or end the recording of a prompt."""
        ...

    def miss_editor(self) -> None:
        """Report that no text editor is configured."""
        ...

    async def submit(self, line: str) -> bool:
        """Send a line while a question waits; return False if the chat is ending."""
        ...

    async def cycle_mode(self) -> None:
        """Switch to the next permission mode."""
        ...

    async def expand_output(self) -> None:
        """Show the last tool call's output in full."""
        ...


class ScreenWidgets(Struct, frozen=True):
    """The parts that a terminal draws around the input line on each redraw, and the handlers of its keys.

    `live(rows, columns)` is the part above, `status(columns)` the line below, `placeholder(columns)` the hint in
    the empty line.
    """

    live: Callable[[int, int], str]
    status: Callable[[int], str]
    placeholder: Callable[[int], str]
    actions: Callable[[], PersonActions]


class Screen(Protocol):
    """One terminal. Only one task may read at a time; `cancel_read` ends its wait.

    A question that nobody expects is answered only by keys that were meant for it, not by what the person types into
    the input line at that moment.
    """

    @property
    def can_ask(self) -> bool:
        """Whether a person is present."""
        ...

    async def write(self, text: str) -> None:
        """Write lines that stay, above the input line."""
        ...

    def refresh(self) -> None:
        """Redraw the live parts."""
        ...

    async def read_prompt(self) -> str | Gesture:
        """Wait for a prompt. Text that was typed but not sent is kept for the next call."""
        ...

    async def read_key(
        self, question: str, choices: Sequence[Choice], asking: Asking = "unexpected"
    ) -> str | Gesture:
        """Ask a question that is answered with one key; return the key of the choice."""
        ...

    async def read_line(
        self, question: str, *, is_secret: bool = False, is_expected: bool = False
    ) -> str | Gesture:
        """Ask a question that is answered with a line, which is not added to the history."""
        ...

    def put_back(self, text: str) -> None:
        """Put unused text back into the input line, before its current text."""
        ...

    def insert(self, text: str) -> None:
        """Insert words at the cursor of the input line, separated from the word before it."""
        ...

    def without_pasted(self, text: str) -> str:
        """Return a prompt with markers instead of the long texts that were pasted into it."""
        ...

    def copy(self, text: str) -> bool:
        """Ask the terminal to copy text to the clipboard; return False if it cannot."""
        ...

    @property
    def can_edit(self) -> bool:
        """Whether a text editor is configured."""
        ...

    async def edit(self, text: str, name: str) -> str | None:
        """Let the person edit text in a file with this name; return None if the editor failed."""
        ...

    def cancel_read(self) -> None:
        """Make the pending read return CALLED_AWAY."""
        ...
