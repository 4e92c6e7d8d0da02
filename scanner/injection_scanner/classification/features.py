"""The classifier's learnt weights, and the token features to which they apply.

`bench/train_scanner.py` produces the weights (`weights.msgpack`, one signed byte per feature);
`weights.LICENCE.md` names their sources.
"""

import msgspec
from msgspec import Struct

from injection_scanner.tables.compiled_tables import read_data_file

STEM = 6
BEGINS = (3, 4, 6)
NEAR = 8
"""The distance in tokens from which concepts are no longer tied to each other."""


Pair = tuple[str, str]


class Pairs(Struct, frozen=True):
    """The weights of two adjacent words and of two nearby concepts, looked up without joining their names."""

    couples: dict[Pair, int]
    ties: dict[Pair, int]


class Weights(Struct, frozen=True):
    """The learnt weights; a feature's weight is its byte times `scale`. The thresholds are in log odds.

    The `long` thresholds are for runs of consecutive passages. `typical` is the score that a quarter of the passages of
    an ordinary file exceed.
    """

    scale: float
    bias: float
    block_at: float
    warn_at: float
    hidden_at: float
    long_block_at: float
    long_warn_at: float
    typical: float
    features: dict[str, int]
    concepts: dict[str, str]
    stems: dict[str, str]


def concept_of(token: str, weights: Weights) -> str:
    """Return the concept that a word names, or an empty string."""
    exact, stems = weights.concepts, weights.stems
    return exact.get(token) or stems.get(token[:STEM]) or stems.get(token[:4]) or ""


def features_of(tokens: list[str], weights: Weights) -> list[list[str]]:
    """Return each token's features: its own, the pair it ends, and the concepts it closely follows."""
    features = [word_features(token, weights) for token in tokens]
    for at in range(1, len(tokens)):
        features[at].append(f"{tokens[at - 1]} {tokens[at]}")
    named = [(at, concept) for at, token in enumerate(tokens) if (concept := concept_of(token, weights))]
    for (one, two), at in ties_of(named):
        features[at].append(f"#{one}>{two}")
    return features


def pairs_of(weights: Weights) -> Pairs:
    """Extract the weights of pairs."""
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
    """Return each pair of nearby concepts, in order, and the position of the later one.

    `named` contains the position and the concept of each token that names one.
    """
    return [
        ((one, two), at)
        for step in (1, 2)
        for (begin, one), (at, two) in zip(named, named[step:], strict=False)
        if at - begin <= NEAR
    ]


def word_features(token: str, weights: Weights) -> list[str]:
    """Return a word's features: itself, its prefix, and its concept; unknown words share the prefixes of others."""
    features = [token]
    if token[0].isalpha():
        features += [f"{token[:length]}~" for length in BEGINS if len(token) > length]
    if concept := concept_of(token, weights):
        features.append(f"#{concept}")
    return features


def in_words(feature: str) -> str:
    """Return a feature in readable form, such as a word prefix or two nearby concepts."""
    return feature.lstrip("#!").replace(">", " … ").replace("~", "…")


def load_weights() -> Weights:
    """Read the weights shipped with the package."""
    return msgspec.msgpack.decode(read_data_file("weights.msgpack"), type=Weights)
