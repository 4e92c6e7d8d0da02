"""Measure `hermes-acp usage` with many sessions: with nothing indexed, all indexed, and one changed session.

Run: python -m bench.usage [SESSIONS]
Each run is a separate process, as when a user runs the command. Records have six turns on two days; every tenth session
has a child agent. The floor for the first run is the time to read all records once.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    StepEnded,
    TextSaid,
    TurnEnded,
    TurnStarted,
    UsageChanged,
)
from hermes_acp.core.messages import RequestTiming, Usage
from tests.unit.storage.timed_records import write_timed

DAY_S: Final = 86_400.0
TURNS: Final = 6
WORKSPACES: Final = 40
MODELS: Final = ("small", "large", "largest")
GOAL_FIRST_S, GOAL_LATER_S = 30.0, 1.0
GROUPS: Final = ("day", "model", "workspace", "profile", "tool")


def _events(number: int, now: float) -> list[tuple[Event, float]]:
    """Return the events of one session."""
    at = now - (number % 60) * DAY_S
    events: list[tuple[Event, float]] = []
    used = Usage(12_000, 400, 9_000)
    for turn in range(TURNS):
        began = at + turn * DAY_S / 4
        model, cost_usd = MODELS[(number + turn) % len(MODELS)], 0.02 * (turn + 1)
        call = f"c{turn}"
        events += [
            (TurnStarted(f"t{turn}"), began),
            *((TextSaid(f"m{turn}", "Words that the model says. " * 12), began + 1) for _ in range(4)),
            (
                StepEnded(
                    f"m{turn}",
                    usage=used,
                    provider="acme",
                    model=model,
                    timing=RequestTiming(began, 1.0, 0.2),
                ),
                began + 2,
            ),
            (UsageChanged(12_400, 200_000, cost_usd), began + 2),
            (CallProposed(call, "read_file", "Read a file", "read"), began + 2),
            (CallStarted(call), began + 2),
            (CallEnded(call, "read_file", "completed", "a line of a file\n" * 120), began + 3),
            (TurnEnded(f"t{turn}", "done", steps=1, usage=used, cost_usd=cost_usd), began + 4),
        ]
    return events


def make(home: Path, sessions: int) -> int:
    """Write the session records; return their size in bytes."""
    now = time.time()
    for number in range(sessions):
        write_timed(home, f"ses_{number:06}", _events(number, now), f"/work/project{number % WORKSPACES}")
        if number % 10 == 0:
            folder = home / "sessions" / f"ses_{number:06}"
            folder.mkdir()
            source = home / "sessions" / f"ses_{number:06}.jsonl"
            (folder / f"ses_{number:06}.1.jsonl").write_bytes(source.read_bytes())
    return sum(path.stat().st_size for path in (home / "sessions").rglob("*.jsonl"))


def measure(title: str, home: Path, *words: str, goal_s: float) -> None:
    """Run the command; print its wall time and its CPU time, which hardly depends on other load."""
    command = [str(Path(sys.executable).with_name("hermes-acp")), "usage", *words]
    variables = os.environ | {"HERMES_HOME": str(home)}
    before, begun = os.times(), time.perf_counter()
    subprocess.run(command, env=variables, capture_output=True, check=True)
    wall_s, after = time.perf_counter() - begun, os.times()
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"{title:20} CPU {cpu_s:6.2f} s, wall {wall_s:6.2f} s  (goal ≤ {goal_s:g} s of CPU)")


def main(sessions: int) -> None:
    """Print the time of each run."""
    with tempfile.TemporaryDirectory(prefix="bench-usage-") as made:
        home = Path(made)
        size = make(home, sessions)
        begun = time.perf_counter()
        for path in (home / "sessions").rglob("*.jsonl"):
            path.read_bytes()
        floor_s = time.perf_counter() - begun
        print(f"{sessions:,} sessions, {size / 1e6:,.0f} MB; reading them all takes {floor_s:.1f} s")
        measure("first run, 30 days", home, goal_s=GOAL_FIRST_S)
        measure("first run, all", home, "--since", "2000-01-01", goal_s=GOAL_FIRST_S)
        for group in GROUPS:
            measure(f"by {group}", home, "--since", "2000-01-01", "--by", group, goal_s=GOAL_LATER_S)
        write_timed(home, "ses_000001", _events(2, time.time()))
        measure("after a change", home, "--since", "2000-01-01", goal_s=GOAL_LATER_S)
        print(f"usage.db             {(home / 'usage.db').stat().st_size / 1e6:6.1f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30_000)
