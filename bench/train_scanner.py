"""Train the scanner's classifier: python -m bench.train_scanner CORPUS [--check] [--write].

CORPUS is a folder with benign.dev.jsonl and attack.dev.jsonl (id, kind, source, text; attacks also mode, technique,
carrier). To it come the sentences of scanner_phrases.toml and the parts of scanner_attacks.toml that are learnt from.
--check prints how it does on what it was not trained on: leave one source, one family and the phrases out.
"""

import argparse
import random
from pathlib import Path
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
    learn_samples,
    lesson_samples,
    load,
    loudest_by_origin,
    phrase_samples,
    runs_by_origin,
)
from hermes_acp.knowledge.classifier import Classifier, Weights, tokenize
from hermes_acp.knowledge.concealment import find_hidden_regions
from hermes_acp.knowledge.folding import fold
from hermes_acp.knowledge.hidden_characters import reveal
from hermes_acp.knowledge.judging import LONGEST_BLOCK, RISE, level_of

BLOCKED, FLAGGED = 0.005, 0.016
BLOCKED_LONG, FLAGGED_LONG = 0.003, 0.005
"""The shares of honest files that may be as loud, by weights that did not see them; passages alone, and together."""

HIDDEN_MORE, LONG_MORE = 1.2, 0.3
"""How much more than any honest file has it takes to block: in what is hidden, and in passages together."""

NEVER = -99.0
WEIGHTS = Path(__file__).parent.parent / "hermes_acp" / "knowledge" / "weights.msgpack"


def group_of(row: dict[str, Any]) -> str:
    """Give what honest files are left out together by: their repository."""
    return row["id"] if row["kind"] in APART else row["source"].partition("@")[0].partition(":")[0]


def out_of_fold(
    rows: list[dict[str, Any]], others: list[Sample], folds: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Score honest files by weights that did not see their repositories: the loudest passage, and the loudest run."""
    groups = sorted({group_of(row) for row in rows})
    random.Random(3).shuffle(groups)
    scores: dict[str, float] = {}
    runs: dict[str, float] = {}
    for fold_number in range(folds):
        out = set(groups[fold_number::folds])
        left = [row for row in rows if group_of(row) not in out]
        unseen = [row for row in rows if group_of(row) in out]
        weights = fit([*benign_samples(left), *others])
        scores |= loudest_by_origin(list(benign_samples(unseen)), weights)
        runs |= runs_by_origin(unseen, weights)
    return scores, runs


def loudest_hidden(rows: list[dict[str, Any]], weights: Weights) -> float:
    """Give the score of the loudest stretch that honest files hide in their markup."""
    classifier = Classifier(weights)
    scores = [0.0]
    for row in rows:
        text = fold(reveal(row["text"]).text).text
        for start, end in find_hidden_regions(text):
            part = text[start : min(end, start + LONGEST_BLOCK)]
            scores.append(classifier.listen(part, tokenize(part)))
    return max(scores)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument(
        "--check", action="store_true", help="leave sources and families out and print how it does"
    )
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    parser.add_argument("--folds", type=int, default=8)
    options = parser.parse_args()
    rows = load(options.corpus, "benign.dev.jsonl")
    benign = list(benign_samples(rows))
    attacks = list(attack_samples(load(options.corpus, "attack.dev.jsonl")))
    phrases = list(phrase_samples())
    others = [*attacks, *phrases, *learn_samples(), *lesson_samples()]
    print(f"{len(benign)} honest stretches, {len(attacks)} of attacks, {len(phrases)} of phrases")
    rises = {row["id"]: RISE * level_of(fold(reveal(row["text"]).text).text) for row in rows}
    scores, runs = out_of_fold(rows, others, options.folds)
    files = [row["id"] for row in rows if row["kind"] not in APART]
    real = sorted((scores.get(file, NEVER) - rises[file] for file in files), reverse=True)
    real_runs = sorted((runs[file] for file in files), reverse=True)
    print("loudest honest files, out of fold:", [round(score, 1) for score in real[:14]])
    print("loudest passages together:", [round(score, 1) for score in real_runs[:14]])
    print("  ", " ".join(sorted(files, key=lambda file: -scores.get(file, NEVER))[:12]))
    if options.check:
        check(benign, attacks, phrases)
    if options.write:
        learner = Learner([*benign, *others])
        learner.learn()
        hidden = round(loudest_hidden(rows, learner.rounded(NO_BARS)) + HIDDEN_MORE, 1)
        apart = at(real, BLOCKED), at(real, FLAGGED)
        together = at(real_runs, BLOCKED_LONG) + LONG_MORE, at(real_runs, FLAGGED_LONG)
        bars: Bars = (*apart, hidden, *together)
        weights = learner.rounded(bars)
        content = msgspec.msgpack.encode(weights)
        WEIGHTS.write_bytes(content)
        print(
            f"{len(weights.features)} features, {len(content):,} bytes; bars {[round(bar, 2) for bar in bars]}"
        )


def at(falling: list[float], share: float) -> float:
    """Give the bar that this share of honest files is over."""
    return round(falling[int(len(falling) * share)], 1)


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
