"""Measure how the data that an edit sends to its client grows."""

from pathlib import Path

from bench.growth import Measured, Row, run_probe

PROBE = Path(__file__).parent / "probe_edit.py"


def measure_wire(size_bytes: int, folder: Path, code: Path) -> Measured:
    """Change one word after a permission request; the floor is sending the file's old and new text once."""
    path = folder / "big.txt"
    line = "a line of text like any other\n"
    path.write_text("the word\n" + line * (size_bytes // len(line)))
    whole, hunks = (run_probe(code, PROBE, path, manner)["bytes"] for manner in ("whole", "hunks"))
    return Measured(whole / 1e6, 2 * size_bytes / 1e6, f"as hunks {hunks / 1e6:.4f} MB")


ROWS = (Row("edit-wire", "MB", (10_000, 100_000, 300_000, 900_000), measure_wire, goal=2.0),)
