"""A session's past, as it is worth showing again.

Knows: which events are only of their moment. Does not know: who is shown them. Words are never shortened.
"""

from collections.abc import Iterable, Iterator

from hermes_acp.core.events import CallProgressed, Event, Noticed, TextSaid, ThoughtSaid


def replayable(events: Iterable[Event]) -> Iterator[Event]:
    """Give the events to show again, in order: frames of one message joined, live output and notices left out."""
    held: TextSaid | ThoughtSaid | None = None
    pieces: list[str] = []
    for event in events:
        if isinstance(event, CallProgressed | Noticed):
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
            yield event
    if held:
        yield type(held)(held.message_id, "".join(pieces))
