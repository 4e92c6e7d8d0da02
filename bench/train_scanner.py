"""Train the scanner's classifier: python -m bench.train_scanner CORPUS [--honest FILE] [--check] [--write].

CORPUS is a folder with benign.dev.jsonl and attack.dev.jsonl (id, kind, source, text; attacks also mode, technique,
carrier). The sentences of scanner_phrases.toml and the training parts of scanner_attacks.toml are added. FILE contains
further benign files in the same format; weights.LICENCE.md names their sources. The thresholds are set with benign
files and weights that were trained without their repositories: at most `MAX_BLOCKED` of the real files are blocked.
Attacks that begin alike are held out together, and their detected share is printed. --check prints the results on data
it was not trained on, holding out each source, each family and the phrases.
"""

import argparse
import random
from pathlib import Path
from statistics import mean
from typing import Any

import msgspec

from bench.scanner_learning import (
    APART,
    NO_BARS,
    Bars,
    Learner,
    Sample,
    attack_samples,
    benign_samples,
    fit,
    load,
    loudest_by_origin,
    own_samples,
    phrase_samples,
    runs_by_origin,
    typical_of,
)
from injection_scanner.classification.classifier import Classifier
from injection_scanner.classification.features import Weights, load_weights
from injection_scanner.classification.threshold_adjustment import MAX_ADJUSTMENT, threshold_adjustment
from injection_scanner.classification.thresholds import DOUBT, STEP, level_of
from injection_scanner.classification.typical_score import tone_of
from injection_scanner.obfuscation.hidden_characters import reveal
from injection_scanner.obfuscation.hidden_markup import find_hidden_regions
from injection_scanner.passage_detection import CERTAIN, MAX_BLOCK_CHARS
from injection_scanner.rules.scanner_rules import load_scan_rules, weigh_context
from injection_scanner.text.text_folding import fold
from injection_scanner.text.text_tokens import locate, tokenize

CORPUS_FILES = 600
"""The number of the corpus's benign files that define what is typical."""

NEVER = -99.0
MAX_BLOCKED, MAX_WARNED = 0.004, 0.02
"""The maximum shares of real files above the thresholds, by weights trained without their repositories.

They apply both to all files and to those of the corpus alone.
"""

MAX_BLOCKED_LONG, MAX_WARNED_LONG = 0.001, 0.002
"""The maximum shares of files above the thresholds for joined passages."""

OPENING = 4
"""Attacks that have this many first words in common are held out together."""

HIDDEN_MORE = 1.5
"""The margin above every benign file that is required to block hidden text."""

WEIGHTS = Path(__file__).parent.parent / "scanner" / "injection_scanner" / "tables" / "weights.msgpack"


def group_of(row: dict[str, Any]) -> str:
    """Return the group in which a benign file is held out: its repository."""
    return row["id"] if row["kind"] in APART else row["source"].partition("@")[0].partition(":")[0]


class Loudness(msgspec.Struct, frozen=True):
    """The highest scores of a benign file's passages for blocking and warning, and the text of the former."""

    block: float = NEVER
    warn: float = NEVER
    text: str = ""


def loudness_of(samples: list[Sample], rise: float, weights: Weights) -> Loudness:
    """Score a benign file as the scanner does: acts lower the threshold; quoted or warned-about text counts less."""
    classifier, rule = Classifier(weights), load_scan_rules().rules[CERTAIN]
    found = Loudness()
    for sample in samples:
        tokens = list(sample.tokens)
        heard = classifier.score_passage(sample.text, tokens)
        if heard.score < min(found.warn - MAX_ADJUSTMENT.warn, found.block - MAX_ADJUSTMENT.block) - DOUBT:
            continue
        reading = classifier.explain(tokens, heard)
        severity = weigh_context(sample.text, *locate(sample.text, tokens, reading.first, reading.last), rule)
        ease = threshold_adjustment(heard.features)
        block = heard.score + ease.block - rise
        warn = heard.score + ease.warn - rise
        found = Loudness(
            max(found.block, block) if severity == "block" else found.block,
            max(found.warn, warn) if severity != "info" else found.warn,
            sample.text if severity == "block" and block > found.block else found.text,
        )
    return found


