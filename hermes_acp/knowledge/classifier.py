"""A linear reading of a passage: how much its words speak like an order smuggled in, and which of them do.

Knows: words and pairs of words, what each weighs, sums over stretches, in proportion to their length. Does not know:
rules, lines, severities.
What words weigh was learnt (`features.py`). A stretch scores `bias` plus the weights of what it holds over the root of
its length, so the features explain it.
"""

from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise
from math import sqrt
from typing import Final

from msgspec import Struct

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
from hermes_acp.knowledge.features import (
    Weights,
    concept_of,
    features_of,
    ties_of,
    word_features,
)
from hermes_acp.knowledge.stretches import LONG, SHORT, loudest, narrow
from hermes_acp.knowledge.tokens import places_of

FEWEST = 5
A_RUN = 80
"""Passages that follow one another are judged as if they had so many words at least."""

LEAD = 8
MOST_STARTS = 12
MURMUR = -3.5
"""Passages whose words are quieter than this, in log odds, are not read for cues."""

MOST_KNOWN = 50_000


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


class Reaches(Struct, frozen=True):
    """Cues in the order in which they are looked for, what each adds at most beside those before it, and all of it."""

    cues: tuple[Cue, ...]
    each: tuple[int, ...]
    total: int


NO_REACHES: Final = Reaches((), (), -(10**9))


Weighed = tuple[int, int]
"""What the words of a passage weigh together, and how many they are."""


class Lexicon(dict[str, int]):
    """What the words met so far weigh; a word is looked up when it is first met, its classes, marks and sides too.

    `marked`, `sided` and `classed` hold only the words that have some.
    """

    def __init__(
        self, weights: Weights, marks_of: Callable[[str], tuple[str, ...]], sides_of: Callable[[str], int]
    ) -> None:
        super().__init__()
        self.sided: dict[str, int] = {}
        self._sides_of = sides_of
        self.marked: dict[str, tuple[str, ...]] = {}
        self.classed: dict[str, int] = {}
        self.concepts: dict[str, str] = {}
        self._weights = weights
        self._marks_of = marks_of

    def __missing__(self, token: str) -> int:
        get = self._weights.features.get
        value = sum([get(feature, 0) for feature in word_features(token, self._weights)])
        if marks := self._marks_of(token):
            self.marked[token] = marks
        if sides := self._sides_of(token):
            self.sided[token] = sides
        if classes := classes_of(token):
            self.classed[token] = classes
        if concept := concept_of(token, self._weights):
            self.concepts[token] = concept
        self[token] = value
        return value

    def forget(self) -> None:
        """Begin anew when there are too many words."""
        if len(self) >= MOST_KNOWN:
            self.clear()
            self.marked.clear()
            self.sided.clear()
            self.classed.clear()
            self.concepts.clear()


