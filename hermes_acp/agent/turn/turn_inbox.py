"""Messages that arrive while a turn runs."""

import anyio

from hermes_acp.core.messages import Part


class InboxMessage:
    """A message to a running turn; `settled` is set once the turn has read it, or has ended without reading it."""

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.was_read = False
        self.settled = anyio.Event()


class Inbox:
    """The messages of one turn, in order of arrival."""

    def __init__(self) -> None:
        self._unread: list[InboxMessage] = []
        self._read: list[InboxMessage] = []

    def __bool__(self) -> bool:
        return bool(self._unread)

    def put(self, message: InboxMessage) -> None:
        """Add a message."""
        self._unread.append(message)

    def take_back(self, message: InboxMessage) -> None:
        """Remove an unread message."""
        if message in self._unread:
            self._unread.remove(message)

    def read_all(self) -> list[InboxMessage]:
        """Return the messages that arrived since the last call."""
        fresh, self._unread = self._unread, []
        for message in fresh:
            message.was_read = True
        self._read += fresh
        return fresh

    def settle(self) -> None:
        """Release everything that waits for this turn, which has ended."""
        for message in (*self._read, *self._unread):
            message.settled.set()