class Unseen(msgspec.Struct, frozen=True):
    """Out-of-fold scores by ID: of benign files, of their joined passages, and of attacks."""

    files: dict[str, Loudness]
    runs: dict[str, float]
    attacks: dict[str, Loudness]


def out_of_fold(
    learner: Learner, rows: list[dict[str, Any]], attacks: list[dict[str, Any]], folds: int
) -> Unseen:
    """Score benign files and attacks out of fold, without their repositories or similar attacks in training."""
    groups = sorted({group_of(row) for row in rows})
    openings = sorted({opening_of(row) for row in attacks})
    random.Random(3).shuffle(groups)
    unseen = Unseen({}, {}, {})
    for fold_number in range(folds):
        groups_out, begins = set(groups[fold_number::folds]), set(openings[fold_number::folds])
        apart = [row for row in rows if group_of(row) in groups_out]
        begun = [row for row in attacks if opening_of(row) in begins]
        out = {row["id"] for row in (*apart, *begun)}
        learner.learn(lambda sample, out=out: sample.origin not in out)
        bare = learner.rounded(NO_BARS)
        weights = msgspec.structs.replace(bare, typical=typical_of(rows[:CORPUS_FILES], bare))
        for row in apart:
            unseen.files[row["id"]] = loudness_of(list(benign_samples([row])), rise_of(row, weights), weights)
        unseen.runs.update(runs_by_origin(apart, weights))
        for row in begun:
            if samples := list(attack_samples([row])):
                unseen.attacks[row["id"]] = loudness_of(samples, rise_of(row, weights), weights)
        print(f"fold {fold_number + 1} of {folds}: {len(out)} texts held out", flush=True)
    return unseen


def opening_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the first words of a row's text."""
    return tuple(tokenize(fold(row["text"][:400]).text)[:OPENING])


def rise_of(row: dict[str, Any], weights: Weights) -> float:
    """Return how much higher the thresholds are for a text of this length and tone, in log odds."""
    text = fold(reveal(row["text"]).text).text
    return STEP * level_of(text, tone_of(text.split("\n"), Classifier(weights)))


def bars_out_of_fold(
    learner: Learner, rows: list[dict[str, Any]], hostile: list[dict[str, Any]], folds: int
) -> tuple[float, float, float, float]:
    """Return thresholds that few enough of all files and of the corpus exceed; print the highest-scoring files."""
    unseen = out_of_fold(learner, rows, hostile, folds)
    files = [row["id"] for row in rows if row["kind"] not in APART]
    corpus = [row["id"] for row in rows[:CORPUS_FILES] if row["kind"] not in APART]
    higher = [max(pair) for pair in zip(bars_of(files, unseen), bars_of(corpus, unseen), strict=True)]
    block_at, warn_at, long_block_at, long_warn_at = higher
    for file in sorted(files, key=lambda file: -unseen.files[file].block)[:14]:
        print(f"    {unseen.files[file].block:5.1f} {file[:60]} {unseen.files[file].text[:160]!r}")
    print(
        f"thresholds to block {block_at:.1f} and {long_block_at:.1f}, to warn {warn_at:.1f} and {long_warn_at:.1f}"
    )
    show_recall(hostile, unseen, block_at, warn_at)
    return block_at, warn_at, long_block_at, long_warn_at


def bars_of(
    files: list[str], unseen: Unseen, blocked: float = MAX_BLOCKED, warned: float = MAX_WARNED
) -> tuple[float, float, float, float]:
    """Return the thresholds for blocking and warning, for single and for joined passages."""
    block_at = above([unseen.files[file].block for file in files], blocked)
    warn_at = above([unseen.files[file].warn for file in files], warned)
    quiet = [unseen.runs[file] for file in files if unseen.files[file].block < block_at]
    return block_at, warn_at, above(quiet, MAX_BLOCKED_LONG), above(quiet, MAX_WARNED_LONG)


