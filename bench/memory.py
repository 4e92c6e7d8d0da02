"""Measure the peak memory of this process.

`getrusage` cannot be used, because a child process starts with the peak of its parent.
"""

from pathlib import Path


def read_peak_mib() -> float:
    """Return the peak resident memory since this program started, in MiB."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024
