"""A linear reading of a passage: how much its words speak like an order smuggled in, and which of them do.

Knows: words and pairs of words, what each weighs, sums over stretches, in proportion to their length. Does not know:
rules, lines, severities.
The weights (`weights.msgpack`, one signed byte a feature) come from `bench/train_scanner.py`; `weights.LICENCE.md`
says from what. A stretch scores `bias` plus the weights of what it holds over the root of its length, so the features
explain it.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from math import sqrt
from pathlib import Path

from msgspec import Struct

from hermes_acp.knowledge.addresses import kind_of_address
from hermes_acp.knowledge.cues import (
    LONGEST_READ,
    Cue,
    classes_of,
    cue_at,
    cues_in,
    features_of_cues,
    load_cues,
    possible_cues,
)
from hermes_acp.knowledge.stretches import LONG, SHORT, loudest, narrow

TOKEN = re.compile(
    r"https?://[^\s`'\"<>)\]|]{1,200}|[^\W_]+(?:'[a-z]{1,2}\b)?|~/\.[a-z][\w./-]{1,60}|\.env\b(?:\.[a-z]{1,14})?"
    r"|\| ?(?:sudo )?(?:ba|z|da|k)?sh\b|\$\(|<\||\|>|!!+|[@~](?=/)|>&|[@\[\]{}<>|]"
)
SPACELESS = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
STEM = 6
BEGINS = (3, 4, 6)
FEWEST = 5
A_RUN = 80
"""Passages that follow one another are judged as if they had so many words at least."""

AHEAD = 400
LEAD = 8
MOST_STARTS = 12
MURMUR = -6.0
"""Passages whose words are quieter than this, in log odds, are not read for cues."""

MOST_KNOWN = 50_000


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


class Reading(Struct, frozen=True):
    """The stretch of a passage that speaks loudest: its score (log odds), its tokens by number, its features.

    `whole` is what all words of the passage weigh.
    """

    score: float
    first: int
    last: int
    features: tuple[str, ...]
    whole: int = 0


class Run(Struct, frozen=True):
    """Passages that follow one another, by number, and their score (log odds) as one stretch."""

    score: float
    first: int
    last: int


Weighed = tuple[int, int]
"""What the words of a passage weigh together, and how many they are."""


@cache
def spaceless() -> re.Pattern[str]:
    """Compile what finds letters of scripts without spaces, when a text first has others than ASCII's."""
    return re.compile(SPACELESS)


def tokenize(text: str) -> list[str]:
    """Give the tokens of folded text; an address is one token, a word without spaces its pairs of letters."""
    tokens: list[str] = TOKEN.findall(text)
    if text.isascii() and "://" not in text and "sh" not in text:
        return tokens
    plain: list[str] = []
    for token in tokens:
        if token.startswith("http") and "://" in token:
            plain.append(kind_of_address(token))
        elif not token.isascii() and len(token) > 2 and spaceless().search(token):
            plain.extend(token[at : at + 2] for at in range(min(len(token) - 1, 400)))
        elif token[0] == "|" and token[-1] == "h":
            plain.append("|" + token[1:].split()[-1])
        else:
            plain.append(token)
    return plain


def concept_of(token: str, weights: Weights) -> str:
    """Give the concept a word names; empty for none."""
    exact, stems = weights.concepts, weights.stems
    return exact.get(token) or stems.get(token[:STEM]) or stems.get(token[:4]) or ""


def features_of(tokens: list[str], weights: Weights) -> list[list[str]]:
    """Give each token's features: what it is alone, and the pair it ends."""
    features = [word_features(token, weights) for token in tokens]
    for at in range(1, len(tokens)):
        features[at].append(f"{tokens[at - 1]} {tokens[at]}")
    return features


def word_features(token: str, weights: Weights) -> list[str]:
    """Give a word's features: itself, how it begins, the concept it names; words never seen begin like others."""
    features = [token]
    if token[0].isalpha():
        features += [f"{token[:length]}~" for length in BEGINS if len(token) > length]
    if concept := concept_of(token, weights):
        features.append(f"#{concept}")
    return features


