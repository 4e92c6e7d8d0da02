"""Measure the peak memory of this process.

`getrusage` does not help, because a child starts with the peak of the process that started it.
"""

from pathlib import Path


def read_peak_mib() -> float:
    """Return the peak of resident memory since this program started, in mebibytes."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024
