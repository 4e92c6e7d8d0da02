"""Measure how the cost of an operation grows with the size of its input, compared with a floor from the same run.

Run: python -m bench.growth [ROW ...] [--list] [--before FOLDER]
Without names, all rows are measured. With --before, the code of another checkout is measured in the same run.

To add a row, export it from a module in `bench/growth_rows` as a member of `ROWS`. A row has a name, at least four
sizes where that makes sense, and a function that measures one size: the cost of our code, the cost of the floor, and
notes. Anything that measures memory or needs a fresh process belongs in a probe: a script that prints one JSON object.
"""

import argparse
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

import bench.growth_rows
from bench.agents import ROOT, prepare

PROBE_TIMEOUT_S = 900


class Measured(Struct, frozen=True):
    """The costs at one size, ours and the floor's, in the row's unit, with notes."""

    ours: float
    floor: float
    notes: str = ""


class Row(Struct, frozen=True):
    """One row of the table: the sizes of the work, and a function that measures one size.

    The function gets the size, an empty folder to work in, and the checkout whose code is measured. `goal` is the
    maximum ratio to the floor, or None if only the notes have a goal.
    """

    name: str
    unit: str
    sizes: tuple[int, ...]
    measure: Callable[[int, Path, Path], Measured]
    goal: float | None = None


def run_probe(code: Path, script: Path, *arguments: object) -> dict[str, Any]:
    """Run a probe in a fresh process with the code of a checkout and return what it printed."""
    paths = (str(code), str(code / "protocol"), str(code / "scanner"))
    done = subprocess.run(
        (sys.executable, str(script), *map(str, arguments)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        cwd=code,
        capture_output=True,
        text=True,
        timeout=PROBE_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{script.name} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def find_rows() -> dict[str, Row]:
    """Return all rows by name."""
    modules = sorted(each.name for each in pkgutil.iter_modules(bench.growth_rows.__path__))
    loaded = [importlib.import_module(f"bench.growth_rows.{name}") for name in modules]
    return {row.name: row for module in loaded for row in getattr(module, "ROWS", ())}


def measure_row(row: Row, before: Path | None) -> bool:
    """Measure and print all sizes of a row; return whether they are within its goal."""
    is_held = True
    for size in row.sizes:
        checkouts = (ROOT, before) if before else (ROOT,)
        results: list[Measured] = []
        for code in checkouts:
            with tempfile.TemporaryDirectory() as folder:
                results.append(row.measure(size, Path(folder), code))
        ours = results[0]
        ratio = ours.ours / ours.floor if ours.floor else 0.0
        is_held = is_held and (row.goal is None or ratio <= row.goal)
        cells = f"{row.name:16} {size:>13,} {ours.ours:>10.3f} {ours.floor:>10.3f} {ratio:>7.2f}"
        print(f"{cells}  {row.unit:8} {ours.notes}", flush=True)
        for earlier in results[1:]:
            ratio = earlier.ours / earlier.floor if earlier.floor else 0.0
            cells = f"{'  before':16} {size:>13,} {earlier.ours:>10.3f} {earlier.floor:>10.3f} {ratio:>7.2f}"
            print(f"{cells}  {row.unit:8} {earlier.notes}", flush=True)
    return is_held


def main(arguments: Sequence[str]) -> int:
    """Measure the named rows, or all; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth")
    parser.add_argument("names", nargs="*", metavar="ROW")
    parser.add_argument("--list", action="store_true", help="list the rows and exit")
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="also measure this other checkout")
    options = parser.parse_args(arguments)
    rows = find_rows()
    if options.list:
        for row in rows.values():
            print(f"{row.name:16} {', '.join(f'{size:,}' for size in row.sizes)}")
        return 0
    if unknown := set(options.names) - rows.keys():
        parser.error(f"unknown row {min(unknown)}; known rows: {', '.join(rows)}")
    prepare()
    print(f"{'row':16} {'size':>13} {'ours':>10} {'floor':>10} {'ratio':>7}  {'unit':8} notes")
    held = [measure_row(rows[name], options.before) for name in options.names or rows]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
