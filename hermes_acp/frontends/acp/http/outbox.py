"""Queue the messages for one stream of a client: they are numbered, and retained for a while after sending.

Source: `Last-Event-ID` of the HTML standard, section 9.2 (server-sent events).
"""

from collections import deque
from itertools import islice
from typing import Final

import anyio
from msgspec import Struct

BATCH_BYTES: Final = 1 << 16


class MessagesExpired(Exception):
    """The stream cannot resume at the requested position, because the messages after it are no longer available."""


class NeverSent(Exception):
    """The reader names a message that was never sent on this stream."""


class NumberedMessage(Struct, frozen=True):
    """One message and its position in its stream, counted from 1."""

    number: int
    frame: bytes


class BufferAccount:
    """Counts the bytes that a connection buffers for its client, over all its streams."""

    def __init__(self, unsent_limit_bytes: int, kept_limit_bytes: int) -> None:
        self.unsent_bytes = 0
        self.streams = 0
        self._unsent_limit_bytes = unsent_limit_bytes
        self._kept_limit_bytes = kept_limit_bytes
        self._changed: anyio.Event | None = None

    @property
    def kept_bytes_a_stream(self) -> int:
        """The number of bytes of sent data that each stream may retain."""
        return self._kept_limit_bytes // max(1, self.streams)

    def change(self, size_bytes: int) -> None:
        """Count bytes that were queued (positive) or sent (negative)."""
        self.unsent_bytes += size_bytes
        if self._changed is not None and self.unsent_bytes < self._unsent_limit_bytes:
            self._changed.set()
            self._changed = None

    async def wait_for_room(self) -> None:
        """Wait until the client has read enough for more data to be queued."""
        while self.unsent_bytes >= self._unsent_limit_bytes:
            if self._changed is None:
                self._changed = anyio.Event()
            await self._changed.wait()

    def release(self) -> None:
        """Wake everyone waiting for room, because nobody will read any more."""
        self.unsent_bytes = 0
        self.change(0)


class Outbox:
    """The messages of one stream. It has at most one reader; a new reader displaces the previous one."""

    def __init__(self, account: BufferAccount) -> None:
        self._account = account
        self._kept: deque[bytes] = deque()
        self._kept_bytes = 0
        self._unsent: deque[bytes] = deque()
        self._next = 1
        self._grown = anyio.Event()
        self._reading: OutboxReader | None = None
        self.is_finished = False
        account.streams += 1

    def put(self, frame: bytes) -> None:
        """Queue a message."""
        self._unsent.append(frame)
        self._account.change(len(frame))
        self._wake()

    def finish(self) -> None:
        """End the stream after the queued messages."""
        if not self.is_finished:
            self.is_finished = True
            self._account.streams -= 1
            self._wake()

    def open(self, after: int | None) -> "OutboxReader":
        """Start reading after message `after`; None continues where the last reader stopped.

        Raises MessagesExpired or NeverSent.
        """
        if after is not None:
            self._rewind(after)
        self._reading = OutboxReader(self)
        self._wake()
        return self._reading

    def _rewind(self, after: int) -> None:
        if after >= self._next:
            raise NeverSent
        if after < self._next - 1 - len(self._kept):
            raise MessagesExpired
        while self._next - 1 > after:
            frame = self._kept.pop()
            self._kept_bytes -= len(frame)
            self._unsent.appendleft(frame)
            self._next -= 1
            self._account.change(len(frame))

    async def next_of(self, reader: "OutboxReader") -> list[NumberedMessage]:
        """Wait for messages; an empty list means the end. They count as sent only once `sent` confirms them."""
        while reader is self._reading and not self._unsent and not self.is_finished:
            await self._grown.wait()
        if reader is not self._reading:
            return []
        batch: list[NumberedMessage] = []
        room_bytes = BATCH_BYTES
        for place, frame in enumerate(islice(self._unsent, 256)):
            if batch and len(frame) > room_bytes:
                break
            batch.append(NumberedMessage(self._next + place, frame))
            room_bytes -= len(frame)
        return batch

    def sent(self, reader: "OutboxReader", through: int) -> None:
        """Count messages up to `through` as sent, if this is still the stream's current reader."""
        if reader is not self._reading:
            return
        while self._next <= through:
            frame = self._unsent.popleft()
            self._next += 1
            self._kept.append(frame)
            self._kept_bytes += len(frame)
            self._account.change(-len(frame))
        if not self._unsent:
            self._wake()
        while self._kept_bytes > self._account.kept_bytes_a_stream:
            self._kept_bytes -= len(self._kept.popleft())

    async def settled(self) -> None:
        """Wait until the reader has everything; return at once if there is no reader."""
        while self._reading and self._unsent and not self.is_finished:
            await self._grown.wait()

    def is_read_by(self, reader: "OutboxReader") -> bool:
        """Return whether `reader` is still the current one."""
        return reader is self._reading

    def leave(self, reader: "OutboxReader") -> None:
        """Detach a reader; messages that it has not confirmed stay queued."""
        if reader is self._reading:
            self._reading = None
            self._wake()

    def _wake(self) -> None:
        grown, self._grown = self._grown, anyio.Event()
        grown.set()


class OutboxReader:
    """A stream's position in an outbox."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    @property
    def is_displaced(self) -> bool:
        """Whether a newer stream has replaced this one."""
        return not self._outbox.is_read_by(self)

    async def take(self) -> list[NumberedMessage]:
        """Wait for one or more messages, about 64 KiB at most; an empty list means the end of the stream."""
        return await self._outbox.next_of(self)

    def confirm(self, messages: list[NumberedMessage]) -> None:
        """Confirm that these messages were written."""
        self._outbox.sent(self, messages[-1].number)

    def close(self) -> None:
        """Stop reading; unconfirmed messages stay queued for the next reader."""
        self._outbox.leave(self)
