"""Measure growth with the length of a session's history and with the number of open folders and sessions."""

from collections.abc import Callable
from pathlib import Path

from bench.growth import Measured, Row, run_probe

PROBE = Path(__file__).parent / "probe_agent.py"


def measured_by(what: str) -> Callable[[int, Path, Path], Measured]:
    """Return a row's function that runs the probe."""

    def measure(size: int, folder: Path, code: Path) -> Measured:
        del folder
        done = run_probe(code, PROBE, what, size)
        return Measured(done["ours"], done["floor"], str(done.get("notes", "")))

    return measure


ROWS = (
    Row("step", "CPU ms", (20_000, 1_000_000, 5_000_000, 20_000_000), measured_by("step")),
    Row("folders", "ms", (1, 10, 100, 500), measured_by("folders"), goal=2.0),
    Row("open-sessions", "MiB", (10, 100, 300, 1_000), measured_by("idle")),
    Row("streams", "µs", (10, 30, 100, 300), measured_by("stream"), goal=3.0),
)
