"""A linear classifier that measures how much a passage resembles an injected order, and which words do.

The weights of words are learnt (`features.py`). The score of a span is `bias` plus the weights of its features divided
by the square root of its length, so the features explain the score.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import pairwise
from math import sqrt

from msgspec import Struct

from injection_scanner.classification.cue_search import CueSearch, MissingScore
from injection_scanner.classification.cues import (
    MAX_LETTERS,
    MAX_READ_CHARS,
    classes_of,
    damping_cues_near,
    features_of_cues,
)
from injection_scanner.classification.features import (
    Pair,
    Pairs,
    Weights,
    concept_of,
    features_of,
    pairs_of,
    ties_of,
    word_features,
)
from injection_scanner.classification.score_spans import LONG, SHORT, best_span, best_subspan
from injection_scanner.text.text_tokens import places_of

MIN_COUNT = 5
MAX_RUN_PASSAGES = 80
"""The minimum length in words with which runs of consecutive passages are scored."""

LEAD = 8
MAX_STARTS = 12
QUIET_SCORE = -3.5
"""The score in log odds below which passages are not searched for cues."""

MIN_TELLING_CHARS = 4
"""The minimum length of features in explanations; shorter ones ("the", "a") may have weight but explain nothing."""

MAX_CACHED = 50_000


class PassageScore(Struct, frozen=True):
    """The highest-scoring span of a passage: its score (log odds), its token indices, its features.

    `whole` is the total weight of the passage's words.
    """

    score: float
    first: int
    last: int
    features: tuple[str, ...]
    whole: int = 0


class PassageRun(Struct, frozen=True):
    """Consecutive passages, by index, and their score (log odds) as one span."""

    score: float
    first: int
    last: int


class ScoreFloors(Struct, frozen=True):
    """The scores (log odds) below which a passage is ignored, with and without a deed and a turn among its cues."""

    paired: float
    alone: float


WeighedPassage = tuple[int, int]
"""The total weight of a passage's words, and their number."""