def show_recall(attacks: list[dict[str, Any]], unseen: Unseen, block_at: float, warn_at: float) -> None:
    """Print the share of attacks detected by their words alone, with weights trained without similar ones."""
    kinds: dict[str, list[Loudness]] = {}
    for row in attacks:
        if row["id"] in unseen.attacks:
            kinds.setdefault(row["kind"], []).append(unseen.attacks[row["id"]])
    shares: list[tuple[float, float]] = []
    for kind, heard in sorted(kinds.items()):
        blocked = mean(each.block >= block_at for each in heard)
        shares.append((blocked, mean(max(each.block - block_at, each.warn - warn_at) >= 0 for each in heard)))
        print(f"    {kind:24} {len(heard):5} block {shares[-1][0]:6.1%}  warn {shares[-1][1]:6.1%}")
    print(f"    {'macro':30} block {mean(s[0] for s in shares):6.1%}  warn {mean(s[1] for s in shares):6.1%}")


def loudest_hidden(rows: list[dict[str, Any]], weights: Weights) -> float:
    """Return the highest score of a stretch that benign files hide in their markup."""
    classifier = Classifier(weights)
    scores = [0.0]
    for row in rows:
        text = fold(reveal(row["text"]).text).text
        for start, end in find_hidden_regions(text):
            part = text[start : min(end, start + MAX_BLOCK_CHARS)]
            scores.append(classifier.listen(part, tokenize(part)))
    return max(scores)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--honest", type=Path, help="further benign files, one JSON object per line")
    parser.add_argument(
        "--check", action="store_true", help="hold out sources and families and print the results"
    )
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    parser.add_argument("--folds", type=int, default=3, help="0 keeps the shipped thresholds")
    options = parser.parse_args()
    rows = load(options.corpus, "benign.dev.jsonl")
    more = load(options.honest.parent, options.honest.name) if options.honest else []
    rows += more
    benign = list(benign_samples(rows))
    hostile = [row for row in load(options.corpus, "attack.dev.jsonl") if row["mode"] == "standalone"]
    attacks = list(attack_samples(hostile))
    phrases = list(phrase_samples())
    print(f"{len(benign)} benign stretches, {len(attacks)} of attacks, {len(phrases)} of phrases")
    learner = Learner([*benign, *attacks, *own_samples()])
    if options.folds:
        found = bars_out_of_fold(learner, rows, hostile, options.folds)
    else:
        shipped = load_weights()
        found = shipped.block_at, shipped.warn_at, shipped.long_block_at, shipped.long_warn_at
    block_at, warn_at, long_block_at, long_warn_at = found
    if options.check:
        check(benign, attacks, phrases)
    if options.write:
        learner.learn()
        bare = learner.rounded(NO_BARS)
        hidden = round(loudest_hidden(rows, bare) + HIDDEN_MORE, 1)
        typical = typical_of(rows[:CORPUS_FILES], bare)
        bars: Bars = (block_at, warn_at, hidden, long_block_at, long_warn_at, typical)
        weights = learner.rounded(bars)
        content = msgspec.msgpack.encode(weights)
        WEIGHTS.write_bytes(content)
        print(
            f"{len(weights.features)} features, {len(content):,} bytes; bars {[round(bar, 2) for bar in bars]}"
        )


def above(scores: list[float], share: float) -> float:
    """Return the lowest threshold that at most this share of the scores exceeds."""
    return round(sorted(scores, reverse=True)[int(len(scores) * share)] + 0.05, 1)


def check(benign: list[Sample], attacks: list[Sample], phrases: list[Sample]) -> None:
    """Print the recall on each group of attacks with weights trained without it.

    A third of the repositories is held out too and sets the thresholds: the second highest file score, and the top 2 %.
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
