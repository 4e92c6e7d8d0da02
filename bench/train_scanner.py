"""Train the scanner's classifier: python -m bench.train_scanner CORPUS [--check] [--write].

CORPUS is a folder with benign.dev.jsonl and attack.dev.jsonl (id, kind, source, text; attacks also mode, technique,
carrier). To it come the sentences of scanner_phrases.toml. Logistic regression by stochastic gradient (AdaGrad)
over the features of knowledge/classifier.py, in plain Python: no package is needed, and the same input gives
the same weights.
--check prints how it does on what it was not trained on: leave one source, one family and the phrases' own half out.
"""

import argparse
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

from hermes_acp.knowledge.classifier import LONG, SHORT, STEM, Classifier, Weights, features_of, tokenize
from hermes_acp.knowledge.folding import fold
from hermes_acp.knowledge.hidden_characters import reveal
from hermes_acp.knowledge.rulebook import load_rulebook

WEIGHTS = Path(__file__).parent.parent / "hermes_acp" / "knowledge" / "weights.msgpack"
PHRASES = Path(__file__).with_name("scanner_phrases.toml")
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
EPOCHS = 6
RATE = 0.25
DECAY = 2e-6
RAREST = 2
MOST_FEATURES = 16_000
CONCEPTS_ALONE = 0.5
FILLINGS = 60


class Sample(msgspec.Struct, frozen=True):
    """One stretch of words. `group` is what is left out together; `weight` is how much it counts."""

    tokens: tuple[str, ...]
    is_attack: bool
    group: str
    origin: str
    weight: float = 1.0


def stretches(text: str) -> Iterator[tuple[str, ...]]:
    """Cut a text as the scanner does: passages, and long ones into overlapping stretches."""
    for passage in fold(reveal(text).text).text.split("\n"):
        tokens = tuple(tokenize(passage))
        if len(tokens) <= LONG:
            if len(tokens) > 2:
                yield tokens
        else:
            for at in range(0, len(tokens) - LONG // 2, LONG // 2):
                yield tokens[at : at + LONG]


def benign_samples(rows: Iterable[dict[str, Any]]) -> Iterator[Sample]:
    """Give the stretches of honest files; hard negatives count more."""
    for row in rows:
        heavy = 6.0 if row["kind"] in ("stress", "notinject-prompt") else 1.0
        light = 0.5 if row["kind"] == "security-doc" else heavy
        group = f"{row['kind']}:{row['source'].partition('@')[0]}"
        for tokens in stretches(row["text"]):
            yield Sample(tokens, is_attack=False, group=group, origin=row["id"], weight=light)


def attack_samples(rows: Iterable[dict[str, Any]]) -> Iterator[Sample]:
    """Give the stretches of attacks that stand alone and are plain words."""
    for row in rows:
        if row["mode"] != "standalone" or row["kind"] not in WORDED:
            continue
        source = (
            "authored" if row["source"] == "authored" else row["source"].partition("@")[0].partition(" ")[0]
        )
        parts = list(stretches(row["text"]))
        if row["kind"] == "fake_tags":
            parts = [tuple(token for part in parts for token in part)[:LONG]]
        for tokens in parts:
            weight = 1.0 if len(parts) == 1 else max(0.25, 3.0 / len(parts))
            yield Sample(
                tokens, is_attack=True, group=f"{source}:{row['kind']}", origin=row["id"], weight=weight
            )
            if len(parts) == 1 and len(tokens) > SHORT:
                half = len(tokens) // 2
                for part in (tokens[:half], tokens[half:]):
                    yield Sample(
                        part, is_attack=True, group=f"{source}:{row['kind']}", origin=row["id"], weight=0.3
                    )


def phrase_samples(seed: int = 7) -> Iterator[Sample]:
    """Put the written phrases together: each opener, harm and hush occurs several times."""
    phrases = tomllib.loads(PHRASES.read_text("utf-8"))
    dice = random.Random(seed)

    def attack(text: str, family: str, weight: float = 1.0) -> Sample:
        tokens = tuple(tokenize(fold(text).text.replace("\n", " ")))[:LONG]
        return Sample(tokens, is_attack=True, group=f"phrases:{family}", origin=text, weight=weight)

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
        rule.counter_example for rule in load_rulebook().rules.values() if rule.category != "hidden_unicode"
    ]
    for text in (*phrases["plain"], *counter_examples):
        tokens = tuple(tokenize(fold(text).text))
        yield Sample(tokens, is_attack=False, group="phrases:plain", origin=text, weight=8.0)


def empty_weights() -> Weights:
    """Give weights that know the concepts and nothing else."""
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
    return Weights(1.0, 0.0, 0.0, 0.0, 0.0, {}, exact, stems)


