"""Cues: the speech acts of an injected order, independent of its wording.

Patterns are bounded, so that each takes linear time.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Final, Literal

from msgspec import Struct

from injection_scanner.tables.compiled_tables import load_table
from injection_scanner.tables.lazy_patterns import compiled

MAX_LETTERS: Final = 700
FRAGMENT: Final = re.compile(r"<<(\w+)>>")
WHOLE: Final = 3
MAX_READ_CHARS: Final = 8000


class Cue(Struct, frozen=True, forbid_unknown_fields=True):
    """One cue, as defined in `cues.toml`; a cue that `damps` is searched for only if another one is present.

    Its `role` says whether it is a harmful act or addresses the reader; a `loose` cue also occurs in benign text.
    """

    id: str
    pattern: str
    example: str
    counter_example: str
    needs: tuple[str, ...] = ()
    damps: bool = False
    role: Literal["deed", "turn", ""] = ""
    loose: bool = False


class CueFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The schema of `cues.toml`."""

    fragments: dict[str, str]
    classes: dict[str, str]
    cue: tuple[Cue, ...]


class Cues(Struct, frozen=True):
    """All cues with the bits of the classes that each needs, the damping cues, and the classes' bits by word prefix."""

    loud: tuple[tuple[int, Cue], ...]
    damping: tuple[Cue, ...]
    whole: dict[str, int]
    begins: dict[str, tuple[tuple[str, int], ...]]
    by_id: dict[str, Cue]


@cache
def load_cues() -> Cues:
    """Read the cues once and fill in their fragments."""
    return load_table("cues", Cues, make_cues)


def make_cues(source: str) -> Cues:
    """Build the cues from the text of `cues.toml`."""
    import tomllib

    from msgspec import convert, structs

    file = convert(tomllib.loads(source), CueFile)

    def filled(pattern: str) -> str:
        return FRAGMENT.sub(lambda found: filled(file.fragments[found[1]]), pattern)

    bits = {name: 1 << number for number, name in enumerate(file.classes)}
    whole: dict[str, int] = {}
    begins: dict[str, tuple[tuple[str, int], ...]] = {}
    for name, words in file.classes.items():
        for word in words.split():
            if word == "#" or (len(word) <= WHOLE and word.isalnum()):
                whole[word] = whole.get(word, 0) | bits[name]
            else:
                begins[word[:WHOLE]] = (*begins.get(word[:WHOLE], ()), (word, bits[name]))
    cues = [structs.replace(cue, pattern=filled(cue.pattern)) for cue in file.cue]
    loud = tuple((sum(bits[name] for name in cue.needs), cue) for cue in cues if not cue.damps)
    return Cues(loud, tuple(cue for cue in cues if cue.damps), whole, begins, {cue.id: cue for cue in cues})


def classes_of(token: str) -> int:
    """Return the bits of a word's classes."""
    cues = load_cues()
    bits = cues.whole.get(token, 0) | (cues.whole.get("#", 0) if token.isdigit() else 0)
    for begin, more in cues.begins.get(token[:WHOLE], ()) + (
        cues.begins.get("|", ()) if token[0] == "|" else ()
    ):
        if token.startswith(begin):
            bits |= more
    return bits


def pattern_of(cue: Cue) -> re.Pattern[str]:
    """Return a cue's pattern, compiled on first use."""
    return compiled(cue.pattern)


def possible_cues(bits: int) -> list[Cue]:
    """Return the cues whose required word classes occur."""
    return [cue for needed, cue in load_cues().loud if bits & needed == needed]


def cues_in(stretch: str, possible: Iterable[Cue]) -> tuple[str, ...]:
    """Return the names of the cues found in the first `MAX_LETTERS` letters of a span of folded text."""
    return damping_cues_near(
        [cue.id for cue in possible if pattern_of(cue).search(stretch, 0, MAX_LETTERS)], stretch
    )


def damping_cues_near(found: Iterable[str], stretch: str) -> tuple[str, ...]:
    """Return the names of the cues found in a span, in table order, followed by those that damp them."""
    present = {*found}
    if not present:
        return ()
    cues = load_cues()
    loud = [cue.id for _, cue in cues.loud if cue.id in present]
    return (*loud, *(cue.id for cue in cues.damping if pattern_of(cue).search(stretch, 0, MAX_LETTERS)))


def features_of_cues(cues: tuple[str, ...]) -> list[str]:
    """Return the features of cues: each cue, and each pair of cues."""
    features = [f"!{cue}" for cue in cues]
    features += [f"!{one}&{two}" for at, one in enumerate(cues) for two in cues[at + 1 :]]
    return features
