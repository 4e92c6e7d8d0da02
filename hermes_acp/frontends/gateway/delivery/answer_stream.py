"""Show an answer while the model writes it, by editing messages as often as the platform allows.

Message IDs depend only on the text, so an answer that is streamed again after a restart edits the same messages.
"""

from collections.abc import Callable, Sequence
from typing import Final

import anyio
from anyio import to_thread

from hermes_acp.frontends.gateway.delivery.text_splitting import split_text
from hermes_acp.frontends.gateway.port.platform_port import Limits
from hermes_acp.storage.gateway.outbox import Outbox, OutgoingPart
from hermes_acp.telemetry.redaction import RedactedStream

MIN_GAP_S: Final = 0.2
Part = Callable[[str, str], OutgoingPart]
"""Builds a message to send from our ID for it and its text."""


class AnswerStream:
    """One answer. `feed` never blocks; until `finish`, `run` stores the messages to show."""

    def __init__(
        self,
        key: str,
        limits: Limits,
        redacted: Callable[[], RedactedStream],
        part: Part,
        cuts: Sequence[int] = (),
    ) -> None:
        """Start an empty answer. `cuts` are the text offsets at which it was split before a restart."""
        self._key = key
        self._limits = limits
        self._new_redacted = redacted
        self._redacted = redacted()
        self._part = part
        self.cuts = [*cuts]
        self._text = ""
        self._stored: list[str] = []
        self._is_final = False
        self._news = anyio.Event()

    @property
    def has_text(self) -> bool:
        """Whether the answer has any text."""
        return bool(self._text.strip())

    @property
    def text(self) -> str:
        """The text so far."""
        return self._text

    def feed(self, text: str) -> None:
        """Add a part of the answer."""
        self._text += self._redacted.feed(text)
        self._news.set()

    def restart(self) -> None:
        """Discard the text, because the answer is streamed again from the start."""
        self._text = ""
        self._redacted = self._new_redacted()

    def pause(self) -> bool:
        """End the current message because another message is about to follow; return whether that made a new cut."""
        self._text += self._redacted.finish()
        offset = len(self._text)
        if not offset or offset in self.cuts or any(cut > offset for cut in self.cuts):
            return False
        self.cuts.append(offset)
        return True

    def finish(self) -> list[OutgoingPart]:
        """End the answer; return all its messages."""
        self._text += self._redacted.finish()
        self._is_final = True
        self._news.set()
        return [self._part(self._id(number), text) for number, text in enumerate(self._messages())]

    async def run(self, outbox: Outbox, wake: Callable[[], None], now: Callable[[], float]) -> None:
        """Store the answer's messages while they grow, until cancelled. Raises StorageError."""
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            if await self.store(outbox, now()):
                wake()
            await anyio.sleep(max(MIN_GAP_S, self._limits.edit_gap_s))

    async def store(self, outbox: Outbox, now: float) -> bool:
        """Store the messages that have changed; return whether there were any. Raises StorageError."""
        shown = self._messages()
        if not self._limits.can_edit:
            shown = shown[: self._complete(shown)]
        has_changed = False
        for number, text in enumerate(shown):
            if number < len(self._stored) and self._stored[number] == text:
                continue
            part = self._part(self._id(number), text)
            await to_thread.run_sync(outbox.put, part, now)
            has_changed = True
        self._stored = shown
        return has_changed

    def _complete(self, shown: list[str]) -> int:
        """Return how many messages are final; the last one may still change, unless a cut follows it."""
        is_closed = bool(self.cuts) and self.cuts[-1] >= len(self._text)
        return len(shown) if is_closed else max(0, len(shown) - 1)

    def _messages(self) -> list[str]:
        found: list[str] = []
        begin = 0
        for end in (*(cut for cut in self.cuts if cut <= len(self._text)), len(self._text)):
            found += split_text(self._text[begin:end], self._limits)
            begin = end
        return found

    def _id(self, number: int) -> str:
        return f"{self._key}:{number}"
