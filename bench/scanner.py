"""Measure the injection scanner: python -m bench.scanner CORPUS [--no-folds].

CORPUS is a folder with benign.dev.jsonl and attack.dev.jsonl. Prints the false alarms on benign files and on benign
texts of our own, the share of attacks blocked and flagged in the corpus and in our own set (scanner_attacks.toml), the
speed, the slowest files and the start-up time. For each category of plain-word attacks, it also prints what the
classifier alone finds when trained without that category, and without attacks that begin with the same words
(cross-validation by groups). That share does not depend on known sentences.
"""

import argparse
import json
import subprocess
import sys
import time
import tomllib
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import Any

from bench.scanner_attacks import attacks as own_attacks
from bench.scanner_learning import (
    APART,
    Sample,
    attack_samples,
    benign_samples,
    fit,
    learn_samples,
    load,
    loudest_by_origin,
    phrase_samples,
)
from injection_scanner.scanner import scan

HONEST = Path(__file__).with_name("scanner_honest.toml")
JUDGEMENT = frozenset({"semantic_dual_use", "skill_inject_obvious", "code_backdoor"})
LEVELS = {"allow": 0, "warn": 1, "block": 2}
OPENING = 4
FOLDS = 4
Rows = list[dict[str, Any]]
Shares = dict[str, tuple[float, float]]


def judge(rows: Rows, seconds: list[float]) -> dict[str, int]:
    """Return the level of each text by ID, and how long each took."""
    levels: dict[str, int] = {}
    for row in rows:
        begin = time.perf_counter()
        levels[row["id"]] = LEVELS[scan(row["text"]).verdict]
        seconds.append(time.perf_counter() - begin)
    return levels


def share(rows: Rows, levels: dict[str, int], least: int) -> float:
    return mean(levels[row["id"]] >= least for row in rows) if rows else 0.0


def counted(rows: Rows, levels: dict[str, int], least: int) -> Rows:
    """Leave out attacks in carrier files that are flagged even without them."""
    return [row for row in rows if row["mode"] == "standalone" or levels.get(row["carrier"], 0) < least]


def start_s() -> float:
    """Return the median time from the start of the command to its first answer, minus Python's own start-up time."""
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(9):
        for ours in (True, False):
            code = ["-m", "hermes_acp", "scan", "--jsonl"] if ours else ["-c", "pass"]
            begin = time.perf_counter()
            subprocess.run(
                [sys.executable, *code], input=b'{"id":1,"text":"hello"}\n', capture_output=True, check=True
            )
            times[ours].append(time.perf_counter() - begin)
    return sorted(times[True])[4] - sorted(times[False])[4]