class Lexicon(dict[str, int]):
    """The weights of the words seen so far; a word's classes, marks and sides are looked up on first use.

    `marked`, `sided` and `classed` hold only the words that have any.
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
        """Clear the lexicon when it has too many words."""
        if len(self) >= MAX_CACHED:
            self.clear()
            self.marked.clear()
            self.sided.clear()
            self.classed.clear()
            self.concepts.clear()


class Classifier:
    """Applies the weights; the data about a word, including its `marks`, is looked up once."""

    def __init__(
        self,
        weights: Weights,
        marks_of: Callable[[str], tuple[str, ...]] = lambda _: (),
        sides_of: Callable[[str], int] = lambda _: 0,
    ) -> None:
        self.weights = weights
        self._lexicon = Lexicon(weights, marks_of, sides_of)
        self._search: CueSearch | None = None
        self._pairs: Pairs | None = None

    def read(self, tokens: list[str]) -> float:
        """Return the score of the highest-scoring span of at most `LONG` tokens, in log odds, without cues."""
        total, first, last = best_span(self.values_of(tokens))
        return self._scored(total, last - first)

    def score_words(self, tokens: list[str]) -> float:
        """Return the score of a short passage's words as one span, in log odds, without cues."""
        return self._scored(self._sum_of(tokens), len(tokens))

    def values_of(self, tokens: list[str]) -> list[int]:
        """Return the total weight of each token's features; repetitions within `LONG` tokens add nothing."""
        values = [0] * len(tokens)
        every = list(map(self._lexicon.__getitem__, tokens))
        couples, ties = self._known_pairs.couples, self._known_pairs.ties
        for start in range(0, len(tokens), LONG):
            end = min(start + LONG, len(tokens))
            part = tokens[start:end]
            for at in dict(zip(reversed(part), range(end - 1, start - 1, -1), strict=True)).values():
                values[at] = every[at]
            begin = max(start, 1)
            coupled = list(pairwise(tokens[begin - 1 : end]))
            for couple in couples.keys() & coupled:
                values[begin + coupled.index(couple)] += couples[couple]
            if tied := self._ties_in(part):
                tied.reverse()
                places = dict(tied)
                for tie in ties.keys() & places:
                    values[start + places[tie]] += ties[tie]
        return values

    def _ties_in(self, tokens: list[str]) -> list[tuple[Pair, int]]:
        """Return the pairs of nearby concepts and their positions; the words must have been weighed."""
        concepts = map(self._lexicon.concepts.get, tokens)
        named = [(at, concept) for at, concept in enumerate(concepts) if concept]
        return ties_of(named) if len(named) > 1 else []

    def _sum_of(self, tokens: list[str]) -> int:
        """Return the total weight of a short passage's tokens, as computed by `values_of`."""
        couples, ties = self._known_pairs.couples, self._known_pairs.ties
        total = sum(map(self._lexicon.__getitem__, set(tokens)))
        total += sum([couples[each] for each in couples.keys() & pairwise(tokens)])
        if tied := self._ties_in(tokens):
            total += sum([ties[each] for each in ties.keys() & dict(tied)])
        return total

    def _bits_of(self, tokens: list[str]) -> int:
        classed = self._lexicon.classed
        bits = 0
        for token in classed.keys() & set(tokens):
            bits |= classed[token]
        return bits

    def sides_in(self, tokens: list[str]) -> int:
        """Return the bits of all tokens' sides; the tokens must have been weighed."""
        sided = self._lexicon.sided
        bits = 0
        for token in sided.keys() & tokens:
            bits |= sided[token]
        return bits

    def marks_in(self, tokens: list[str]) -> list[str]:
        """Return the marks of all tokens, in order; the tokens must have been weighed."""
        marked = self._lexicon.marked
        if marked.keys().isdisjoint(tokens):
            return []
        return [mark for token in tokens if token in marked for mark in marked[token]]

    def listen(self, passage: str, tokens: list[str]) -> float:
        """Return the score of a passage's highest-scoring span including its cues, in log odds."""
        return self.score_passage(passage, tokens).score

    def score_passage(
        self, passage: str, tokens: list[str], least: ScoreFloors | None = None
    ) -> PassageScore:
        """Find the highest-scoring span of a passage; only its cues are returned as features (see `explain`).

        In a long passage, the candidates are its highest-scoring words and the surroundings of each cue. If it cannot
        reach `least`, cues are not searched for, and the score excludes them.
        """
        self._lexicon.forget()
        count = len(tokens)
        values = self.values_of(tokens) if count > SHORT else []
        total, first, last = best_span(values) if values else (self._sum_of(tokens), 0, count)
        whole = sum(values) if values else total
        score = self._scored(total, last - first)
        if score < QUIET_SCORE or not (bits := self._bits_of(tokens)):
            return PassageScore(score, first, last, (), whole)
        if count <= LONG:
            lack = self._missing_score(least, score, last - first)
            found = self._cues.find(passage, MAX_LETTERS, bits, lack)
            gain, features = self._cue_gain(passage, found)
            return PassageScore(self._scored(total + gain, last - first), first, last, features, whole)
        found = self._cues.find(passage, MAX_READ_CHARS, bits, self._missing_score(least, score, SHORT))
        best = PassageScore(score, first, last, (), whole)
        if not found and len(passage) <= MAX_READ_CHARS:
            return best
        return self._score_long(passage, tokens, values, bits, best, found)

    def explain(self, tokens: list[str], scored: PassageScore, most: int = 4) -> PassageScore:
        """Narrow down the highest-scoring span and return the features with the most weight."""
        get = self.weights.features.get
        values = self.values_of(tokens)
        features = features_of(tokens[scored.first : scored.last], self.weights)
        inside = {*scored.features, *(each for some in features for each in some)}
        telling = [feature for feature in inside if get(feature, 0) > 0 and len(feature) >= MIN_TELLING_CHARS]
        top = sorted(telling, key=lambda feature: (-get(feature, 0), feature))[:most]
        first, last = best_subspan(values, scored.first, scored.last)
        return PassageScore(scored.score, first, last, tuple(top))

    def _score_long(
        self,
        passage: str,
        tokens: list[str],
        values: list[int],
        bits: int,
        best: PassageScore,
        found: dict[str, int],
    ) -> PassageScore:
        places = places_of(passage, tokens)
        starts = {best.first}
        starts |= {max(0, min(bisect_left(places, at) - LEAD, len(tokens) - LONG)) for at in found.values()}
        for start in sorted(starts)[:MAX_STARTS]:
            end = min(len(tokens), start + LONG)
            stop = places[end] if end < len(places) else len(passage)
            stretch = passage[places[start] : stop]
            if len(passage) <= MAX_READ_CHARS:
                inside = self._cues.find_again(stretch, MAX_LETTERS, found)
            else:
                inside = self._cues.find(stretch, MAX_LETTERS, bits, None)
            gain, features = self._cue_gain(stretch, inside)
            inner, first, last = best_span(values[start:end])
            score = self._scored(inner + gain, last - first)
            if score > best.score:
                best = PassageScore(score, start + first, start + last, features, best.whole)
        return best

    def best_run(self, weighed: list[WeighedPassage]) -> PassageRun:
        """Return the score and indices of the highest-scoring run of consecutive passages, as one span."""
        best = PassageRun(-99.0, 0, 0)
        total = count = first = 0
        for number, (weight, tokens) in enumerate(weighed):
            if total <= 0:
                total, count, first = 0, 0, number
            total, count = total + weight, count + tokens
            if total > 0 and (score := self._scored(total, max(count, MAX_RUN_PASSAGES))) > best.score:
                best = PassageRun(score, first, number + 1)
        return best

    def _scored(self, total: float, count: int) -> float:
        """Convert the sum of `count` tokens into log odds; longer spans need a larger sum for the same score."""
        return self.weights.bias + self.weights.scale * total / sqrt(max(count, MIN_COUNT))

    def _missing_score(self, least: ScoreFloors | None, score: float, count: int) -> MissingScore | None:
        """Return the score that cues must add to a span of `count` tokens."""
        if least is None:
            return None
        a_point = sqrt(max(count, MIN_COUNT)) / self.weights.scale
        return MissingScore(int((least.paired - score) * a_point), int((least.alone - score) * a_point))

    def _cue_gain(self, stretch: str, found: Iterable[str]) -> tuple[int, tuple[str, ...]]:
        """Return the weight of the cues found in a span, and their features, including those of damping cues."""
        cues = damping_cues_near(found, stretch)
        if not cues:
            return 0, ()
        get = self.weights.features.get
        features = features_of_cues(cues)
        return sum([get(feature, 0) for feature in features]), tuple(features)

    @property
    def _known_pairs(self) -> Pairs:
        """The weights of pairs."""
        if self._pairs is None:
            self._pairs = pairs_of(self.weights)
        return self._pairs

    @property
    def _cues(self) -> CueSearch:
        """The cue search, created lazily because most texts need none."""
        if self._search is None:
            self._search = CueSearch(self.weights)
        return self._search
