"""Measure the scanner on held-out groups: python -m bench.scanner_unseen CORPUS FIELD [--folds N].

FIELD determines what is held out together: the `kind`, `source` or `technique` of attacks, their `opening` (attacks
that begin with the same words, in folds), the `corpus` (all its attacks at once), or the `repository` (of benign files,
in folds). For each group, the classifier is retrained without it, and the whole scanner, with unchanged rules, checks
the group with those weights, attacks both alone and in files. The results of the shipped weights are shown for
comparison. The thresholds are the shipped ones, which were set with out-of-fold benign files. Encodings and homoglyphs
are not learnt, so holding those out changes little; `bench.scanner_fresh` measures encodings that the scanner was not
made for.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import Any

import msgspec

from bench.scanner import JUDGEMENT, LEVELS, counted, share
from bench.scanner_learning import (
    APART,
    NO_BARS,
    WORDED,
    Learner,
    attack_samples,
    benign_samples,
    load,
    own_samples,
    typical_of,
)
from bench.train_scanner import group_of, opening_of
from injection_scanner.classification.features import Weights, load_weights

PACKAGE = Path(__file__).parent.parent / "scanner" / "injection_scanner"
FIELDS = ("kind", "source", "technique", "opening", "corpus", "repository")
Rows = list[dict[str, Any]]
Levels = dict[str, int]


class Trial(msgspec.Struct):
    """A held-out group: its name, its attacks by the ID of their plain text, and its benign files by ID."""

    name: str
    attacks: Rows
    honest: Rows


def judge(rows: Rows, weights: Weights | None) -> Levels:
    """Scan texts with a copy of the package that has the given weights; None means the shipped weights."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "injection_scanner")
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        if weights:
            Path(copy, "tables", "weights.msgpack").write_bytes(msgspec.msgpack.encode(weights))
        asked = "".join(json.dumps({"id": row["id"], "text": row["text"]}) + "\n" for row in rows)
        answers = subprocess.run(
            [sys.executable, "-m", "hermes_acp", "scan", "--jsonl"],
            input=asked.encode(),
            capture_output=True,
            check=True,
            cwd=folder,
        ).stdout
    said = [json.loads(line) for line in answers.splitlines()]
    return {each["id"]: LEVELS[each["verdict"]] for each in said}


def trained(attacks: Rows, honest: Rows) -> Weights:
    """Train as `bench.train_scanner` does, but with the shipped thresholds."""
    learner = Learner([*benign_samples(honest), *attack_samples(attacks), *own_samples()])
    learner.learn()
    shipped = load_weights()
    bars = (shipped.block_at, shipped.warn_at, shipped.hidden_at, shipped.long_block_at, shipped.long_warn_at)
    return learner.rounded((*bars, typical_of(honest, learner.rounded(NO_BARS))))


def group_name(row: dict[str, Any], field: str) -> str:
    """Return the name of the group that a row belongs to."""
    if field == "opening":
        return " ".join(opening_of(row))
    if field == "source":
        return row["source"].partition("@")[0].partition(":")[0][:40]
    return row["kind"] if field == "kind" else f"{row['kind']} {row['technique']}".strip()


def trials_of(field: str, honest: Rows, attacks: Rows, folds: int) -> list[Trial]:
    """Return the held-out groups, one for each group or fold."""
    if field == "corpus":
        return [Trial("every attack", attacks, [])]
    if field == "repository":
        names = sorted({group_of(row) for row in honest})
        parts = [set(names[at::folds]) for at in range(folds)]
        return [
            Trial(f"fold {at}", [], [row for row in honest if group_of(row) in part])
            for at, part in enumerate(parts)
        ]
    grouped: dict[str, Rows] = defaultdict(list)
    for row in attacks:
        grouped[group_name(row, field)].append(row)
    if field != "opening":
        return [Trial(name, rows, []) for name, rows in sorted(grouped.items())]
    names = sorted(grouped)
    return [
        Trial(f"fold {at}", [row for name in names[at::folds] for row in grouped[name]], [])
        for at in range(folds)
    ]


def is_learnt(rows: Rows) -> bool:
    """Return whether the classifier is trained on any of the rows."""
    return any(row["mode"] == "standalone" and row["kind"] in WORDED for row in rows)


def show(title: str, found: dict[str, Rows], unseen: Levels, shipped: Levels) -> None:
    print(f"\n{title:52} {'n':>5}   unseen: block, flagged   shipped: block, flagged")
    shares: dict[str, tuple[float, ...]] = {}
    for name, rows in sorted(found.items()):
        shares[name] = tuple(
            share(counted(rows, levels, least), levels, least)
            for levels in (unseen, shipped)
            for least in (2, 1)
        )
        print(f"{name[:52]:52} {len(rows):5}   " + "   ".join(f"{each:7.1%}" for each in shares[name]))
    gate = [each for name, each in shares.items() if name not in JUDGEMENT]
    print(
        f"{'mean':52} {len(gate):5}   " + "   ".join(f"{mean(each):7.1%}" for each in zip(*gate, strict=True))
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("field", choices=FIELDS)
    parser.add_argument("--folds", type=int, default=4)
    options = parser.parse_args()
    honest, attacks = load(options.corpus, "benign.dev.jsonl"), load(options.corpus, "attack.dev.jsonl")
    shipped = judge([*honest, *attacks], None)
    unseen = dict(shipped)
    trials = trials_of(options.field, honest, attacks, options.folds)
    for trial in trials:
        if not trial.honest and not is_learnt(trial.attacks):
            continue
        out = {row["id"] for row in (*trial.attacks, *trial.honest)}
        weights = trained(
            [row for row in attacks if row["id"] not in out], [row for row in honest if row["id"] not in out]
        )
        unseen.update(judge([*trial.attacks, *trial.honest], weights))
        print(f"left out: {trial.name} ({len(out)} texts)", flush=True)
    if options.field == "repository":
        files = [row for row in honest if row["kind"] not in APART]
        for name, levels in (("unseen", unseen), ("shipped", shipped)):
            for kind, rows in (
                ("real files", files),
                *((k, [r for r in honest if r["kind"] == k]) for k in sorted(APART)),
            ):
                print(
                    f"{name:8} {kind:18} {len(rows):5} {share(rows, levels, 2):7.2%} {share(rows, levels, 1):7.2%}"
                )
        return
    found: dict[str, Rows] = defaultdict(list)
    for row in attacks:
        found[
            row["kind"] if options.field in ("opening", "corpus") else group_name(row, options.field)
        ].append(row)
    show(f"left out by {options.field}", found, unseen, shipped)


if __name__ == "__main__":
    main()
