"""Select the events of a session that are worth showing again.

The user's and the agent's text is never shortened; the record keeps everything.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec import structs

from hermes_acp.core.event_types import Diff
from hermes_acp.core.events import (
    CallEnded,
    CallProgressed,
    CallProposed,
    CompactionStarted,
    Event,
    Noticed,
    SummarySaid,
    TextSaid,
    ThoughtSaid,
    UsageChanged,
)
from hermes_acp.core.messages import ImagePart, Part

PAYLOAD_CHARACTERS: Final = 32_768
WORDS: Final = (TextSaid, ThoughtSaid)
LADEN: Final = (CallProposed, CallEnded)
PASSING: Final = (CallProgressed, Noticed, CompactionStarted, SummarySaid)


def replayable(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the events to show again, in order.

    The parts of each message are joined. Live output, notices and the starts of compactions are left out, and large
    tool payloads are cut, with a note about what is missing. The current use of the context window comes last.
    """
    usage: UsageChanged | None = None
    held: TextSaid | ThoughtSaid | None = None
    pieces: list[str] = []
    for event in events:
        if isinstance(event, WORDS):
            if held and type(held) is type(event) and event.message_id == held.message_id:
                pieces.append(event.text)
                continue
            if held:
                yield _joined(held, pieces)
            held, pieces = event, [event.text]
            continue
        if isinstance(event, PASSING):
            continue
        if isinstance(event, UsageChanged):
            usage = event
            continue
        if held:
            yield _joined(held, pieces)
            held = None
        yield _cut(event) if isinstance(event, LADEN) else event
    if held:
        yield _joined(held, pieces)
    if usage:
        yield usage


def _joined(held: TextSaid | ThoughtSaid, pieces: list[str]) -> TextSaid | ThoughtSaid:
    return held if len(pieces) == 1 else type(held)(held.message_id, "".join(pieces))


def _cut(event: CallProposed | CallEnded) -> CallProposed | CallEnded:
    """Return a call's event with large payloads cut."""
    diffs = _small(event.diffs) if event.diffs else ()
    if isinstance(event, CallProposed):
        fits = _is_short(event.raw_input)
        if fits and len(diffs) == len(event.diffs):
            return event
        raw_input = event.raw_input if fits else {"left_out": "The input is in the session's record."}
        return structs.replace(event, raw_input=raw_input, diffs=diffs)
    parts = tuple(part for part in event.parts if _is_light(part)) if event.parts else ()
    text = _head(event)
    if text is event.text and len(diffs) == len(event.diffs) and len(parts) == len(event.parts):
        return event
    return structs.replace(event, text=text, diffs=diffs, parts=parts)


def _is_short(raw_input: object) -> bool:
    return len(msgspec.json.encode(raw_input)) <= PAYLOAD_CHARACTERS


def _head(event: CallEnded) -> str:
    text = event.text
    if not event.diffs and len(text) <= PAYLOAD_CHARACTERS:
        return text
    left_out = [diff for diff in event.diffs if not _is_small(diff)]
    if len(text) > PAYLOAD_CHARACTERS:
        missing = len(text) - PAYLOAD_CHARACTERS
        text = f"{text[:PAYLOAD_CHARACTERS]}\n[… {missing:,} more characters are in the session's record]"
    notes = [
        f"[The change to {diff.path} is too large to show again; it is in the session's record.]"
        for diff in left_out
    ]
    return "\n".join((text, *notes)) if notes else text


def _is_light(part: Part) -> bool:
    return not isinstance(part, ImagePart) or len(part.data_base64) <= 4 * PAYLOAD_CHARACTERS


def _small(diffs: tuple[Diff, ...]) -> tuple[Diff, ...]:
    return tuple(diff for diff in diffs if _is_small(diff))


def _is_small(diff: Diff) -> bool:
    return len(diff.old_text or "") + len(diff.new_text) <= 4 * PAYLOAD_CHARACTERS
