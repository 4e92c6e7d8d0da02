"""Find the call whose result a note was probably taken from, if the user did not dictate the note."""

import re
from collections.abc import Sequence
from typing import Any, Final, cast

import msgspec

from hermes_acp.core.messages import AssistantMessage, Message, ToolCall, ToolMessage
from hermes_acp.core.untrusted_text import plain
from hermes_acp.memory.note_subjects import stems

MIN_SHARE: Final = 0.75
"""The minimum share of a note's words that a result must contain."""
MAX_ARGUMENT_CHARACTERS: Final = 80
NOTES: Final = "memory"
_SEPARATORS: Final = re.compile(r"[;\s]+")


def result_with(note: str, messages: Sequence[Message]) -> str:
    """Return a description of the call whose result shares the most words with a note; empty if none matches."""
    words = stems(note)
    calls = {
        call.id: call
        for each in messages
        if isinstance(each, AssistantMessage)
        for call in each.tool_calls
        if call.name != NOTES
    }
    results = [each for each in messages if isinstance(each, ToolMessage) and each.call_id in calls]
    shares = [
        (len(words & stems(each.text)) / len(words), number) for number, each in enumerate(results) if words
    ]
    share, number = max(shares, default=(0.0, 0))
    return _named(calls[results[number].call_id]) if share >= MIN_SHARE else ""


def _named(call: ToolCall) -> str:
    """Describe a call by its tool and its first string argument, such as a path."""
    try:
        arguments = msgspec.json.decode(call.arguments or "{}")
    except msgspec.DecodeError:
        arguments = {}
    values = cast("dict[str, Any]", arguments).values() if isinstance(arguments, dict) else ()
    first = next((each for each in values if isinstance(each, str)), "")
    return _SEPARATORS.sub(" ", f"{call.name} {plain(first, MAX_ARGUMENT_CHARACTERS)}").strip()
