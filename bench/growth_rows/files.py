"""Measure how file operations grow: reading a few lines, searching, and finding files by name."""

import json
import os
import resource
import subprocess
import time
from hashlib import blake2b
from pathlib import Path

from bench.files import make_tree
from bench.growth import Measured, Row, run_probe
from hermes_acp.workspaces.ripgrep import find_ripgrep

PROBES = Path(__file__).parent
LINE = b"    result = compute(value, other)  # a line like any other\n"
MB = 1_000_000


def make_file(path: Path, size_bytes: int) -> None:
    """Write a file with the given number of lines."""
    block = LINE * (MB // len(LINE))
    with path.open("wb") as file:
        while file.tell() + len(block) < size_bytes:
            file.write(block)
        file.write(LINE * ((size_bytes - file.tell()) // len(LINE)))


def measure_reading(size_bytes: int, folder: Path, code: Path) -> Measured:
    """Read 50 lines from the middle; the floor reads, counts lines and computes the digest directly."""
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
    """Search for the end of one long line; the floor is ripgrep without JSON, which truncates the line."""
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


def measure_glob(files: int, folder: Path, code: Path) -> Measured:
    """Find files by a name that one file in a hundred has, newest first; the floor lists all files with ripgrep."""
    make_tree(folder, files)
    floor_s = min(listing_cpu_s(folder) for _ in range(3))
    named = [_find_cpu_s(code, folder, "f*99.py") for _ in range(3)]
    everything = min(_find_cpu_s(code, folder, "*") for _ in range(3))
    return Measured(min(named), floor_s, f"matching all files {everything:.3f} ({everything / floor_s:.2f})")


def _find_cpu_s(code: Path, folder: Path, pattern: str) -> float:
    done = run_probe(code, PROBES / "probe_tool.py", folder, "glob", json.dumps({"pattern": pattern}))
    return done["cpu_s"]


def listing_cpu_s(folder: Path) -> float:
    """Return the CPU time of `rg --files`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    argv = (find_ripgrep({"PATH": os.defpath}, ()), "--no-config", "--hidden", "--files", str(folder))
    subprocess.run(argv, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_mentions(files: int, folder: Path, code: Path) -> Measured:
    """List the files that the chat's @ offers and match one word; the floor lists all files with ripgrep."""
    make_tree(folder, files)
    floor_s = min(listing_cpu_s(folder) for _ in range(3))
    done = [run_probe(code, PROBES / "probe_mentions.py", folder) for _ in range(3)]
    best = min(done, key=lambda each: each["list_s"])
    notes = f"{best['paths']:,} offered; each key {best['match_s'] * 1000:.0f} ms"
    return Measured(best["list_s"], floor_s, notes)


TREES = (1_000, 10_000, 30_000, 100_000)
ROWS = (
    Row("read", "s", (10_000, MB, 10 * MB, 60 * MB, 1000 * MB), measure_reading),
    Row("search-line", "s", (MB, 10 * MB, 100 * MB, 300 * MB), measure_long_line),
    Row("glob", "CPU s", TREES, measure_glob, goal=1.5),
    Row("mentions", "CPU s", TREES, measure_mentions, goal=1.5),
)
