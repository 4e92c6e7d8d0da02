"""The training of the scanner's classifier: samples, and logistic regression over their features.

`bench/train_scanner.py` trains, `bench/scanner.py` measures.
"""

import json
import math
import random
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import numpy as np

from bench.scanner_attacks import TEXTS, plain_attacks
from bench.scanner_fitting import SparseRows, Vector, fit_rows
from bench.scanner_grammar import Grammar
from injection_scanner.classification.classifier import MIN_COUNT, Classifier
from injection_scanner.classification.cues import classes_of, cues_in, features_of_cues, possible_cues
from injection_scanner.classification.features import STEM, Weights, features_of
from injection_scanner.classification.score_spans import LONG, SHORT, best_span
from injection_scanner.classification.typical_score import typical_score
from injection_scanner.obfuscation.hidden_characters import reveal
from injection_scanner.rules.scanner_rules import load_scan_rules
from injection_scanner.text.text_folding import fold
from injection_scanner.text.text_tokens import places_of, tokenize

PHRASES = Path(__file__).with_name("scanner_phrases.toml")
LESSONS = Path(__file__).with_name("scanner_lessons.toml")
DRILLS = Path(__file__).with_name("scanner_drills.toml")
CONCEPTS = Path(__file__).with_name("scanner_concepts.toml")
WORDED = frozenset(
    (
        "instruction_override",
        "jailbreak",
        "role_hijack",
        "secret_exfil",
        "stealth_deception",
        "config_persistence",
        "tool_abuse",
        "fake_tags",
    )
)
APART = frozenset({"notinject-prompt", "stress", "security-doc"})
RAREST = 3
MOST_FEATURES = 24_000
ONE_OF = 4
QUIET = -7.0
"""Benign stretches that score lower than this are so similar that one in `ONE_OF` suffices."""

LOUD = -4.0
"""Parts of benign stretches whose words score higher than this are used for training as well."""

FILLINGS = 60

Bars = tuple[float, float, float, float, float, float]
"""The thresholds to block, warn and block hidden text, to block and warn for joined passages, and the typical score."""

NO_BARS: Bars = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Sample(msgspec.Struct, frozen=True):
    """One stretch of words. Samples of a `group` are held out together; `weight` is the sample's importance."""

    tokens: tuple[str, ...]
    is_attack: bool
    group: str
    origin: str
    weight: float = 1.0
    text: str = ""


Found = tuple[Vector, float]
"""The weights by feature number, and the bias."""

Stretch = tuple[tuple[str, ...], str]
"""The tokens, and the folded text that contains them."""


