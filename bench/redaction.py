"""Measure the speed and recall of masking secrets, compared with decoding the same text.

Run: python -m bench.redaction
Each text is cleaned as a whole, and as a stream in chunks of 64 KiB, as command output arrives. The floor is decoding
the text, which is needed in any case. Recall and false alarms are measured with invented secrets of all kinds, and with
hashes as they occur in lock files, listings and logs.
"""

import base64
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hermes_acp.telemetry.redaction import Redactor
from tests.unit.telemetry import secret_samples as samples

PIECE = 64 * 1024
SIZE = 4_000_000
GOAL_MB_S, GOAL_RECALL, GOAL_ALARMS = 50.0, 0.95, 0.005


def texts() -> dict[str, str]:
    """Return sample texts of each kind, a few megabytes each."""
    dice = random.Random(1)
    log = "".join(
        f"2026-01-02 03:04:{number % 60:02} INFO worker-{number % 7} GET /api/v1/items/{number} 200 {number % 900} ms\n"
        for number in range(SIZE // 70)
    )
    code = "".join(path.read_text(encoding="utf-8") for path in sorted(Path("hermes_acp").rglob("*.py")))
    hashes = "".join(f"{dice.randbytes(20).hex()} {dice.randbytes(32).hex()}\n" for _ in range(SIZE // 400))
    return {
        "log": log,
        "source code": code * (SIZE // len(code) + 1),
        "hashes only": hashes,
        "one line of base64": base64.b64encode(dice.randbytes(SIZE // 4)).decode(),
    }


def best_s(work: Callable[[], object]) -> float:
    """Return the best time of three."""
    times: list[float] = []
    for _ in range(3):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def stream_through(redactor: Redactor, text: str) -> int:
    stream = redactor.stream()
    given = sum(len(stream.feed(text[start : start + PIECE])) for start in range(0, len(text), PIECE))
    return given + len(stream.finish())


def count_found(redactor: Redactor, rounds: int) -> tuple[float, float]:
    """Return the share of secrets that are masked and the share of harmless lines that are changed."""
    secrets = missed = lines = changed = 0
    for seed in range(rounds):
        dice = random.Random(seed)
        for _, secret in samples.tokens(dice):
            secrets += 1
            missed += secret in redactor.clean(f"value {secret} end\n")
        for _, secret, text in samples.in_context(dice):
            secrets += 1
            missed += secret in redactor.clean(text)
        for line in samples.harmless(dice):
            lines += 1
            changed += redactor.clean(line) != line
    return 1 - missed / secrets, changed / lines


def main() -> int:
    begun = time.perf_counter()
    redactor = Redactor([f"known-secret-{number}-{'q7Zp' * 5}" for number in range(5)])
    redactor.clean("a" * 20)
    print(f"compiled in {(time.perf_counter() - begun) * 1e3:.0f} ms")
    print(f"{'':20} {'whole':>10} {'stream':>10} {'decoding':>10}   MB/s")
    slow: list[str] = []
    for name, text in texts().items():
        data = text.encode()
        speeds = [
            len(text) / best_s(work) / 1e6
            for work in (partial(redactor.clean, text), partial(stream_through, redactor, text), data.decode)
        ]
        print(f"{name:20} {speeds[0]:10.0f} {speeds[1]:10.0f} {speeds[2]:10.0f}")
        if name in ("log", "source code") and min(speeds[:2]) < GOAL_MB_S:
            slow.append(name)
    recall, alarms = count_found(redactor, 40)
    print(
        f"masked {recall:.2%} of secrets (goal {GOAL_RECALL:.0%}), {alarms:.3%} of harmless lines ({GOAL_ALARMS:.1%})"
    )
    if slow:
        print(f"slower than {GOAL_MB_S:.0f} MB/s: {', '.join(slow)}")
    return 1 if recall < GOAL_RECALL or alarms > GOAL_ALARMS else 0


if __name__ == "__main__":
    sys.exit(main())
