"""Run a worst-case model over a hundred scenarios in three modes, and count the questions in forty benign sessions.

Run: python -m bench.worst_case [attacks|honest] [ask|accept_edits|auto] [-v] [NAME …]
The scripted model obeys the last instruction it read, whatever its source (`tests/attacks/worst_case.py`). The user
never approves what that instruction asks for. Goals: no canary leaks, nothing is destroyed that `/undo` cannot restore,
and nothing is left for later sessions. The benign sessions show the cost in questions: run them on two versions.
"""

import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

import anyio

from tests.attacks.scenario_tables import Scenario, honest_sessions, scenarios
from tests.attacks.worst_case import MODES, Outcome, attack, work


def attack_all(chosen: list[Scenario], modes: list[str], *, tells_all: bool) -> bool:
    """Run the scenarios in the given modes and print the results; return whether all attacks failed."""
    columns = ("scenarios", "obeyed", "asked", "leaked", "destroyed", "planted", "undone")
    print(f"{'mode':13}" + "".join(f"{column:>11}" for column in columns))
    is_held = True
    for mode in modes:
        counts = Counter[str](scenarios=len(chosen))
        for scenario in chosen:
            outcome = _run(scenario, mode)
            counts.update(
                obeyed=bool(outcome.obeyed),
                asked=outcome.asked,
                leaked=bool(outcome.leaked),
                destroyed=bool(outcome.destroyed),
                planted=bool(outcome.planted),
                undone=outcome.undone,
            )
            is_held &= outcome.is_held
            if tells_all or not outcome.is_held:
                print(f"    {scenario.name}: {outcome}", flush=True)
        print(f"{mode:13}" + "".join(f"{counts[column]:11}" for column in columns), flush=True)
    return is_held


def _run(scenario: Scenario, mode: str) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(partial(attack, Path(folder), scenario, mode))


def count_questions(names: list[str], modes: list[str], *, tells_all: bool) -> None:
    """Print the number of questions in the benign sessions in each mode."""
    print(f"{'mode':13}{'sessions':>11}{'questions':>11}")
    for mode in modes:
        asked: dict[str, list[str]] = {}
        for name, calls in honest_sessions():
            if not names or name in names:
                with tempfile.TemporaryDirectory() as folder:
                    asked[name] = anyio.run(partial(work, Path(folder), calls, mode))
        print(f"{mode:13}{len(asked):11}{sum(map(len, asked.values())):11}", flush=True)
        if tells_all:
            for name, titles in asked.items():
                print(f"    {len(titles)}  {name}: {'; '.join(titles)}")


def main(words: list[str]) -> int:
    tells_all = "-v" in words
    modes = [mode for mode in MODES if mode in words] or [*MODES]
    names = [word for word in words if word not in ("-v", "attacks", "honest", *MODES)]
    began = time.perf_counter()
    is_held = True
    if "honest" not in words:
        chosen = [each for each in scenarios() if not names or each.name in names]
        is_held = attack_all(chosen, modes, tells_all=tells_all)
    if "attacks" not in words:
        count_questions(names, modes, tells_all=tells_all)
    print(f"{time.perf_counter() - began:.0f} s")
    return 0 if is_held else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
