"""Measure the injection scanner: python -m bench.scanner CORPUS [--no-folds].

CORPUS is a folder with benign.dev.jsonl and attack.dev.jsonl. Prints the share of attacks blocked and flagged in each
category, false alarms on honest files, speed, the slowest files and the start, and beside each category what stays when
the classifier learnt from other sources and families only (cross-validated: trained without that category's attacks).
"""

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import Any

from bench.train_scanner import (
    APART,
    attack_samples,
    benign_samples,
    fit,
    load,
    loudest_by_origin,
    phrase_samples,
)
from hermes_acp.knowledge.injection import scan

JUDGEMENT = frozenset({"semantic_dual_use", "skill_inject_obvious", "code_backdoor"})
LEVELS = {"allow": 0, "warn": 1, "block": 2}


def judge(rows: list[dict[str, Any]], seconds: list[float]) -> dict[str, int]:
    """Give the level of each text by id, and how long each took."""
    levels: dict[str, int] = {}
    for row in rows:
        begin = time.perf_counter()
        levels[row["id"]] = LEVELS[scan(row["text"]).verdict]
        seconds.append(time.perf_counter() - begin)
    return levels


def share(rows: list[dict[str, Any]], levels: dict[str, int], least: int) -> float:
    return mean(levels[row["id"]] >= least for row in rows) if rows else 0.0


def counted(rows: list[dict[str, Any]], levels: dict[str, int], least: int) -> list[dict[str, Any]]:
    """Leave out attacks in a file that is flagged without them."""
    return [row for row in rows if row["mode"] == "standalone" or levels.get(row["carrier"], 0) < least]


def start_s() -> float:
    """Give the median time from the start of the command to its first answer, beyond Python's own."""
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


def unseen(benign: list[dict[str, Any]], attacks: list[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """Give, by category of plain words, what the classifier alone finds of it when trained without it."""
    honest, hostile, phrases = (
        list(benign_samples(benign)),
        list(attack_samples(attacks)),
        list(phrase_samples()),
    )
    found: dict[str, tuple[float, float]] = {}
    for kind in sorted({sample.group.partition(":")[2] for sample in hostile}):
        left = [sample for sample in hostile if sample.group.partition(":")[2] != kind]
        weights = fit([*honest[::2], *phrases, *left])
        apart = {sample.origin for sample in honest if sample.group.partition(":")[0] not in APART}
        real = sorted(
            (s for o, s in loudest_by_origin(honest[1::2], weights).items() if o in apart), reverse=True
        )
        tested = [sample for sample in hostile if sample.group.partition(":")[2] == kind]
        scores = loudest_by_origin(tested, weights).values()
        found[kind] = mean(s >= real[1] for s in scores), mean(s >= real[len(real) // 50] for s in scores)
    return found


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
    size_bytes = sum(
        len(json.dumps(row["text"], ensure_ascii=False).encode("utf-8", "replace"))
        for row in (*benign, *attacks)
    )
    levels = judge([*benign, *attacks], seconds)
    print(
        f"{size_bytes / 1e6:.1f} MB, {size_bytes / 1e6 / sum(seconds):.2f} MB/s, "
        f"start {start_s() * 1e3:.0f} ms beyond Python's"
    )
    small = sorted(
        s for s, row in zip(seconds, (*benign, *attacks), strict=True) if len(row["text"]) <= 65_536
    )
    print(
        f"files up to 64 KiB: p50 {small[len(small) // 2] * 1e3:.1f} ms, "
        f"p99 {small[len(small) * 99 // 100] * 1e3:.1f} ms"
    )
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in benign:
        kinds["real files" if row["kind"] not in APART else row["kind"]].append(row)
    print(f"\n{'honest':22} {'n':>5}   block  flagged")
    for kind, rows in sorted(kinds.items()):
        print(f"{kind:22} {len(rows):5} {share(rows, levels, 2):7.2%} {share(rows, levels, 1):7.2%}")
    folds = {} if options.no_folds else unseen(benign, attacks)
    families: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in attacks:
        families[row["kind"]].append(row)
    print(f"\n{'attacks':22} {'n':>5}   block  flagged   classifier alone, family unseen: block, flagged")
    macro: list[tuple[float, float]] = []
    for kind, rows in sorted(families.items()):
        found = share(counted(rows, levels, 2), levels, 2), share(counted(rows, levels, 1), levels, 1)
        if kind not in JUDGEMENT:
            macro.append(found)
        beside = "   {:7.1%} {:7.1%}".format(*folds[kind]) if kind in folds else ""
        print(f"{kind:22} {len(rows):5} {found[0]:7.1%} {found[1]:7.1%}{beside}")
    print(f"{'macro':22} {len(macro):5} {mean(m[0] for m in macro):7.1%} {mean(m[1] for m in macro):7.1%}")


if __name__ == "__main__":
    main()
