"""Find notes about the same subject, which may contradict each other.

Only words are compared. `python -m bench.note_subjects` measures how many contradictions this finds. Whether two notes
contradict each other is for the model and the user to decide.
"""

import re
from collections.abc import Sequence
from typing import Final

MIN_SHARE: Final = 0.3
"""The minimum share of the shorter note's words that the other note must contain."""
MIN_STEM: Final = 4
MAX_RELATED: Final = 2
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_STOP: Final = """
about after all also always an and any are as at be been before but by can do does for from had has have her his how
if in into is it its just like likes may more must never no not now of off on once only or our out over own prefer
prefers should so than that the their them then there they this to up use used uses using want wants was we were what
when which who will with without would you your runs run written
"""
STOP_WORDS: Final = frozenset(_STOP.split())


def related_notes(text: str, notes: Sequence[str]) -> list[str]:
    """Return the notes about the same subject as a new one, the most similar first, without notes equal to it."""
    words = stems(text)
    shares = [(_share(words, stems(note)), note) for note in notes if note.strip() != text.strip()]
    ranked = sorted(((share, note) for share, note in shares if share >= MIN_SHARE), reverse=True)
    return [note for _, note in ranked[:MAX_RELATED]]


def is_same_subject(one: str, other: str) -> bool:
    """Return whether two texts are about the same subject."""
    return _share(stems(one), stems(other)) >= MIN_SHARE


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words, without those that say nothing about its subject."""
    words = (word for word in _WORD.findall(text.casefold()) if word not in STOP_WORDS)
    return frozenset(word[:MIN_STEM] if len(word) > MIN_STEM else word for word in words)