class Folds:
    """Cross-validation of the classifier alone; half of the benign files set the thresholds."""

    def __init__(self, benign: Rows, attacks: Rows) -> None:
        honest = list(benign_samples(benign))
        self.seen, self.unseen = honest[::2], honest[1::2]
        self.apart = {s.origin for s in honest if s.group.partition(":")[0] not in APART}
        self.hostile = list(attack_samples(attacks))
        self.more = [*phrase_samples(), *learn_samples()]

    def found(self, out: list[Sample]) -> list[tuple[str, float, float]]:
        """Return, by origin, whether each of the held-out attacks is blocked and flagged."""
        origins = {sample.origin for sample in out}
        left = [sample for sample in self.hostile if sample.origin not in origins]
        weights = fit([*self.seen, *self.more, *left])
        scores = loudest_by_origin(self.unseen, weights)
        real = sorted((score for origin, score in scores.items() if origin in self.apart), reverse=True)
        bars = real[1], real[len(real) // 40]
        return [
            (origin, float(score >= bars[0]), float(score >= bars[1]))
            for origin, score in loudest_by_origin(out, weights).items()
        ]

    def without_family(self) -> Shares:
        families: dict[str, list[Sample]] = defaultdict(list)
        for sample in self.hostile:
            families[sample.group.partition(":")[2]].append(sample)
        found = {kind: self.found(out) for kind, out in sorted(families.items())}
        return {kind: (mean(f[1] for f in each), mean(f[2] for f in each)) for kind, each in found.items()}

    def without_opening(self) -> Shares:
        """Hold out the attacks fold by fold, keeping those that begin with the same words in one fold."""
        openings: dict[str, tuple[str, ...]] = {}
        kinds = {sample.origin: sample.group.partition(":")[2] for sample in self.hostile}
        for sample in self.hostile:
            openings.setdefault(sample.origin, sample.tokens[:OPENING])
        groups = sorted(set(openings.values()))
        found: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for number in range(FOLDS):
            part = set(groups[number::FOLDS])
            out = [sample for sample in self.hostile if openings[sample.origin] in part]
            for origin, is_blocked, is_flagged in self.found(out):
                found[kinds[origin]].append((is_blocked, is_flagged))
        return {kind: (mean(f[0] for f in each), mean(f[1] for f in each)) for kind, each in found.items()}


def show_honest(title: str, kinds: dict[str, Rows], levels: dict[str, int]) -> None:
    print(f"\n{title:22} {'n':>5}   block  flagged")
    for kind, rows in sorted(kinds.items()):
        print(f"{kind:22} {len(rows):5} {share(rows, levels, 2):7.2%} {share(rows, levels, 1):7.2%}")


def show_attacks(title: str, rows: Rows, levels: dict[str, int], beside: list[Shares]) -> None:
    families: dict[str, Rows] = defaultdict(list)
    for row in rows:
        families[row["kind"]].append(row)
    heads = "   alone, family unseen   alone, opening unseen" if beside else ""
    print(f"\n{title:22} {'n':>5}   block  flagged{heads}")
    macro: list[tuple[float, float]] = []
    for kind, each in sorted(families.items()):
        found = share(counted(each, levels, 2), levels, 2), share(counted(each, levels, 1), levels, 1)
        if kind not in JUDGEMENT:
            macro.append(found)
        more = "".join("      {:7.1%} {:7.1%}".format(*fold[kind]) for fold in beside if kind in fold)
        print(f"{kind:22} {len(each):5} {found[0]:7.1%} {found[1]:7.1%}{more}")
    print(f"{'macro':22} {len(macro):5} {mean(m[0] for m in macro):7.1%} {mean(m[1] for m in macro):7.1%}")


def show_speed(rows: Rows, seconds: list[float]) -> None:
    size_bytes = sum(
        len(json.dumps(row["text"], ensure_ascii=False).encode("utf-8", "replace")) for row in rows
    )
    small = sorted(s for s, row in zip(seconds, rows, strict=True) if len(row["text"]) <= 65_536)
    print(
        f"{size_bytes / 1e6:.1f} MB, {size_bytes / 1e6 / sum(seconds):.2f} MB/s on one processor, "
        f"start {start_s() * 1e3:.0f} ms beyond Python's"
    )
    print(
        f"files up to 64 KiB: p50 {small[len(small) // 2] * 1e3:.1f} ms, "
        f"p99 {small[len(small) * 99 // 100] * 1e3:.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument(
        "--no-folds", action="store_true", help="skip the cross-validation, which takes minutes"
    )
    options = parser.parse_args()
    benign, attacks = load(options.corpus, "benign.dev.jsonl"), load(options.corpus, "attack.dev.jsonl")
    seconds: list[float] = []
    levels = judge([*benign, *attacks], seconds)
    show_speed([*benign, *attacks], seconds)
    kinds: dict[str, Rows] = defaultdict(list)
    for row in benign:
        kinds["real files" if row["kind"] not in APART else row["kind"]].append(row)
    show_honest("honest", kinds, levels)
    honest = tomllib.loads(HONEST.read_text("utf-8"))
    ours = {
        kind: [{"id": f"{kind} {number}", "text": text} for number, text in enumerate(part["texts"])]
        for kind, part in honest.items()
    }
    show_honest("benign, our own", ours, judge([row for rows in ours.values() for row in rows], []))
    folds = None if options.no_folds else Folds(benign, attacks)
    beside = [folds.without_family(), folds.without_opening()] if folds else []
    show_attacks("attacks", attacks, levels, beside)
    blind, seen = own_attacks("blind"), own_attacks("seen")
    show_attacks("our own, never trained on", blind, judge(blind, []), [])
    show_attacks("our own, trained on", seen, judge(seen, []), [])


if __name__ == "__main__":
    main()
