"""A linear reading of a passage: how much its words speak like an order smuggled in, and which of them do.

Knows: words and pairs of words, what each weighs, sums over stretches. Does not know: rules, lines, severities.
The weights (`weights.msgpack`, one signed byte a feature) come from `bench/train_scanner.py`; `weights.LICENCE.md`
says from what. A stretch scores `bias` plus the weights of what it holds, so the features are the explanation.
"""

import re
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

from msgspec import Struct

TOKEN = re.compile(
    r"https?://[^\s`'\"<>)\]]{1,200}|[^\W_]+(?:'[a-z]{1,2}\b)?|\$\(|<\||\|>|!!+|[@~](?=/)|>&|[@\[\]{}<>|]"
)
SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
ADDRESS = re.compile(r"https?://\d{1,3}(?:\.\d{1,3}){3}")
SHORT, LONG = 14, 40
STEM = 6
NEAR = 7
MOST_KNOWN = 50_000


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
    """The stretch of a passage that speaks loudest: its score (log odds), its tokens by number, its features."""

    score: float
    first: int
    last: int
    features: tuple[str, ...]


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


def concept_of(token: str, weights: Weights) -> str:
    """Give the concept a word names; empty for none."""
    exact, stems = weights.concepts, weights.stems
    return exact.get(token) or stems.get(token[:STEM]) or stems.get(token[:4]) or ""


def features_of(tokens: list[str], weights: Weights) -> list[list[str]]:
    """Give each token's features: itself, the pair it ends, the begin of a long word, and the concepts it completes."""
    features = [[token] if len(token) <= STEM else [token, token[:STEM] + "~"] for token in tokens]
    for at in range(1, len(tokens)):
        features[at].append(f"{tokens[at - 1]} {tokens[at]}")
    earlier, last = (-99, ""), (-99, "")
    for at, token in enumerate(tokens):
        concept = concept_of(token, weights)
        if not concept:
            continue
        features[at].append(f"#{concept}")
        if at - last[0] <= NEAR:
            features[at].append(f"#{last[1]}>{concept}")
            if at - earlier[0] <= NEAR:
                features[at] += (f"#{earlier[1]}>{last[1]}>{concept}", f"#{earlier[1]}..{concept}")
        earlier, last = last, (at, concept)
    return features


Known = tuple[int, str, tuple[str, ...], dict[str, int] | None]
"""What is known of a word: its weight, its concept, its marks, and what each word after it adds."""


def pairs_of(weights: Weights) -> dict[str, dict[str, int]]:
    """Give the weights of pairs of words, by the first word and then the second."""
    found: dict[str, dict[str, int]] = {}
    for feature, weight in weights.features.items():
        one, _, two = feature.partition(" ")
        if two:
            found.setdefault(one, {})[two] = weight
    return found


class Classifier:
    """The weights at work; what is known of a word, its `marks` too, is looked up once."""

    def __init__(self, weights: Weights, marks_of: Callable[[str], tuple[str, ...]] = lambda _: ()) -> None:
        self.weights = weights
        self._marks_of = marks_of
        self._known: dict[str, Known] = {}
        self._pairs: dict[str, dict[str, int]] = {}

    def read(self, tokens: list[str], marks: list[str] | None = None) -> float:
        """Give the score of the loudest stretch of at most `LONG` tokens, in log odds; fill `marks` with the words'."""
        return self.weights.bias + self.weights.scale * loudest(self.values_of(tokens, marks))[0]

    def values_of(self, tokens: list[str], marks: list[str] | None = None) -> list[int]:
        """Give what each token's features weigh together; what is said again within a stretch adds nothing."""
        known = self._known
        values: list[int] = []
        named: list[tuple[int, str]] = []
        seen: set[str] = set()
        followers: dict[str, int] | None = None
        last_token = ""
        for token in tokens:
            value, concept, more, next_followers = known.get(token) or self._look_up(token)
            if more and marks is not None:
                marks += more
            if concept:
                named.append((len(values), concept))
            if value:
                if token in seen:
                    value = 0
                else:
                    if len(values) % LONG == 0:
                        seen.clear()
                    seen.add(token)
            if followers and token in followers and (pair := f"{last_token} {token}") not in seen:
                value += followers[token]
                seen.add(pair)
            values.append(value)
            followers, last_token = next_followers, token
        if len(named) > 1:
            self._add_concepts(values, named)
        return values

    def _add_concepts(self, values: list[int], named: list[tuple[int, str]]) -> None:
        """Add what neighbouring concepts weigh together, each combination once in a stretch."""
        get = self.weights.features.get
        seen: set[str] = set()
        begin = 0
        earlier, last = (-99, ""), (-99, "")
        for at, concept in named:
            if at - begin > LONG:
                seen.clear()
                begin = at
            if at - last[0] <= NEAR:
                features = [f"#{last[1]}>{concept}"]
                if at - earlier[0] <= NEAR:
                    features += (f"#{earlier[1]}>{last[1]}>{concept}", f"#{earlier[1]}..{concept}")
                for feature in features:
                    if feature not in seen and (value := get(feature)):
                        values[at] += value
                        seen.add(feature)
            earlier, last = last, (at, concept)

    def explain(self, tokens: list[str], most: int = 4) -> Reading:
        """Say which stretch of a passage is the loudest and which of its features weigh most."""
        get = self.weights.features.get
        values = self.values_of(tokens)
        total, first, last = loudest(values)
        features = features_of(tokens, self.weights)
        inside = {feature for each in features[first:last] for feature in each}
        top = sorted(inside, key=lambda feature: (-get(feature, 0), feature))[:most]
        score = self.weights.bias + self.weights.scale * total
        first, last = narrow(values, first, last)
        return Reading(score, first, last, tuple(feature for feature in top if get(feature, 0) > 0))

    def _look_up(self, token: str) -> Known:
        if not self._pairs:
            self._pairs = pairs_of(self.weights)
        get = self.weights.features.get
        concept = concept_of(token, self.weights)
        value = get(token, 0) + (get(f"#{concept}", 0) if concept else 0)
        if len(token) > STEM:
            value += get(token[:STEM] + "~", 0)
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        found = value, concept, self._marks_of(token), self._pairs.get(token)
        self._known[token] = found
        return found


def load_weights() -> Weights:
    """Read the weights that the package ships."""
    import msgspec

    content = Path(__file__).with_name("weights.msgpack").read_bytes()
    return msgspec.msgpack.decode(content, type=Weights)


def loudest(values: list[int]) -> tuple[int, int, int]:
    """Give the largest sum of `SHORT` or `LONG` neighbours, and where that stretch begins and ends."""
    if not any(values):
        return 0, 0, min(len(values), SHORT)
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


def narrow(values: list[int], first: int, last: int) -> tuple[int, int]:
    """Give the part of a stretch whose sum is the largest (Kadane's algorithm)."""
    best, found = -1, (first, last)
    total, begin = 0, first
    for at in range(first, last):
        if total <= 0:
            total, begin = 0, at
        total += values[at]
        if total > best:
            best, found = total, (begin, at + 1)
    return found
