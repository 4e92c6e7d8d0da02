"""The classifier's learnt weights, and the token features they apply to.

The weights (`weights.msgpack`, one signed byte a feature) come from `bench/train_scanner.py`;
`weights.LICENCE.md` says from what.
"""

import msgspec
from msgspec import Struct

from injection_scanner.tables.compiled_tables import read_data_file

STEM = 6
BEGINS = (3, 4, 6)
NEAR = 8
"""So many tokens further on a concept is no longer tied to the one before."""


Pair = tuple[str, str]


class Pairs(Struct, frozen=True):
    """What two words weigh that follow one another, and two concepts near each other, without joining their names."""

    couples: dict[Pair, int]
    ties: dict[Pair, int]


class Weights(Struct, frozen=True):
    """What the classifier learnt; a feature's weight is its byte times `scale`. The bars are in log odds.

    The `long` ones are for passages that follow one another.
    """

    scale: float
    bias: float
    block_at: float
    warn_at: float
    hidden_at: float
    long_block_at: float
    long_warn_at: float
    features: dict[str, int]
    concepts: dict[str, str]
    stems: dict[str, str]


def concept_of(token: str, weights: Weights) -> str:
    """Return the concept a word names; empty for none."""
    exact, stems = weights.concepts, weights.stems
    return exact.get(token) or stems.get(token[:STEM]) or stems.get(token[:4]) or ""


def features_of(tokens: list[str], weights: Weights) -> list[list[str]]:
    """Return each token's features: what it is alone, the pair it ends, and the concepts it stands near behind."""
    features = [word_features(token, weights) for token in tokens]
    for at in range(1, len(tokens)):
        features[at].append(f"{tokens[at - 1]} {tokens[at]}")
    named = [(at, concept) for at, token in enumerate(tokens) if (concept := concept_of(token, weights))]
    for (one, two), at in ties_of(named):
        features[at].append(f"#{one}>{two}")
    return features


def pairs_of(weights: Weights) -> Pairs:
    """Sort out what weighs in pairs."""
    couples: dict[Pair, int] = {}
    ties: dict[Pair, int] = {}
    for feature, weight in weights.features.items():
        if feature[0] == "#" and ">" in feature:
            one, _, two = feature[1:].partition(">")
            ties[one, two] = weight
        elif " " in feature:
            one, _, two = feature.partition(" ")
            couples[one, two] = weight
    return Pairs(couples, ties)


def ties_of(named: list[tuple[int, str]]) -> list[tuple[Pair, int]]:
    """Return each two concepts that stand near each other, in order, and the place of the later one.

    `named` has the places of the tokens that name a concept, with the concept.
    """
    return [
        ((one, two), at)
        for step in (1, 2)
        for (begin, one), (at, two) in zip(named, named[step:], strict=False)
        if at - begin <= NEAR
    ]


def word_features(token: str, weights: Weights) -> list[str]:
    """Return a word's features: itself, how it begins, the concept it names; words never seen begin like others."""
    features = [token]
    if token[0].isalpha():
        features += [f"{token[:length]}~" for length in BEGINS if len(token) > length]
    if concept := concept_of(token, weights):
        features.append(f"#{concept}")
    return features


def in_words(feature: str) -> str:
    """Say a feature as a person reads it: how a word begins, concepts near each other."""
    return feature.lstrip("#!").replace(">", " … ").replace("~", "…")


def load_weights() -> Weights:
    """Read the weights that the package ships."""
    return msgspec.msgpack.decode(read_data_file("weights.msgpack"), type=Weights)
