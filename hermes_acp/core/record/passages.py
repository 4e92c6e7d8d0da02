"""The passages of a session's record: who said what, at which position.

Positions are counted from 1. The same events always yield the same positions, so a position found by a search matches
the listing of the session.
"""

from collections.abc import Iterable

from msgspec import Struct

from hermes_acp.core.event_types import Speaker
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CommandAnswered,
    Event,
    StepEnded,
    StepFailed,
    TextSaid,
    TurnEnded,
    UserSaid,
)
from hermes_acp.core.messages import LinkPart, Part, ResourcePart, TextPart


class Passage(Struct, frozen=True, gc=False):
    """The text at one position. A tool's passage is the call's title, followed by a line feed and the outcome.

    `at` is when it started, in seconds since the epoch, or None if that was not recorded.
    """

    position: int
    speaker: Speaker
    text: str
    at: float | None = None


class _Card(Struct):
    position: int
    title: str
    at: float | None


class PassageReader:
    """Converts events to passages."""

    def __init__(self, position: int = 0) -> None:
        """Start after `position`, where an earlier reader stopped; `was_settled` is that reader's `is_settled`."""
        self.position = position
        self.finished: list[Passage] = []
        self._words: list[str] = []
        self._words_position = 0
        self._words_at: float | None = None
        self._cards: dict[str, _Card] = {}

    @property
    def is_settled(self) -> bool:
        """Whether no passage is incomplete, so that another reader may continue from here."""
        return not self._words and not self._cards

    def take(self, event: Event, at: float | None = None) -> None:
        """Process an event that was recorded at the time `at`; append the passages it completes to `finished`."""
        match event:
            case TextSaid():
                if not self._words:
                    self._words_position, self._words_at = self._next(), at
                self._words.append(event.text)
            case UserSaid():
                self._say("user", words_of(event.parts), at)
            case StepEnded() | TurnEnded():
                self._end_words()
            case StepFailed():
                if event.retried:
                    self._words.clear()
                self._end_words()
            case CallProposed():
                self._cards[event.call_id] = _Card(self._next(), event.title, at)
            case CallEnded():
                card = self._cards.pop(event.call_id, None) or _Card(self._next(), event.name, at)
                self.finished.append(Passage(card.position, "tool", f"{card.title}\n{event.text}", card.at))
            case CommandAnswered():
                self._say("user", event.prompt, at)
                self._say("agent", event.text, at)
            case _:
                pass

    def unfinished(self) -> list[Passage]:
        """Return the incomplete passage, if any, as it is so far, without completing it."""
        passages = [Passage(card.position, "tool", card.title, card.at) for card in self._cards.values()]
        if self._words:
            passages.append(Passage(self._words_position, "agent", "".join(self._words), self._words_at))
        return passages

    def _next(self) -> int:
        self.position += 1
        return self.position

    def _say(self, speaker: Speaker, text: str, at: float | None) -> None:
        self.finished.append(Passage(self._next(), speaker, text, at))

    def _end_words(self) -> None:
        if self._words:
            words = "".join(self._words)
            self.finished.append(Passage(self._words_position, "agent", words, self._words_at))
            self._words.clear()


def passages_of(events: Iterable[Event]) -> list[Passage]:
    """Return all passages in a record, in order, without times."""
    return timed_passages((event, None) for event in events)


def timed_passages(events: Iterable[tuple[Event, float | None]]) -> list[Passage]:
    """Return all passages in a record, in order; each event comes with its time in seconds since the epoch."""
    reader = PassageReader()
    for event, at in events:
        reader.take(event, at)
    return sorted((*reader.finished, *reader.unfinished()), key=lambda passage: passage.position)


def words_of(parts: Iterable[Part]) -> str:
    """Return a prompt's text, with the names of its attachments."""
    pieces: list[str] = []
    for part in parts:
        match part:
            case TextPart():
                pieces.append(part.text)
            case LinkPart():
                pieces.append(part.name)
            case ResourcePart():
                pieces.append(part.uri)
            case _:
                pass
    return "\n".join(pieces)