class Classifier:
    """The weights at work; what is known of a word, its `marks` too, is looked up once."""

    def __init__(
        self,
        weights: Weights,
        marks_of: Callable[[str], tuple[str, ...]] = lambda _: (),
        sides_of: Callable[[str], int] = lambda _: 0,
    ) -> None:
        self.weights = weights
        self._lexicon = Lexicon(weights, marks_of, sides_of)
        self._ties: dict[str, dict[str, int]] = {}
        self._most: list[tuple[int, int]] = []
        self._damped = 0
        self._reaches: dict[int, Reaches] = {}

    def read(self, tokens: list[str]) -> float:
        """Give the score of the loudest stretch of at most `LONG` tokens, in log odds, without cues."""
        total, first, last = loudest(self.values_of(tokens))
        return self._scored(total, last - first)

    def values_of(self, tokens: list[str]) -> list[int]:
        """Give what each token's features weigh together; what is said again within `LONG` tokens adds nothing."""
        values = [0] * len(tokens)
        every = list(map(self._lexicon.__getitem__, tokens))
        features = self.weights.features
        known = features.keys()
        for start in range(0, len(tokens), LONG):
            end = min(start + LONG, len(tokens))
            part = tokens[start:end]
            for at in dict(zip(reversed(part), range(end - 1, start - 1, -1), strict=True)).values():
                values[at] = every[at]
            begin = max(start, 1)
            couples = list(map(" ".join, pairwise(tokens[begin - 1 : end])))
            for couple in known & couples:
                values[begin + couples.index(couple)] += features[couple]
            if ties := self._ties_in(part):
                ties.reverse()
                places = dict(ties)
                for tie in known & places:
                    values[start + places[tie]] += features[tie]
        return values

    def _ties_in(self, tokens: list[str]) -> list[tuple[str, int]]:
        """Give the concepts near each other and where; only words that were weighed before are known by theirs."""
        concepts = map(self._lexicon.concepts.get, tokens)
        named = [(at, concept) for at, concept in enumerate(concepts) if concept]
        return ties_of(named) if len(named) > 1 else []

    def _sum_of(self, tokens: list[str]) -> int:
        """Give what the tokens of a short passage weigh together, as `values_of` does."""
        features = self.weights.features
        alone = sum(map(self._lexicon.__getitem__, set(tokens)))
        found = features.keys() & map(" ".join, pairwise(tokens))
        if ties := self._ties_in(tokens):
            found |= features.keys() & dict(ties)
        return alone + sum([features[each] for each in found])

    def _bits_of(self, tokens: list[str]) -> int:
        classed = self._lexicon.classed
        bits = 0
        for token in classed.keys() & set(tokens):
            bits |= classed[token]
        return bits

    def sides_in(self, tokens: list[str]) -> int:
        """Give the bits of all tokens' sides, once these were weighed."""
        sided = self._lexicon.sided
        bits = 0
        for token in sided.keys() & tokens:
            bits |= sided[token]
        return bits

    def marks_in(self, tokens: list[str]) -> list[str]:
        """Give the marks of all tokens, in order, once these were weighed."""
        marked = self._lexicon.marked
        if marked.keys().isdisjoint(tokens):
            return []
        return [mark for token in tokens if token in marked for mark in marked[token]]

    def listen(self, passage: str, tokens: list[str]) -> float:
        """Give the score of a passage's loudest stretch with its cues, in log odds."""
        return self.hear(passage, tokens).score

    def hear(self, passage: str, tokens: list[str], least: float | None = None) -> Reading:
        """Find the loudest stretch of a passage; of its features only the cues are given, see `explain`.

        Of a long passage, the candidates are its loudest words, and wherever a cue stands. Where it cannot reach
        `least`, its cues are not looked for, and the score is without them.
        """
        self._lexicon.forget()
        count = len(tokens)
        values = self.values_of(tokens) if count > SHORT else []
        total, first, last = loudest(values) if values else (self._sum_of(tokens), 0, count)
        whole = sum(values) if values else total
        score = self._scored(total, last - first)
        if score < MURMUR or not (bits := self._bits_of(tokens)):
            return Reading(score, first, last, (), whole)
        if count <= LONG:
            lacking = None if least is None else self._lacking(least - score, last - first)
            gain, features = self._gain(passage, bits, lacking)
            return Reading(self._scored(total + gain, last - first), first, last, features, whole)
        lacking = None if least is None else least - score
        return self._hear_long(passage, tokens, values, bits, Reading(score, first, last, (), whole), lacking)

    def explain(self, tokens: list[str], heard: Reading, most: int = 4) -> Reading:
        """Say which part of the loudest stretch it is, and which of its features weigh most."""
        get = self.weights.features.get
        values = self.values_of(tokens)
        features = features_of(tokens[heard.first : heard.last], self.weights)
        inside = {*heard.features, *(each for some in features for each in some)}
        top = sorted(inside, key=lambda feature: (-get(feature, 0), feature))[:most]
        first, last = narrow(values, heard.first, heard.last)
        return Reading(heard.score, first, last, tuple(feature for feature in top if get(feature, 0) > 0))

    def _hear_long(
        self,
        passage: str,
        tokens: list[str],
        values: list[int],
        bits: int,
        best: Reading,
        lacking: float | None,
    ) -> Reading:
        found = self._places_of_cues(passage, bits, lacking)
        if not found and len(passage) <= LONGEST_READ:
            return best
        places = places_of(passage, tokens)
        starts = {best.first}
        starts |= {max(0, min(bisect_left(places, at) - LEAD, len(tokens) - LONG)) for at in found.values()}
        known = frozenset(found) if len(passage) <= LONGEST_READ else None
        for start in sorted(starts)[:MOST_STARTS]:
            end = min(len(tokens), start + LONG)
            stop = places[end] if end < len(places) else len(passage)
            gain, features = self._gain(passage[places[start] : stop], bits, known=known)
            inner, first, last = loudest(values[start:end])
            score = self._scored(inner + gain, last - first)
            if score > best.score:
                best = Reading(score, start + first, start + last, features, best.whole)
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
        self, stretch: str, bits: int, lacking: int | None = None, known: frozenset[Cue] | None = None
    ) -> tuple[int, tuple[str, ...]]:
        """Give what the cues of a stretch weigh, and their features; nothing where that is less than `lacking`.

        Where `known` is given, only these are looked for.
        """
        if lacking is None:
            possible = possible_cues(bits)
            found = cues_in(stretch, possible if known is None else [cue for cue in possible if cue in known])
        else:
            reaches = self._reaches_of(bits, lacking)
            slack = reaches.total - lacking
            found = cues_in(stretch, reaches.cues, reaches.each, slack) if slack >= 0 else ()
        if not found:
            return 0, ()
        get = self.weights.features.get
        features = features_of_cues(found)
        return sum(get(feature, 0) for feature in features), tuple(features)

    def _places_of_cues(self, passage: str, bits: int, lacking: float | None) -> dict[Cue, int]:
        """Give where cues first stand in a long passage; none where they cannot add as much as is lacking."""
        least = -(10**9) if lacking is None else self._lacking(lacking, SHORT)
        reaches = self._reaches_of(bits, least)
        slack = reaches.total - least
        found: dict[Cue, int] = {}
        for cue, reach in zip(reaches.cues, reaches.each, strict=True):
            if slack < 0:
                return {}
            at = cue_at(cue, passage)
            if at >= 0:
                found[cue] = at
            else:
                slack -= reach
        return found

    def _reaches_of(self, bits: int, least: int) -> Reaches:
        """Give the cues that words of these classes make possible, and what each adds at most.

        Where it is plain that all of them do not add `least`, none is given.
        """
        if (known := self._reaches.get(bits)) is not None:
            return known
        if not self._ties:
            for feature, weight in self.weights.features.items():
                if feature[0] == "!" and weight > 0:
                    one, _, two = feature.partition("&")
                    self._ties.setdefault(one[1:], {})[two] = weight
                    self._ties.setdefault(two, {})[one[1:]] = weight
            cues = load_cues()
            self._most = [(needed, self._most_of(cue)) for needed, cue in cues.loud]
            self._damped = sum(map(self._most_of, cues.damping))
        damping = load_cues().damping
        if self._damped + sum([most for needed, most in self._most if bits & needed == needed]) < least:
            return NO_REACHES
        possible = sorted(possible_cues(bits), key=self._promise, reverse=True)
        beside = [""]
        reaches: list[int] = []
        for cue in (*damping, *possible):
            tied = self._ties.get(cue.id, {})
            reaches.append(sum([tied.get(other, 0) for other in beside]))
            beside.append(cue.id)
        found = Reaches(tuple(possible), tuple(reaches[len(damping) :]), sum(reaches))
        self._reaches[bits] = found
        return found

    def _most_of(self, cue: Cue) -> int:
        return sum(self._ties.get(cue.id, {}).values())

    def _promise(self, cue: Cue) -> float:
        """Give how much a cue can add for what it costs to look for it."""
        return self._most_of(cue) / len(cue.pattern)
