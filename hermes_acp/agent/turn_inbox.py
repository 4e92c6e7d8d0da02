"""Messages that reach a turn while it runs.

Knows: which messages still wait to be read, and which turn read them. Does not know: who sends, what is said.
"""

import anyio

from hermes_acp.core.messages import Part


class Letter:
    """One message to a running turn; `settled` once the turn has read it or ended without."""

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.was_read = False
        self.settled = anyio.Event()


class Inbox:
    """The letters of one turn, in the order they came."""

    def __init__(self) -> None:
        self._unread: list[Letter] = []
        self._read: list[Letter] = []

    def __bool__(self) -> bool:
        return bool(self._unread)

    def put(self, letter: Letter) -> None:
        """Add a letter."""
        self._unread.append(letter)

    def take_back(self, letter: Letter) -> None:
        """Remove a letter nobody has read."""
        if letter in self._unread:
            self._unread.remove(letter)

    def read_all(self) -> list[Letter]:
        """Give what came since the last reading."""
        fresh, self._unread = self._unread, []
        for letter in fresh:
            letter.was_read = True
        self._read += fresh
        return fresh

    def settle(self) -> None:
        """Let everybody go who waits for this turn: it has ended."""
        for letter in (*self._read, *self._unread):
            letter.settled.set()
