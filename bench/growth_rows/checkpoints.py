"""Measure how checkpoints grow with the number of files in a repository."""

from pathlib import Path

from bench.growth import Measured, Row, run_probe

PROBE = Path(__file__).parent / "probe_checkpoints.py"
SIZES = (1_000, 10_000, 30_000, 100_000)


def measure_first_edit(files: int, folder: Path, code: Path) -> Measured:
    """Edit a file with its checkpoint; the floor is the same edit without one."""
    done = run_probe(code, PROBE, folder, files)
    notes = f"{(done['first_edit_s'] - done['plain_s']) * 1000:.1f} ms more (goal 100)"
    return Measured(done["first_edit_s"] * 1000, done["plain_s"] * 1000, notes)


def measure_first_command(files: int, folder: Path, code: Path) -> Measured:
    """Store a folder for the first time; the floor is `git add` into an empty repository."""
    done = run_probe(code, PROBE, folder, files)
    copied = done.get("copy_cpu_s")
    notes = "" if copied is None else f"copying in the background {copied:.2f}"
    return Measured(done["cold_cpu_s"], done["add_cpu_s"], notes)


def measure_later_command(files: int, folder: Path, code: Path) -> Measured:
    """Store an unchanged folder; the floor is `git status`."""
    done = run_probe(code, PROBE, folder, files)
    notes = f"undo of one file {done['undo_s']:.3f} ({done['undo_s'] / done['status_s']:.2f})"
    return Measured(done["warm_s"], done["status_s"], notes)


ROWS = (
    Row("first-edit", "ms", SIZES, measure_first_edit),
    Row("first-command", "CPU s", SIZES, measure_first_command),
    Row("later-command", "s", SIZES, measure_later_command, goal=1.2),
)