class Learner:
    """Logistic regression over sparse features, by AdaGrad."""

    def __init__(self, samples: list[Sample]) -> None:
        counts: Counter[str] = Counter()
        self.empty = empty_weights()
        self.cache: dict[tuple[str, ...], list[list[str]]] = {}
        for sample in samples:
            counts.update({feature for each in self.features(sample.tokens) for feature in each})
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
        data = [
            ({f for each in self.features(s.tokens) for f in each if f in self.known}, s)
            for s in self.samples
        ]
        for epoch in range(EPOCHS):
            dice.shuffle(data)
            for features, sample in data:
                if dice.random() < CONCEPTS_ALONE:
                    features = {feature for feature in features if feature[0] == "#"}
                self._step(features, sample)
                if epoch > 1 and not sample.is_attack and len(sample.tokens) > SHORT:
                    self._step(self._loudest(sample.tokens), sample)

    def _loudest(self, tokens: tuple[str, ...]) -> set[str]:
        features = self.features(tokens)
        values = [sum(self.weights.get(f, 0.0) for f in each) for each in features]
        total = sum(values[:SHORT])
        best, first = total, 0
        for at in range(SHORT, len(values)):
            total += values[at] - values[at - SHORT]
            if total > best:
                best, first = total, at - SHORT + 1
        part = features[first : first + SHORT]
        return {f for each in part for f in each if f in self.known}

    def _step(self, features: set[str], sample: Sample) -> None:
        score = self.bias + sum(self.weights[feature] for feature in sorted(features))
        aim = 1.0 if sample.is_attack else 0.0
        error = (1 / (1 + math.exp(-max(-30.0, min(30.0, score)))) - aim) * sample.weight
        if abs(error) < 0.004:
            return
        for feature in features:
            slope = error + DECAY * self.weights[feature]
            self.squares[feature] += slope * slope
            self.weights[feature] -= RATE * slope / math.sqrt(self.squares[feature])
        self.bias_square += error * error
        self.bias -= 0.1 * RATE * error / math.sqrt(self.bias_square)

    def rounded(self, bars: tuple[float, float, float]) -> Weights:
        """Give the largest weights as bytes."""
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
    return learner.rounded((0.0, 0.0, 0.0))


def loudest_by_origin(samples: list[Sample], weights: Weights) -> dict[str, float]:
    """Score each text by its loudest stretch."""
    best: dict[str, float] = {}
    classifier = Classifier(weights)
    for sample in samples:
        score = classifier.read(list(sample.tokens))
        best[sample.origin] = max(best.get(sample.origin, -99.0), score)
    return best


def out_of_fold(samples: list[Sample], folds: int) -> dict[str, float]:
    """Score each honest file by weights that did not see its repository."""
    groups = sorted({sample.group for sample in samples if not sample.is_attack})
    random.Random(3).shuffle(groups)
    scores: dict[str, float] = {}
    for fold_number in range(folds):
        out = set(groups[fold_number::folds])
        weights = fit([sample for sample in samples if sample.group not in out])
        scores |= loudest_by_origin([sample for sample in samples if sample.group in out], weights)
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument(
        "--check", action="store_true", help="leave sources and families out and print how it does"
    )
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    parser.add_argument("--folds", type=int, default=3)
    options = parser.parse_args()
    benign = list(benign_samples(load(options.corpus, "benign.dev.jsonl")))
    attacks = list(attack_samples(load(options.corpus, "attack.dev.jsonl")))
    phrases = list(phrase_samples())
    everything = [*benign, *attacks, *phrases]
    print(f"{len(benign)} honest stretches, {len(attacks)} of attacks, {len(phrases)} of phrases")
    honest = out_of_fold(everything, options.folds)
    real = sorted(
        (
            score
            for origin, score in honest.items()
            if origin in {s.origin for s in benign if s.group.partition(":")[0] not in APART}
        ),
        reverse=True,
    )
    print("loudest honest files, out of fold:", [round(score, 1) for score in real[:14]])
    names = sorted(honest, key=lambda origin: -honest[origin])[:12]
    print("  ", " ".join(names))
    if options.check:
        check(benign, attacks, phrases)
    if options.write:
        learner = Learner(everything)
        learner.learn()
        bars = real[3] + 0.5, real[len(real) // 60], (real[3] + real[len(real) // 60]) / 2
        weights = learner.rounded((round(bars[0], 2), round(bars[1], 2), round(bars[2], 2)))
        content = msgspec.msgpack.encode(weights)
        WEIGHTS.write_bytes(content)
        print(
            f"{len(weights.features)} features, {len(content):,} bytes; "
            f"bars {weights.block_at} {weights.warn_at} {weights.hidden_at}"
        )


def check(benign: list[Sample], attacks: list[Sample], phrases: list[Sample]) -> None:
    """Print the recall on each group of attacks by weights that saw nothing of it.

    A third of the repositories is left out too and sets the bars: the loudest file but one, and the loudest two in
    a hundred.
    """
    groups = sorted({sample.group for sample in benign})
    random.Random(5).shuffle(groups)
    apart = set(groups[::3])
    seen = [sample for sample in benign if sample.group not in apart]
    unseen = [
        sample for sample in benign if sample.group in apart and sample.group.partition(":")[0] not in APART
    ]
    plain = [sample for sample in phrases if not sample.is_attack]
    written = [sample for sample in phrases if sample.is_attack]
    trials: list[tuple[str, list[Sample], list[Sample]]] = [
        ("all corpus attacks, from phrases alone", [*seen, *phrases], attacks),
        ("all phrases, from the corpus alone", [*seen, *plain, *attacks], written),
    ]
    for group in sorted({sample.group for sample in (*attacks, *written)}):
        left = [sample for sample in (*attacks, *phrases) if sample.group != group]
        trials.append((group, [*seen, *left], [s for s in (*attacks, *written) if s.group == group]))
    for name, train, test in trials:
        weights = fit(train)
        honest = sorted(loudest_by_origin(unseen, weights).values(), reverse=True)
        bars = honest[1], honest[len(honest) // 50]
        scores = loudest_by_origin(test, weights).values()
        shares = [sum(score >= bar for score in scores) / len(scores) for bar in bars]
        print(f"  {name:48s} {len(scores):4d}  block {shares[0]:6.1%}  warn {shares[1]:6.1%}", flush=True)


if __name__ == "__main__":
    main()
