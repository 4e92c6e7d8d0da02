"""How much alike two skills are, by what they say of themselves.

Knows: a cheap measure, the cosine of weighted letter groups, which needs no model. Does not know: skills, folders. What
knows meanings better, such as a vector index, is a `Likeness` too.
Source: TF-IDF over character n-grams (Manning, Raghavan, Schütze: Introduction to Information Retrieval, chapter 6).
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

ALIKE: Final = 0.55
LETTERS: Final = 4
WORD: Final = re.compile(r"[^\W_]+")
STOP_WORDS: Final = re.compile(
    r"(?:a|an|and|are|as|at|be|by|for|from|has|how|in|into|is|it|its|of|on|or|so|that|the|their|then|this|"
    r"to|use|used|using|user|users|want|wants|was|what|when|where|which|who|will|with|you|your|skill|skills)"
)


class Likeness(Protocol):
    """Whoever can tell how much alike texts are."""

    def __call__(self, text: str, others: Sequence[str]) -> Sequence[float]:
        """Give for each of the others a number from 0 (nothing in common) to 1 (the same)."""
        ...


def lexical_likeness(text: str, others: Sequence[str]) -> Sequence[float]:
    """Compare by the groups of letters that words have in common; rare ones count for more."""
    bags = [_bag(each) for each in (text, *others)]
    known = Counter(group for bag in bags for group in bag)
    weights = {group: 1.0 + math.log(len(bags) / count) for group, count in known.items()}
    first, *rest = [_weighted(bag, weights) for bag in bags]
    return [sum(weight * vector.get(group, 0.0) for group, weight in first.items()) for vector in rest]


def alike(
    texts: Mapping[str, str], likeness: Likeness = lexical_likeness, least: float = ALIKE
) -> list[tuple[str, str, float]]:
    """Give the pairs that are much alike, by name, the most alike first."""
    names = list(texts)
    found: list[tuple[str, str, float]] = []
    for number, name in enumerate(names[:-1]):
        later = names[number + 1 :]
        degrees = likeness(texts[name], [texts[other] for other in later])
        found += [
            (name, other, degree) for other, degree in zip(later, degrees, strict=True) if degree >= least
        ]
    return sorted(found, key=lambda pair: -pair[2])


def _bag(text: str) -> Counter[str]:
    """Count the words and the groups of letters in them; endings weigh little that way."""
    groups: Counter[str] = Counter()
    for word in WORD.findall(text.casefold()):
        if STOP_WORDS.fullmatch(word):
            continue
        groups[word] += 1
        padded = f" {word} "
        groups.update(padded[start : start + LETTERS] for start in range(max(1, len(padded) - LETTERS + 1)))
    return groups


def _weighted(bag: Counter[str], weights: Mapping[str, float]) -> dict[str, float]:
    vector = {group: (1.0 + math.log(count)) * weights[group] for group, count in bag.items()}
    length = math.sqrt(sum(weight * weight for weight in vector.values())) or 1.0
    return {group: weight / length for group, weight in vector.items()}