Known = tuple[int, tuple[str, ...], dict[str, int] | None, int]
"""What is known of a word: its weight, its marks, what each word after it adds, its classes."""


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
        self._ties: dict[str, dict[str, int]] = {}

    def read(self, tokens: list[str]) -> float:
        """Give the score of the loudest stretch of at most `LONG` tokens, in log odds, without cues."""
        total, first, last = loudest(self.values_of(tokens)[0])
        return self._scored(total, last - first)

    def values_of(self, tokens: list[str], marks: list[str] | None = None) -> tuple[list[int], int]:
        """Give what each token's features weigh together, and the bits of the tokens' classes; fill `marks`.

        What is said again within a stretch adds nothing.
        """
        known = self._known
        values: list[int] = []
        add = values.append
        seen: set[str] = set()
        followers: dict[str, int] | None = None
        last_token = ""
        bits = 0
        for token in tokens:
            value, more, next_followers, classes = known.get(token) or self._look_up(token)
            bits |= classes
            if more and marks is not None:
                marks += more
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
            add(value)
            followers, last_token = next_followers, token
        return values, bits

    def listen(self, passage: str, tokens: list[str], marks: list[str] | None = None) -> float:
        """Give the score of a passage's loudest stretch with its cues, in log odds; fill `marks` with the words'."""
        return self.hear(passage, tokens, marks).score

    def hear(
        self, passage: str, tokens: list[str], marks: list[str] | None = None, least: float | None = None
    ) -> Reading:
        """Find the loudest stretch of a passage; of its features only the cues are given, see `explain`.

        Where it cannot reach `least`, its cues are not looked for, and the score is without them.
        """
        values, bits = self.values_of(tokens, marks)
        return self._hear(passage, tokens, values, bits, least)

    def explain(self, tokens: list[str], heard: Reading, most: int = 4) -> Reading:
        """Say which part of the loudest stretch it is, and which of its features weigh most."""
        get = self.weights.features.get
        values, _ = self.values_of(tokens)
        features = features_of(tokens[heard.first : heard.last], self.weights)
        inside = {*heard.features, *(each for some in features for each in some)}
        top = sorted(inside, key=lambda feature: (-get(feature, 0), feature))[:most]
        first, last = narrow(values, heard.first, heard.last)
        return Reading(heard.score, first, last, tuple(feature for feature in top if get(feature, 0) > 0))

    def _hear(
        self, passage: str, tokens: list[str], values: list[int], bits: int, least: float | None
    ) -> Reading:
        """Find the stretch that is the loudest with its cues; of a long passage, the candidates are its loudest
        words, and wherever a cue stands.
        """
        total, first, last = loudest(values)
        whole = sum(values)
        score = self._scored(total, last - first)
        if not bits or score < MURMUR:
            return Reading(score, first, last, (), whole)
        possible = possible_cues(bits)
        if len(tokens) <= LONG:
            lacking = None if least is None else self._lacking(least - score, last - first)
            gain, features = self._gain(passage, possible, lacking)
            return Reading(self._scored(total + gain, last - first), first, last, features, whole)
        best = Reading(score, first, last, (), whole)
        found = self._places_of_cues(passage, possible, None if least is None else least - score)
        if not found and len(passage) <= LONGEST_READ:
            return best
        places = places_of(passage, tokens)
        starts = {first}
        starts |= {max(0, min(bisect_left(places, at) - LEAD, len(tokens) - LONG)) for at in found.values()}
        if len(passage) <= LONGEST_READ:
            possible = list(found)
        for start in sorted(starts)[:MOST_STARTS]:
            end = min(len(tokens), start + LONG)
            stop = places[end] if end < len(places) else len(passage)
            gain, features = self._gain(passage[places[start] : stop], possible)
            inner, first, last = loudest(values[start:end])
            score = self._scored(inner + gain, last - first)
            if score > best.score:
                best = Reading(score, start + first, start + last, features, whole)
        return best

    def loudest_run(self, weighed: list[Weighed]) -> Run:
        """Give the score of the loudest passages that follow one another, as one stretch, and their numbers."""
        best = Run(-99.0, 0, 0)
        total = count = first = 0
        for number, (weight, tokens) in enumerate(weighed):
            if total <= 0:
                total, count, first = 0, 0, number
            total, count = total + weight, count + tokens
            if total > 0 and (score := self._scored(total, max(count, A_RUN))) > best.score:
                best = Run(score, first, number + 1)
        return best

    def _scored(self, total: float, count: int) -> float:
        """Turn the sum of `count` tokens into log odds; longer stretches need more to be as loud."""
        return self.weights.bias + self.weights.scale * total / sqrt(max(count, FEWEST))

    def _lacking(self, score: float, count: int) -> int:
        return int(score / self.weights.scale * sqrt(max(count, FEWEST)))

    def _gain(
        self, stretch: str, possible: list[Cue], lacking: int | None = None
    ) -> tuple[int, tuple[str, ...]]:
        """Give what the cues of a stretch weigh, and their features; nothing where that is less than `lacking`."""
        if not possible:
            return 0, ()
        if lacking is None:
            cues = cues_in(stretch, possible)
        else:
            damping = load_cues().damping
            reaches = self._reaches_of([*damping, *possible])
            slack = sum(reaches) - lacking
            cues = cues_in(stretch, possible, reaches[len(damping) :], slack) if slack >= 0 else ()
        if not cues:
            return 0, ()
        get = self.weights.features.get
        features = features_of_cues(cues)
        return sum(get(feature, 0) for feature in features), tuple(features)

    def _places_of_cues(self, passage: str, possible: list[Cue], lacking: float | None) -> dict[Cue, int]:
        """Give where cues first stand in a long passage; none where they cannot add as much as is lacking."""
        damping = load_cues().damping
        reaches = self._reaches_of([*damping, *possible])
        slack = sum(reaches) - (-(10**9) if lacking is None else self._lacking(lacking, SHORT))
        found: dict[Cue, int] = {}
        for cue, reach in zip(possible, reaches[len(damping) :], strict=True):
            if slack < 0:
                return {}
            at = cue_at(cue, passage)
            if at >= 0:
                found[cue] = at
            else:
                slack -= reach
        return found

    def _reaches_of(self, possible: list[Cue]) -> list[int]:
        """Give what each cue adds at most, alone and beside those before it."""
        if not self._ties:
            for feature, weight in self.weights.features.items():
                if feature[0] == "!" and weight > 0:
                    one, _, two = feature.partition("&")
                    self._ties.setdefault(one[1:], {})[two] = weight
                    self._ties.setdefault(two, {})[one[1:]] = weight
        beside = [""]
        reaches: list[int] = []
        for cue in possible:
            tied = self._ties.get(cue.id)
            reaches.append(sum([tied.get(other, 0) for other in beside]) if tied else 0)
            beside.append(cue.id)
        return reaches

    def _look_up(self, token: str) -> Known:
        if not self._pairs:
            self._pairs = pairs_of(self.weights)
        get = self.weights.features.get
        value = sum([get(feature, 0) for feature in word_features(token, self.weights)])
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        found = value, self._marks_of(token), self._pairs.get(token), classes_of(token)
        self._known[token] = found
        return found


def places_of(passage: str, tokens: list[str]) -> list[int]:
    """Give where each token begins in a passage, as far as it can be found in order; costs linear time."""
    places: list[int] = []
    at = 0
    for token in tokens:
        is_address = token.startswith("URL")
        found = passage.find(
            "://" if is_address else token[-2:] if token[0] == "|" else token, at, at + AHEAD
        )
        if found >= 0:
            places.append(max(at, found - 5) if is_address else found)
            at = found + (3 if is_address else 1)
        else:
            places.append(at)
    return places


def locate(passage: str, tokens: list[str], first: int, last: int) -> tuple[int, int]:
    """Give where tokens `first` to `last` lie in a passage."""
    if last - first >= len(tokens):
        return 0, len(passage)
    places = places_of(passage, tokens[: last + 1])
    return places[first] if first < len(places) else 0, places[last] if last < len(places) else len(passage)


def load_weights() -> Weights:
    """Read the weights that the package ships."""
    import msgspec

    content = Path(__file__).with_name("weights.msgpack").read_bytes()
    return msgspec.msgpack.decode(content, type=Weights)
