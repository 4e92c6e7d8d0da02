"""Set the scanner's thresholds with benign files it was never trained on: python -m bench.scanner_bars FILE [--write].

FILE contains benign files as written by `bench.collect_honest`, from repositories that are in none of the training
files. Training sets the thresholds by cross-validation (`bench.train_scanner`). This checks them on files by other
authors, and --write stores the resulting thresholds in the package: for their words alone, at most `MAX_BLOCKED` of
the files are blocked and at most `MAX_WARNED` are warned about.
"""

import argparse
from pathlib import Path

import msgspec

from bench.scanner_learning import APART, benign_samples, load, runs_by_origin
from bench.train_scanner import WEIGHTS, Unseen, bars_of, loudness_of, rise_of
from injection_scanner.classification.features import load_weights

MAX_BLOCKED, MAX_WARNED = 0.002, 0.015


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--write", action="store_true", help="write the thresholds into the package")
    options = parser.parse_args()
    weights = load_weights()
    rows = [row for row in load(options.file.parent, options.file.name) if row["kind"] not in APART]
    files = [row["id"] for row in rows]
    heard = {
        row["id"]: loudness_of(list(benign_samples([row])), rise_of(row, weights), weights) for row in rows
    }
    unseen = Unseen(heard, runs_by_origin(rows, weights), {})
    block_at, warn_at, long_block_at, long_warn_at = bars_of(files, unseen, MAX_BLOCKED, MAX_WARNED)
    print(
        f"to block: {[round(score, 1) for score in sorted((h.block for h in heard.values()), reverse=True)[:12]]}"
    )
    print(f"together: {[round(score, 1) for score in sorted(unseen.runs.values(), reverse=True)[:14]]}")
    print(
        f"{len(files)} files: block at {block_at} and {long_block_at}, warn at {warn_at} and {long_warn_at}"
    )
    if options.write:
        changed = msgspec.structs.replace(
            weights,
            block_at=block_at,
            warn_at=warn_at,
            long_block_at=long_block_at,
            long_warn_at=long_warn_at,
        )
        WEIGHTS.write_bytes(msgspec.msgpack.encode(changed))


if __name__ == "__main__":
    main()
