"""Mask secrets in content that a person or a file adds to a session's record.

The record is the history that the model sees, both before and after a restart, so the model sees the masks too.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from msgspec import structs

from hermes_acp.core.event_types import Diff
from hermes_acp.core.events import (
    AnyEvent,
    CallEnded,
    CallProposed,
    CommandAnswered,
    InstructionsGiven,
    TitleChanged,
    UserSaid,
)
from hermes_acp.core.messages import LinkPart, Part, ResourcePart, TextPart

MASKED: Final = (
    "Your message contained what looks like a key or a password. It was masked before it was stored or sent to the "
    "model. To let a command use it, put it in a file or an environment variable and name that instead."
)

Clean = Callable[..., str]
"""A function that masks secrets in a text; `source` is where the text comes from, if known."""


def masked(event: AnyEvent, clean: Clean) -> AnyEvent:
    """Return an event with secrets masked; the same object if it contains none."""
    match event:
        case UserSaid(parts=parts):
            fresh = masked_parts(parts, clean)
            return event if fresh == parts else structs.replace(event, parts=fresh)
        case CommandAnswered():
            return structs.replace(event, prompt=clean(event.prompt), text=clean(event.text))
        case InstructionsGiven(text=text):
            return structs.replace(event, text=clean(text))
        case TitleChanged(title=title):
            return structs.replace(event, title=clean(title))
        case CallProposed(diffs=diffs) if diffs:
            return structs.replace(event, diffs=tuple(_masked_diff(diff, clean) for diff in diffs))
        case CallEnded(diffs=diffs, parts=parts) if diffs or parts:
            fresh = tuple(_masked_diff(diff, clean) for diff in diffs)
            return structs.replace(event, diffs=fresh, parts=masked_parts(parts, clean))
        case _:
            return event


def masked_parts(parts: tuple[Part, ...], clean: Clean) -> tuple[Part, ...]:
    """Return message parts with secrets masked; images are left unchanged."""
    return tuple(_masked_part(part, clean) for part in parts)


def _masked_part(part: Part, clean: Clean) -> Part:
    match part:
        case TextPart(text=text):
            return structs.replace(part, text=clean(text))
        case ResourcePart(uri=uri, text=text):
            return structs.replace(part, uri=clean(uri), text=clean(text, source=uri))
        case LinkPart(uri=uri):
            return structs.replace(part, uri=clean(uri))
        case _:
            return part


def _masked_diff(diff: Diff, clean: Clean) -> Diff:
    clean = partial(clean, source=diff.path)
    old = None if diff.old_text is None else clean(diff.old_text)
    new = clean(diff.new_text)
    if old == diff.old_text and new == diff.new_text:
        return diff
    return structs.replace(diff, old_text=old, new_text=new, is_masked=True)
