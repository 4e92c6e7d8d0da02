"""A session's past, as it is worth showing again.

Knows: which events are only of their moment, and how much of a tool's payload is worth sending twice. Does not know:
who is shown them. The user's and the agent's words are never shortened; the record keeps everything.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec import structs

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
from hermes_acp.core.terms import Diff

PAYLOAD_CHARACTERS: Final = 32_768
PASSING: Final = (CallProgressed, Noticed, CompactionStarted, SummarySaid)


def replayable(events: Iterable[Event]) -> Iterator[Event]:
    """Give the events to show again, in order.

    Frames of one message are joined; live output, notices and the beginnings of compactions are left out; big payloads
    of tools are cut, with a word on how much is missing. How full the window is comes last, as it now stands.
    """
    usage: UsageChanged | None = None
    held: TextSaid | ThoughtSaid | None = None
    pieces: list[str] = []
    for event in events:
        if isinstance(event, PASSING):
            continue
        if isinstance(event, UsageChanged):
            usage = event
            continue
        if held and isinstance(event, type(held)) and event.message_id == held.message_id:
            pieces.append(event.text)
            continue
        if held:
            yield type(held)(held.message_id, "".join(pieces))
            held = None
        if isinstance(event, TextSaid | ThoughtSaid):
            held, pieces = event, [event.text]
        else:
            yield _cut(event)
    if held:
        yield type(held)(held.message_id, "".join(pieces))
    if usage:
        yield usage


def _cut(event: Event) -> Event:
    match event:
        case CallProposed():
            fits = len(msgspec.json.encode(event.raw_input)) <= PAYLOAD_CHARACTERS
            raw_input = event.raw_input if fits else {"left_out": "The input is in the session's record."}
            return structs.replace(event, raw_input=raw_input, diffs=_small(event.diffs))
        case CallEnded():
            parts = tuple(part for part in event.parts if _is_light(part))
            return structs.replace(event, text=_head(event), diffs=_small(event.diffs), parts=parts)
        case _:
            return event


def _head(event: CallEnded) -> str:
    left_out = [diff for diff in event.diffs if not _is_small(diff)]
    text = event.text
    if len(text) > PAYLOAD_CHARACTERS:
        missing = len(text) - PAYLOAD_CHARACTERS
        text = f"{text[:PAYLOAD_CHARACTERS]}\n[… {missing:,} more characters are in the session's record]"
    notes = [
        f"[The change of {diff.path} is too big to show again; it is in the session's record.]"
        for diff in left_out
    ]
    return "\n".join((text, *notes)) if notes else text


def _is_light(part: Part) -> bool:
    return not isinstance(part, ImagePart) or len(part.data_base64) <= 4 * PAYLOAD_CHARACTERS


def _small(diffs: tuple[Diff, ...]) -> tuple[Diff, ...]:
    return tuple(diff for diff in diffs if _is_small(diff))


def _is_small(diff: Diff) -> bool:
    return len(diff.old_text or "") + len(diff.new_text) <= 4 * PAYLOAD_CHARACTERS
