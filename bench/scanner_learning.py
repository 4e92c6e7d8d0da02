"""What the scanner's classifier learns from, and how: samples, and logistic regression over their features.

Knows: the corpus' rows, our own sentences, AdaGrad in plain Python (no package is needed, and the same input gives the
same weights). Does not know: bars, files of weights. `bench/train_scanner.py` trains, `bench/scanner.py` measures.
"""

import json
import math
import random
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.scanner_attacks import TEXTS, plain_attacks
from injection_scanner.classification.classifier import MIN_COUNT, Classifier
from injection_scanner.classification.cues import classes_of, cues_in, features_of_cues, possible_cues
from injection_scanner.classification.features import STEM, Weights, features_of
from injection_scanner.classification.score_spans import LONG, SHORT
from injection_scanner.obfuscation.hidden_characters import reveal
from injection_scanner.rules.scanner_rules import load_scan_rules
from injection_scanner.text.text_folding import fold
from injection_scanner.text.text_tokens import places_of, tokenize

PHRASES = Path(__file__).with_name("scanner_phrases.toml")
LESSONS = Path(__file__).with_name("scanner_lessons.toml")
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
EPOCHS = 5
RATE = 0.5
DECAY = 2e-6
RAREST = 2
MOST_FEATURES = 24_000
CONCEPTS_ALONE = 0.1
FILLINGS = 60
ONE_OF = 8
"""One in so many stretches without a cue is learnt from, of honest files beyond the corpus."""


Bars = tuple[float, float, float, float, float]
"""To block and to warn at, to block what is hidden at, to block and to warn of passages together at."""

NO_BARS: Bars = (0.0, 0.0, 0.0, 0.0, 0.0)


class Sample(msgspec.Struct, frozen=True):
    """One stretch of words. `group` is what is left out together; `weight` is how much it counts."""

    tokens: tuple[str, ...]
    is_attack: bool
    group: str
    origin: str
    weight: float = 1.0
    text: str = ""


Stretch = tuple[tuple[str, ...], str]
"""Tokens, and the folded text they stand in."""


def stretches(text: str) -> Iterator[Stretch]:
    """Cut a text as the scanner does: passages, and long ones into overlapping stretches."""
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
    """Yield the stretches of honest files; hard negatives count more."""
    for row in rows:
        heavy = 6.0 if row["kind"] in ("stress", "notinject-prompt") else 1.0
        light = 0.5 if row["kind"] == "security-doc" else heavy
        group = f"{row['kind']}:{row['source'].partition('@')[0]}"
        for tokens, text in stretches(row["text"]):
            yield Sample(tokens, is_attack=False, group=group, origin=row["id"], weight=light, text=text)


def telling_samples(rows: Iterable[dict[str, Any]]) -> Iterator[Sample]:
    """Give, of further honest files, the stretches that hold a cue, and some of the others."""
    for number, sample in enumerate(benign_samples(rows)):
        if number % ONE_OF == 0 or cue_features(sample):
            yield sample


def attack_samples(rows: Iterable[dict[str, Any]]) -> Iterator[Sample]:
    """Yield the stretches of attacks that stand alone and are plain words."""
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
    """Put the written phrases together: each opener, harm and hush occurs several times."""
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
    """Yield the stretches of our own attacks, of the parts that are learnt from."""
    texts = tomllib.loads(TEXTS.read_text("utf-8"))
    dice = random.Random(seed)
    for row in (row for part in ("learn", "seen") for row in plain_attacks(texts[part], dice, more=6)):
        group = f"ours:{row['kind']}"
        for tokens, text in stretches(row["text"]):
            weight = 2.0 if row["kind"] in ("jailbreak", "prompt_leak") else 0.8
            yield Sample(tokens, is_attack=True, group=group, origin=row["text"], weight=weight, text=text)


def lesson_samples(seed: int = 13) -> Iterator[Sample]:
    """Yield each lesson's sentences alone, attacks with a lead too, and after one another as attacks are worded."""
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


def _lesson(text: str, group: str, weight: float, *, is_attack: bool) -> Sample:
    folded = fold(text).text.replace("\n", " ")
    tokens = tuple(tokenize(folded))[:LONG]
    return Sample(tokens, is_attack=is_attack, group=group, origin=text, weight=weight, text=folded)


def empty_weights() -> Weights:
    """Return weights that know the concepts and nothing else."""
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
    return Weights(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, {}, exact, stems)


def cue_features(sample: Sample) -> list[str]:
    """Return the features of a sample's cues."""
    bits = 0
    for token in sample.tokens:
        bits |= classes_of(token)
    return features_of_cues(cues_in(sample.text, possible_cues(bits)))


