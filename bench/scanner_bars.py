"""Set the scanner's bars by honest files it never learnt from: python -m bench.scanner_bars FILE [--write].

FILE has honest files as `bench.collect_honest` writes them, of repositories that are in none of the training files.
Training sets the bars by cross-validation (`bench.train_scanner`); this checks them on other hands' files, and --write
puts what these say into the package: no more than `MOST_BLOCKED` of them are blocked, `MOST_WARNED` warned of, for
their words alone.
"""

import argparse
from pathlib import Path

import msgspec

from bench.scanner_learning import APART, benign_samples, load, runs_by_origin
from bench.train_scanner import WEIGHTS, Unseen, bars_of, loudness_of, rise_of
from injection_scanner.classification.features import load_weights

MOST_BLOCKED, MOST_WARNED = 0.002, 0.015


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--write", action="store_true", help="write the bars into the package")
    options = parser.parse_args()
    weights = load_weights()
    rows = [row for row in load(options.file.parent, options.file.name) if row["kind"] not in APART]
    files = [row["id"] for row in rows]
    heard = {
        row["id"]: loudness_of(list(benign_samples([row])), rise_of(row, weights), weights) for row in rows
    }
    unseen = Unseen(heard, runs_by_origin(rows, weights), {})
    block_at, warn_at, long_block_at, long_warn_at = bars_of(files, unseen, MOST_BLOCKED, MOST_WARNED)
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
