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
    Learner,
    Sample,
    attack_samples,
    benign_samples,
    fit,
    learn_samples,
    load,
    loudest_by_origin,
    phrase_samples,
)
from hermes_acp.knowledge.classifier import Classifier, Weights, tokenize
from hermes_acp.knowledge.concealment import find_hidden_regions
from hermes_acp.knowledge.folding import fold
from hermes_acp.knowledge.hidden_characters import reveal
from hermes_acp.knowledge.judging import LONGEST_BLOCK

WEIGHTS = Path(__file__).parent.parent / "hermes_acp" / "knowledge" / "weights.msgpack"


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
    parser.add_argument("--folds", type=int, default=3)
    options = parser.parse_args()
    benign = list(benign_samples(load(options.corpus, "benign.dev.jsonl")))
    attacks = list(attack_samples(load(options.corpus, "attack.dev.jsonl")))
    phrases = list(phrase_samples())
    everything = [*benign, *attacks, *phrases, *learn_samples()]
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
        bars = real[len(real) // 80] + 0.1, real[len(real) // 32], 0.0
        hidden = loudest_hidden(load(options.corpus, "benign.dev.jsonl"), learner.rounded(bars)) + 1.0
        weights = learner.rounded((round(bars[0], 2), round(bars[1], 2), round(hidden, 2)))
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
