"""Growth of work on files: reading a few lines, searching, finding by name."""

import json
import os
import subprocess
import time
from hashlib import blake2b
from pathlib import Path

from bench.growth import Measured, Row, run_probe
from hermes_acp.workspaces.ripgrep import find_ripgrep

PROBES = Path(__file__).parent
LINE = b"    result = compute(value, other)  # a line like any other\n"
MB = 1_000_000


def make_file(path: Path, size_bytes: int) -> None:
    """Write a file of lines."""
    block = LINE * (MB // len(LINE))
    with path.open("wb") as file:
        while file.tell() + len(block) < size_bytes:
            file.write(block)
        file.write(LINE * ((size_bytes - file.tell()) // len(LINE)))


def measure_reading(size_bytes: int, folder: Path, code: Path) -> Measured:
    """Read 50 lines from the middle; the floor reads, counts lines and computes the digest by hand."""
    path = folder / "big.txt"
    make_file(path, size_bytes)
    begun = time.perf_counter()
    digest, breaks = blake2b(digest_size=16), 0
    with path.open("rb") as file:
        while piece := file.read(1 << 19):
            digest.update(piece)
            breaks += piece.decode().count("\n")
    floor_s = time.perf_counter() - begun
    done = run_probe(code, PROBES / "probe_read.py", path, breaks // 2)
    notes = f"lag {done['lag_ms']:.1f} ms (goal 20), memory +{done['grown_mib']:.1f} MiB (goal 10)"
    return Measured(done["s"], floor_s, notes)


def measure_long_line(size_bytes: int, folder: Path, code: Path) -> Measured:
    """Search for the end of one line; the floor is ripgrep without JSON, which cuts the line."""
    path = folder / "line.json"
    block = b'{"key":"value","n":12345},' * 40_000
    with path.open("wb") as file:
        while file.tell() < size_bytes:
            file.write(block)
        file.write(b"needle")
    floor = (
        find_ripgrep({"PATH": os.defpath}, ()),
        "--no-config",
        "-n",
        "--max-columns=2000",
        "needle",
        str(folder),
    )
    begun = time.perf_counter()
    subprocess.run(floor, capture_output=True, check=True)
    floor_s = time.perf_counter() - begun
    done = run_probe(code, PROBES / "probe_tool.py", folder, "search", json.dumps({"pattern": "needle"}))
    return Measured(done["s"], floor_s, done["text"].replace("\n", " ")[:100])


ROWS = (
    Row("read", "s", (10_000, MB, 10 * MB, 60 * MB, 1000 * MB), measure_reading),
    Row("search-line", "s", (MB, 10 * MB, 100 * MB, 300 * MB), measure_long_line),
)
