"""A linear reading of a passage: how much its words speak like an order smuggled in, and which of them do.

Knows: words and pairs of words, what each weighs, sums over stretches. Does not know: rules, lines, severities.
The weights (`weights.msgpack`, one signed byte a feature) come from `bench/train_scanner.py`; `weights.LICENCE.md` says from
what. A stretch scores `bias` plus the weights of what it holds, so the features are the explanation.
"""

import re
from functools import cache
from itertools import accumulate
from pathlib import Path

from msgspec import Struct

TOKEN = re.compile(r"https?://[^\s`'\"<>)\]]{1,200}|[^\W_]+(?:'[a-z]{1,2}\b)?|\$\(|<\||\|>|!!+|[@~](?=/)|>&|[@\[\]{}<>|]")
SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
ADDRESS = re.compile(r"https?://\d{1,3}(?:\.\d{1,3}){3}")
SHORT, LONG = 14, 40
STEM = 6
NEAR = 7


class Weights(Struct, frozen=True):
    """What the classifier learnt; a feature's weight is its byte times `scale`. The bars are in log odds."""

    scale: float
    bias: float
    block_at: float
    warn_at: float
    hidden_at: float
    features: dict[str, int]
    concepts: dict[str, str]
    stems: dict[str, str]


class Reading(Struct, frozen=True):
    """The stretch of a passage that speaks loudest: its score (log odds), its tokens by number, its loudest features."""

    score: float
    first: int
    last: int
    features: tuple[str, ...]


@cache
def load_weights() -> Weights:
    """Read the weights once."""
    import msgspec

    return msgspec.msgpack.decode(Path(__file__).with_name("weights.msgpack").read_bytes(), type=Weights)


def tokenize(text: str) -> list[str]:
    """Give the tokens of folded text; an address is one token, a word without spaces its pairs of letters."""
    tokens: list[str] = TOKEN.findall(text)
    if text.isascii() and "://" not in text:
        return tokens
    plain: list[str] = []
    for token in tokens:
        if token.startswith("http") and "://" in token:
            plain.append("URL:number" if ADDRESS.match(token) else "URL")
        elif not token.isascii() and len(token) > 2 and SPACELESS.search(token):
            plain.extend(token[at : at + 2] for at in range(min(len(token) - 1, 400)))
        else:
            plain.append(token)
    return plain


def concepts_of(tokens: list[str], weights: Weights) -> list[tuple[int, str]]:
    """Give which tokens name a concept, and which one, in order."""
    exact, stems = weights.concepts, weights.stems
    found = [(at, exact.get(token) or stems.get(token[:STEM]) or stems.get(token[:4])) for at, token in enumerate(tokens)]
    return [(at, concept) for at, concept in found if concept]


def features_of(tokens: list[str], weights: Weights) -> list[list[str]]:
    """Give each token's features: itself, the pair it ends, the begin of a long word, and the concepts it completes."""
    features = [[token] if len(token) <= STEM else [token, token[:STEM] + "~"] for token in tokens]
    for at in range(1, len(tokens)):
        features[at].append(f"{tokens[at - 1]} {tokens[at]}")
    earlier, last = (-99, ""), (-99, "")
    for at, concept in concepts_of(tokens, weights):
        features[at].append(f"#{concept}")
        if at - last[0] <= NEAR:
            features[at].append(f"#{last[1]}>{concept}")
            if at - earlier[0] <= NEAR:
                features[at] += (f"#{earlier[1]}>{last[1]}>{concept}", f"#{earlier[1]}..{concept}")
        earlier, last = last, (at, concept)
    return features


def read(tokens: list[str], weights: Weights) -> float:
    """Give the score of the loudest stretch of at most `LONG` tokens, in log odds."""
    return weights.bias + weights.scale * loudest(values_of(tokens, weights))[0]


def values_of(tokens: list[str], weights: Weights) -> list[int]:
    """Give what each token's features weigh together; the same as summing `features_of`, only faster."""
    get = weights.features.get
    values = [get(token, 0) for token in tokens]
    last_token = ""
    for at, token in enumerate(tokens):
        if last_token and (value := get(f"{last_token} {token}")):
            values[at] += value
        if len(token) > STEM and (value := get(token[:STEM] + "~")):
            values[at] += value
        last_token = token
    earlier, last = (-99, ""), (-99, "")
    for at, concept in concepts_of(tokens, weights):
        total = get(f"#{concept}", 0)
        if at - last[0] <= NEAR:
            total += get(f"#{last[1]}>{concept}", 0)
            if at - earlier[0] <= NEAR:
                total += get(f"#{earlier[1]}>{last[1]}>{concept}", 0) + get(f"#{earlier[1]}..{concept}", 0)
        values[at] += total
        earlier, last = last, (at, concept)
    return values


def loudest(values: list[int]) -> tuple[int, int, int]:
    """Give the largest sum of `SHORT` or `LONG` neighbours, and where that stretch begins and ends."""
    sums = [0, *accumulate(values)]
    count = len(values)
    best = (sums[-1], 0, count) if count <= LONG else (-(10**9), 0, 0)
    for width in (SHORT, LONG):
        if count > width:
            ahead = [after - before for after, before in zip(sums[width:], sums, strict=False)]
            top = max(ahead)
            if top > best[0]:
                at = ahead.index(top)
                best = (top, at, at + width)
    return best


def explain(tokens: list[str], weights: Weights, most: int = 4) -> Reading:
    """Say which stretch of a passage is the loudest and which of its features weigh most."""
    get = weights.features.get
    features = features_of(tokens, weights)
    values = [sum(get(feature, 0) for feature in each) for each in features]
    total, first, last = loudest(values)
    inside = {feature for each in features[first:last] for feature in each}
    top = sorted(inside, key=lambda feature: (-get(feature, 0), feature))[:most]
    return Reading(
        weights.bias + weights.scale * total,
        first,
        last,
        tuple(feature for feature in top if get(feature, 0) > 0),
    )
