"""Speech acts of an order smuggled in: what a passage does, rather than in which words.

Knows: `cues.toml`, which words make a cue worth looking for, and how to find it. Does not know: what a cue weighs
(`classifier.py`), severities. Patterns are bounded, so each is linear in what it reads.
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import repeat
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.knowledge.tables import load_table

MOST_LETTERS: Final = 700
FRAGMENT: Final = re.compile(r"<<(\w+)>>")
WHOLE: Final = 3
LONGEST_READ: Final = 8000


class Cue(Struct, frozen=True, forbid_unknown_fields=True):
    """One cue, as `cues.toml` has it; one that `damps` is looked for only beside another.

    Its `role` says whether it is harm to do or how the reader is turned to it; a `loose` one honest text has as well.
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
    """The shape of `cues.toml`."""

    fragments: dict[str, str]
    classes: dict[str, str]
    cue: tuple[Cue, ...]


class Cues(Struct, frozen=True):
    """All cues with the bits of the classes each needs, the dampers apart, and the classes' bits by word begin."""

    loud: tuple[tuple[int, Cue], ...]
    damping: tuple[Cue, ...]
    whole: dict[str, int]
    begins: dict[str, tuple[tuple[str, int], ...]]
    by_id: dict[str, Cue]


@cache
def load_cues() -> Cues:
    """Read the cues once, their fragments filled in."""
    return load_table("cues", Cues, make_cues)


def make_cues(source: str) -> Cues:
    """Make the cues of the text of `cues.toml`."""
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
    """Give the bits of the classes a word is of."""
    cues = load_cues()
    bits = cues.whole.get(token, 0) | (cues.whole.get("#", 0) if token.isdigit() else 0)
    for begin, more in cues.begins.get(token[:WHOLE], ()) + (
        cues.begins.get("|", ()) if token[0] == "|" else ()
    ):
        if token.startswith(begin):
            bits |= more
    return bits


@cache
def pattern_of(cue: Cue) -> re.Pattern[str]:
    """Compile a cue's pattern when it is first needed."""
    return re.compile(cue.pattern)


def possible_cues(bits: int) -> list[Cue]:
    """Give the cues whose words occur."""
    return [cue for needed, cue in load_cues().loud if bits & needed == needed]


def cues_in(
    stretch: str, possible: Iterable[Cue], reaches: Iterable[int] = repeat(0), slack: int | None = None
) -> tuple[str, ...]:
    """Name the cues in a stretch of folded text, of which the first `MOST_LETTERS` letters are read.

    With each cue comes how far it reaches at most. Once those that are missing reach over `slack`, the others
    cannot matter, and none is named.
    """
    part = stretch[:MOST_LETTERS]
    found: list[str] = []
    for cue, reach in zip(possible, reaches, strict=False):
        if pattern_of(cue).search(part):
            found.append(cue.id)
        elif slack is not None:
            slack -= reach
            if slack < 0:
                return ()
    if found:
        found = [cue.id for _, cue in load_cues().loud if cue.id in found]
        found += [cue.id for cue in load_cues().damping if pattern_of(cue).search(part)]
    return tuple(found)


def cue_at(cue: Cue, passage: str) -> int:
    """Give where a cue first stands in a long passage, of which `LONGEST_READ` letters are read; -1 for nowhere."""
    found = pattern_of(cue).search(passage, 0, LONGEST_READ)
    return found.start() if found else -1


def features_of_cues(cues: tuple[str, ...]) -> list[str]:
    """Give the features of cues: each, and each two together."""
    features = [f"!{cue}" for cue in cues]
    features += [f"!{one}&{two}" for at, one in enumerate(cues) for two in cues[at + 1 :]]
    return features
