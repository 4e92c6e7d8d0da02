"""Messages that reach a turn while it runs.

Knows: which messages still wait to be read, and which turn read them. Does not know: who sends, what is said.
"""

import anyio

from hermes_acp.core.messages import Part


class InboxMessage:
    """One message to a running turn; `settled` once the turn has read it or ended without."""

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.was_read = False
        self.settled = anyio.Event()


class Inbox:
    """The letters of one turn, in the order they came."""

    def __init__(self) -> None:
        self._unread: list[InboxMessage] = []
        self._read: list[InboxMessage] = []

    def __bool__(self) -> bool:
        return bool(self._unread)

    def put(self, message: InboxMessage) -> None:
        """Add a letter."""
        self._unread.append(message)

    def take_back(self, message: InboxMessage) -> None:
        """Remove a letter nobody has read."""
        if message in self._unread:
            self._unread.remove(message)

    def read_all(self) -> list[InboxMessage]:
        """Return what came since the last reading."""
        fresh, self._unread = self._unread, []
        for message in fresh:
            message.was_read = True
        self._read += fresh
        return fresh

    def settle(self) -> None:
        """Let everybody go who waits for this turn: it has ended."""
        for message in (*self._read, *self._unread):
            message.settled.set()
