"""Compare the arguments that the policy predicts with those that bash would pass, for many generated commands.

Run: nice python -m bench.argv_oracle [--words 100000] [--seed N]
The seed is printed; the same seed gives the same commands. Exits with code 1 if bash ran something without asking that
the policy had not predicted.
"""

import random
import sys
import time

from tests.attacks.argv_oracle import compare

WORDS = 100_000


def main(arguments: list[str]) -> int:
    options = dict(zip(arguments[::2], arguments[1::2], strict=True))
    seed = int(options.get("--seed", random.randrange(1 << 32)))
    print(f"seed {seed}", flush=True)
    begun = time.perf_counter()
    tally = compare(seed, int(options.get("--words", WORDS)))
    took_s = time.perf_counter() - begun
    print(f"{tally.commands:,} commands, {tally.words:,} words in {took_s:.0f} s", end=": ")
    print(f"{tally.words / took_s * 3600:,.0f} an hour; {tally.unasked:,} commands run unasked")
    for text, mistake in tally.findings:
        print(f"  {text!r}: {mistake}")
    print(f"not foreseen: {len(tally.findings)} (goal 0)")
    return 1 if tally.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
