"""Track the input that the chat is waiting for."""

from typing import Literal

import anyio
from msgspec import Struct

from hermes_acp.frontends.chat.screens.screen import CALLED_AWAY, Gesture

ReadKind = Literal["prompt", "key", "line", "hunks"]
Answer = str | Gesture | tuple[int, ...] | None


class _Read(Struct):
    kind: ReadKind
    is_settled: anyio.Event
    answer: Answer = None


class PendingRead:
    """The pending read; only one task reads the screen."""

    def __init__(self) -> None:
        self._read: _Read | None = None

    @property
    def kind(self) -> ReadKind | None:
        """The kind of input that the chat waits for, or None."""
        return self._read.kind if self._read else None

    async def wait(self, kind: ReadKind) -> Answer:
        """Wait until the read is settled."""
        read = self._read = _Read(kind, anyio.Event())
        try:
            await read.is_settled.wait()
        finally:
            self._read = None
        return read.answer

    def settle(self, kind: ReadKind, answer: Answer) -> bool:
        """Provide the input if the chat waits for this kind; return whether it did."""
        if self._read is None or self._read.kind != kind or self._read.is_settled.is_set():
            return False
        self._read.answer = answer
        self._read.is_settled.set()
        return True

    def cancel(self) -> None:
        """End the wait with CALLED_AWAY."""
        if self._read is not None:
            self.settle(self._read.kind, CALLED_AWAY)
