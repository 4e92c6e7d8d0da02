"""Rate how much a note can be trusted; this depends on its source and declines until someone confirms the note."""

import re
from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from hermes_acp.core.event_types import EventContext
from hermes_acp.core.ports.memory_ports import NoteSource
from hermes_acp.lazy_pattern import LazyPattern
from hermes_acp.memory.note_subjects import is_same_subject, stems

HALF_LIFE_S: Final = 212 * 86_400.0
"""Chosen so that a note said by the user becomes doubtful after half a year."""
DOUBTFUL_BELOW: Final = 0.5
_NUMBER: Final = LazyPattern(r"\d+")
_SENTENCE: Final = LazyPattern(r"[!?\n]+|\.(?=\s|$)")
_CLAUSE: Final = LazyPattern(r"[,;:!?\n]+|\.(?=\s|$)")
_NEGATION: Final = LazyPattern(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|avoid|except|unless|stop|\w+n['\u2019]t)\b",
    re.IGNORECASE,
)
_EXACT: Final = LazyPattern(r"[^\s`\"'(),;]*[\d/\\@_=$<>|~][^\s`\"'(),;]*|[\w-]+(?:\.[\w-]+)+|--?\w[\w-]*")
"""Matches addresses, paths, options and names in code, which must be equal in every character."""
FIRST: Final = MappingProxyType[NoteSource, float](
    {"written": 1.0, "said": 0.9, "approved": 0.9, "found": 0.6, "": 0.9}
)
"""The initial confidence in a note, by source. Older records do not say where a note came from."""


class NoteOrigin(Struct, frozen=True):
    """Where a note came from, and the context in which it was last written or confirmed."""

    moment: EventContext
    source: NoteSource = ""

    def confidence(self, now: float) -> float:
        """Return the confidence in the note at a given time, between 0 and 1."""
        age_s = max(0.0, now - self.moment.at)
        return FIRST[self.source] * 0.5 ** (age_s / HALF_LIFE_S)

    def is_doubtful(self, now: float) -> bool:
        """Return whether the note should be checked before anyone relies on it."""
        return self.confidence(now) < DOUBTFUL_BELOW


def source_of(note: str, prompts: Iterable[str], replaced: str = "") -> NoteSource:
    """Return whether the user said a note in a session with these prompts, or the agent found it elsewhere."""
    return "said" if is_said(note, replaced, prompts) else "found"


def is_said(note: str, replaced: str, prompts: Iterable[str]) -> bool:
    """Return whether a change to notes is in the user's words, going by the words alone.

    The user must have used each meaningful word of the note, and denied what it denies. The note that it replaces may
    contribute words. For the removal of a note, the user must have mentioned its subject. A change without any text is
    not checked.
    """
    said = tuple(prompts)
    if replaced and not any(is_same_subject(replaced, each) for each in (*said, note)):
        return False
    return not note or _has_words_of(note, (*said, replaced))


def _has_words_of(note: str, texts: Sequence[str]) -> bool:
    text = "\n".join(texts)
    words = stems(note)
    numbers = _NUMBER.compiled
    if not words or not words <= stems(text) or not set(numbers.findall(note)) <= set(numbers.findall(text)):
        return False
    known = text.casefold()
    if any(each.rstrip(".:").casefold() not in known for each in _EXACT.compiled.findall(note)):
        return False
    is_denied = bool(_NEGATION.compiled.search(note))
    parts = (_SENTENCE if is_denied else _CLAUSE).compiled.split(text)
    nearest = max(parts, key=lambda each: len(words & stems(each)))
    return bool(_NEGATION.compiled.search(nearest)) == is_denied