class Learner:
    """Logistic regression over sparse features, by AdaGrad."""

    def __init__(self, samples: list[Sample]) -> None:
        counts: Counter[str] = Counter()
        self.empty = empty_weights()
        self.cache: dict[tuple[str, ...], list[list[str]]] = {}
        self.cues = {sample.text: cue_features(sample) for sample in samples}
        for sample in samples:
            counts.update({feature for each in self.features(sample.tokens) for feature in each})
            counts.update(self.cues[sample.text])
        self.known = {feature for feature, count in counts.items() if count >= RAREST and feature}
        self.samples = samples
        self.weights: dict[str, float] = defaultdict(float)
        self.squares: dict[str, float] = defaultdict(lambda: 1.0)
        self.bias, self.bias_square = -2.0, 1.0

    def features(self, tokens: tuple[str, ...]) -> list[list[str]]:
        if tokens not in self.cache:
            self.cache[tokens] = features_of(list(tokens), self.empty)
        return self.cache[tokens]

    def learn(self, seed: int = 1) -> None:
        """Go over the samples several times; of a long stretch also the loudest short part."""
        dice = random.Random(seed)
        data = [(self._known_of([*self.features(s.tokens), self.cues[s.text]]), s) for s in self.samples]
        for epoch in range(EPOCHS):
            dice.shuffle(data)
            for features, sample in data:
                if dice.random() < CONCEPTS_ALONE:
                    features = [feature for feature in features if feature[0] in "#!"]
                self._step(features, sample, len(sample.tokens))
                if epoch > 1 and not sample.is_attack and len(sample.tokens) > SHORT:
                    self._step(self._loudest(sample), sample, SHORT)

    def _known_of(self, features: list[list[str]]) -> list[str]:
        return sorted({f for each in features for f in each if f in self.known})

    def _loudest(self, sample: Sample) -> list[str]:
        features = self.features(sample.tokens)
        values = [sum(self.weights.get(f, 0.0) for f in each) for each in features]
        total = sum(values[:SHORT])
        best, first = total, 0
        for at in range(SHORT, len(values)):
            total += values[at] - values[at - SHORT]
            if total > best:
                best, first = total, at - SHORT + 1
        return self._known_of([*features[first : first + SHORT], self.cues[sample.text]])

    def _step(self, features: list[str], sample: Sample, count: int) -> None:
        part = 1 / math.sqrt(max(count, MIN_COUNT))
        score = self.bias + part * sum([self.weights[feature] for feature in features])
        aim = 1.0 if sample.is_attack else 0.0
        error = (1 / (1 + math.exp(-max(-30.0, min(30.0, score)))) - aim) * sample.weight
        if abs(error) < 0.004:
            return
        for feature in features:
            slope = error * part + DECAY * self.weights[feature]
            self.squares[feature] += slope * slope
            self.weights[feature] -= RATE * slope / math.sqrt(self.squares[feature])
        self.bias_square += error * error
        self.bias -= 0.1 * RATE * error / math.sqrt(self.bias_square)

    def rounded(self, bars: Bars) -> Weights:
        """Return the largest weights as bytes."""
        top = sorted(self.weights.items(), key=lambda pair: (-abs(pair[1]), pair[0]))[:MOST_FEATURES]
        scale = max(abs(weight) for _, weight in top) / 127
        features = {feature: round(weight / scale) for feature, weight in sorted(top)}
        kept = {feature: value for feature, value in features.items() if value}
        return Weights(scale, self.bias, *bars, kept, self.empty.concepts, self.empty.stems)


def load(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def fit(samples: list[Sample]) -> Weights:
    learner = Learner(samples)
    learner.learn()
    return learner.rounded(NO_BARS)


def loudest_by_origin(samples: list[Sample], weights: Weights) -> dict[str, float]:
    """Score each text by its loudest stretch."""
    best: dict[str, float] = {}
    classifier = Classifier(weights)
    for sample in samples:
        score = classifier.listen(sample.text, list(sample.tokens))
        best[sample.origin] = max(best.get(sample.origin, -99.0), score)
    return best


def runs_by_origin(rows: Iterable[dict[str, Any]], weights: Weights) -> dict[str, float]:
    """Score each text by its loudest passages that follow one another."""
    classifier = Classifier(weights)
    found: dict[str, float] = {}
    for row in rows:
        passages = [tokenize(passage) for passage in fold(reveal(row["text"]).text).text.split("\n")]
        weighed = [(sum(classifier.values_of(tokens)), len(tokens)) for tokens in passages]
        found[row["id"]] = classifier.best_run(weighed).score
    return found