def stretches(text: str) -> Iterator[Stretch]:
    """Split a text as the scanner does: into passages, and long passages into overlapping stretches."""
    for passage in fold(reveal(text).text).text.split("\n"):
        tokens = tuple(tokenize(passage))
        if len(tokens) <= LONG:
            if len(tokens) > 2:
                yield tokens, passage
        else:
            places = [*places_of(passage, list(tokens)), len(passage)]
            for at in range(0, len(tokens) - LONG // 2, LONG // 2):
                part = tokens[at : at + LONG]
                yield part, passage[places[at] : places[at + len(part)]]


def benign_samples(rows: Iterable[dict[str, Any]]) -> Iterator[Sample]:
    """Yield the stretches of benign files; hard negatives have more weight."""
    for row in rows:
        heavy = 6.0 if row["kind"] in ("stress", "notinject-prompt") else 1.0
        light = 0.5 if row["kind"] == "security-doc" else heavy
        group = f"{row['kind']}:{row['source'].partition('@')[0]}"
        for tokens, text in stretches(row["text"]):
            yield Sample(tokens, is_attack=False, group=group, origin=row["id"], weight=light, text=text)


def attack_samples(rows: Iterable[dict[str, Any]]) -> Iterator[Sample]:
    """Yield the stretches of standalone attacks in plain words."""
    for row in rows:
        if row["mode"] != "standalone" or row["kind"] not in WORDED:
            continue
        source = (
            "authored" if row["source"] == "authored" else row["source"].partition("@")[0].partition(" ")[0]
        )
        parts = list(stretches(row["text"]))
        if row["kind"] == "fake_tags":
            whole = tuple(token for part, _ in parts for token in part)[:LONG]
            parts = [(whole, " ".join(text for _, text in parts))]
        group = f"{source}:{row['kind']}"
        for tokens, text in parts:
            weight = 1.0 if len(parts) == 1 else max(0.25, 3.0 / len(parts))
            yield Sample(tokens, is_attack=True, group=group, origin=row["id"], weight=weight, text=text)
            if len(parts) == 1 and len(tokens) > SHORT:
                half = len(tokens) // 2
                middle = places_of(text, list(tokens))[half]
                for part, words in ((tokens[:half], text[:middle]), (tokens[half:], text[middle:])):
                    yield Sample(part, is_attack=True, group=group, origin=row["id"], weight=0.3, text=words)


def phrase_samples(seed: int = 7) -> Iterator[Sample]:
    """Combine the written phrases so that each opener, harm and hush occurs several times."""
    phrases = tomllib.loads(PHRASES.read_text("utf-8"))
    dice = random.Random(seed)

    def attack(text: str, family: str, weight: float = 1.0) -> Sample:
        folded = fold(text).text.replace("\n", " ")
        tokens = tuple(tokenize(folded))[:LONG]
        return Sample(
            tokens, is_attack=True, group=f"phrases:{family}", origin=text, weight=weight, text=folded
        )

    for opener in phrases["openers"]:
        yield attack(opener, "openers", 2.0)
        for harm in dice.sample(phrases["harms"], 6):
            yield attack(f"{opener} {harm}.", "openers")
    for harm in phrases["harms"]:
        for lead in dice.sample(phrases["leads"], 5):
            yield attack(f"{lead} {harm}.", "harms")
        for hush in dice.sample(phrases["hushes"], 3):
            yield attack(f"{harm}. {hush}", "hushes")
    for hush in phrases["hushes"]:
        yield attack(hush, "hushes")
    for text in phrases["attacks"]:
        yield attack(text, "attacks", 3.0)
    grammar = phrases["grammar"]
    for template in grammar["templates"]:
        for _ in range(FILLINGS):
            text = re.sub(r"\{(\w+)\}", lambda found: dice.choice(grammar[found[1]]), template)
            yield attack(text, "grammar", 0.5)
    counter_examples = [
        rule.counter_example for rule in load_scan_rules().rules.values() if rule.category != "hidden_unicode"
    ]
    for text in (*phrases["plain"], *counter_examples):
        folded = fold(text).text
        yield Sample(
            tuple(tokenize(folded)),
            is_attack=False,
            group="phrases:plain",
            origin=text,
            weight=8.0,
            text=folded,
        )


def learn_samples(seed: int = 5) -> Iterator[Sample]:
    """Yield the stretches of our own attacks, from the parts used for training."""
    texts = tomllib.loads(TEXTS.read_text("utf-8"))
    dice = random.Random(seed)
    for row in (row for part in ("learn", "seen") for row in plain_attacks(texts[part], dice, more=6)):
        group = f"ours:{row['kind']}"
        for tokens, text in stretches(row["text"]):
            weight = 2.0 if row["kind"] in ("jailbreak", "prompt_leak") else 0.8
            yield Sample(tokens, is_attack=True, group=group, origin=row["text"], weight=weight, text=text)


def lesson_samples(seed: int = 13) -> Iterator[Sample]:
    """Yield each lesson's sentences alone, attacks also with a lead-in, and joined as in real attacks."""
    lessons = tomllib.loads(LESSONS.read_text("utf-8"))
    leads = tomllib.loads(PHRASES.read_text("utf-8"))["leads"]
    dice = random.Random(seed)
    every = [text for texts in lessons["attacks"].values() for text in texts]
    for family, texts in lessons["attacks"].items():
        for text in texts:
            yield _lesson(text, f"lessons:{family}", 2.0, is_attack=True)
            for other in dice.sample(every, 3):
                yield _lesson(f"{text} {other}", f"lessons:{family}", 0.4, is_attack=True)
            for lead in dice.sample(leads, 2):
                yield _lesson(f"{lead} {text[0].lower()}{text[1:]}", f"lessons:{family}", 0.5, is_attack=True)
    for text in (text for texts in lessons["honest"].values() for text in texts):
        yield _lesson(text, "lessons:honest", 5.0, is_attack=False)


def drill_samples() -> Iterator[Sample]:
    """Yield the sentences that were written individually, and those that the grammar generates."""
    drills = tomllib.loads(DRILLS.read_text("utf-8"))
    for part, is_attack, weight in (("attacks", True, 2.0), ("honest", False, 4.0)):
        for family, texts in drills[part].items():
            for text in texts.strip().splitlines():
                yield _lesson(text, f"drills:{family}", weight, is_attack=is_attack)
    for made in Grammar().sentences():
        yield _lesson(made.text, f"grammar:{made.family}", 0.5, is_attack=made.is_attack)


def own_samples() -> list[Sample]:
    """Return the samples of all sentences that were written for training."""
    return [*phrase_samples(), *learn_samples(), *lesson_samples(), *drill_samples()]


def _lesson(text: str, group: str, weight: float, *, is_attack: bool) -> Sample:
    folded = fold(text).text.replace("\n", " ")
    tokens = tuple(tokenize(folded))[:LONG]
    return Sample(tokens, is_attack=is_attack, group=group, origin=text, weight=weight, text=folded)


def empty_weights() -> Weights:
    """Return weights that contain only the concepts."""
    exact: dict[str, str] = {}
    stems: dict[str, str] = {}
    for concept, words in tomllib.loads(CONCEPTS.read_text("utf-8")).items():
        for word in words.split():
            if word.endswith("*"):
                stem = word[:-1]
                if len(stem) in (4, STEM):
                    stems.setdefault(stem, concept)
                elif len(stem) > STEM:
                    stems.setdefault(stem[:STEM], concept)
                else:
                    endings = (
                        "",
                        "s",
                        "d",
                        "ed",
                        "ing",
                        "e",
                        "er",
                        "ers",
                        "es",
                        "ion",
                        "ions",
                        "al",
                        "able",
                        "ly",
                        "y",
                        "ies",
                    )
                    for ending in endings:
                        exact.setdefault(stem + ending, concept)
            else:
                exact.setdefault(word, concept)
    return Weights(1.0, 0.0, *NO_BARS, {}, exact, stems)


def cue_features(sample: Sample) -> list[str]:
    """Return the cue features of a sample."""
    bits = 0
    for token in sample.tokens:
        bits |= classes_of(token)
    return features_of_cues(cues_in(sample.text, possible_cues(bits)))


class Learner:
    """Trains on the words, pairs, concepts and cues of samples, and on high-scoring parts of benign stretches."""

    def __init__(self, samples: list[Sample]) -> None:
        self.empty = empty_weights()
        self._names: dict[str, int] = {}
        self._samples = samples
        self._rows = self._rows_of(samples)
        self._found: Found | None = None

    def learn(self, chosen: Callable[[Sample], bool] = lambda _: True) -> None:
        """Fit some of the chosen samples, then those that matter according to the first weights.

        Of the benign stretches with a low score by the first weights, one in `ONE_OF` represents all. `rounded` returns
        the result.
        """
        taken = [at for at, sample in enumerate(self._samples) if chosen(sample)]
        always = {at for at in taken if self._samples[at].is_attack}
        few = [at for number, at in enumerate(taken) if at in always or number % ONE_OF == 0]
        self._found = self._fitted(
            [self._standing_for(at, more=True) for at in few], self._rows.chosen(np.array(few))
        )
        weights, bias = self._found
        scores = self._rows.scores(weights) + bias
        always.update(at for at in taken if scores[at] > QUIET)
        kept = [at for number, at in enumerate(taken) if at in always or number % ONE_OF == 0]
        samples = [self._standing_for(at, more=at not in always) for at in kept]
        louder = list(self._loudest([sample for sample in samples if not sample.is_attack]))
        rows = self._rows.chosen(np.array(kept)).followed_by(self._rows_of(louder))
        self._found = self._fitted([*samples, *louder], rows)

    def _standing_for(self, at: int, *, more: bool) -> Sample:
        """Return a sample; a benign one that represents others has more weight."""
        sample = self._samples[at]
        if sample.is_attack or not more:
            return sample
        return msgspec.structs.replace(sample, weight=sample.weight * ONE_OF)

    def rounded(self, bars: Bars) -> Weights:
        """Return the largest weights, quantised to bytes."""
        assert self._found is not None, "nothing was trained"
        weights, bias = self._found
        names = list(self._names)
        largest: list[int] = np.argsort(-np.abs(weights), kind="stable")[:MOST_FEATURES].tolist()
        scale = float(np.abs(weights).max()) / 127
        features = {
            names[at]: round(float(weights[at]) / scale) for at in sorted(largest, key=names.__getitem__)
        }
        kept = {feature: value for feature, value in features.items() if value}
        return Weights(scale, bias, *bars, kept, self.empty.concepts, self.empty.stems)

    def _rows_of(self, samples: list[Sample]) -> SparseRows:
        factors = (1 / math.sqrt(max(len(sample.tokens), MIN_COUNT)) for sample in samples)
        return SparseRows.of(map(self._row_of, samples), factors)

    def _row_of(self, sample: Sample) -> list[int]:
        names = {name for each in features_of(list(sample.tokens), self.empty) for name in each}
        names.update(cue_features(sample))
        return [self._names.setdefault(name, len(self._names)) for name in sorted(names) if name]

    def _fitted(self, samples: list[Sample], rows: SparseRows) -> Found:
        known = np.bincount(rows.flat, minlength=len(self._names)) >= RAREST
        answers = np.array([float(sample.is_attack) for sample in samples])
        importance = np.array([sample.weight for sample in samples])
        part, bias = fit_rows(rows.only(known), answers, importance, int(known.sum()))
        weights = np.zeros(len(self._names))
        weights[known] = part
        return weights, bias

    def _loudest(self, samples: list[Sample]) -> Iterator[Sample]:
        """Yield the highest-scoring short part of each long benign stretch, if the score is high."""
        classifier = Classifier(self.rounded(NO_BARS))
        for sample in samples:
            if sample.is_attack or len(sample.tokens) <= SHORT:
                continue
            tokens = list(sample.tokens)
            total, first, last = best_span(classifier.values_of(tokens))
            score = classifier.weights.bias + classifier.weights.scale * total / math.sqrt(last - first)
            if last - first == len(tokens) or score < LOUD:
                continue
            places = [*places_of(sample.text, tokens), len(sample.text)]
            text = sample.text[places[first] : places[last]]
            yield msgspec.structs.replace(sample, tokens=tuple(tokens[first:last]), text=text)


def load(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def typical_of(rows: Iterable[dict[str, Any]], weights: Weights) -> float:
    """Return the score that a quarter of the passages of a typical file exceed."""
    classifier = Classifier(weights)
    texts = (fold(reveal(row["text"]).text).text for row in rows if row["kind"] not in APART)
    scores = (typical_score(text.split("\n"), classifier) for text in texts)
    return round(median(score for score in scores if score is not None), 2)


def fit(samples: list[Sample]) -> Weights:
    learner = Learner(samples)
    learner.learn()
    return learner.rounded(NO_BARS)


def loudest_by_origin(samples: list[Sample], weights: Weights) -> dict[str, float]:
    """Score each text by its highest-scoring stretch."""
    best: dict[str, float] = {}
    classifier = Classifier(weights)
    for sample in samples:
        score = classifier.listen(sample.text, list(sample.tokens))
        best[sample.origin] = max(best.get(sample.origin, -99.0), score)
    return best


def runs_by_origin(rows: Iterable[dict[str, Any]], weights: Weights) -> dict[str, float]:
    """Score each text by its highest-scoring run of consecutive passages."""
    classifier = Classifier(weights)
    found: dict[str, float] = {}
    for row in rows:
        passages = [tokenize(passage) for passage in fold(reveal(row["text"]).text).text.split("\n")]
        weighed = [(sum(classifier.values_of(tokens)), len(tokens)) for tokens in passages]
        found[row["id"]] = classifier.best_run(weighed).score
    return found
