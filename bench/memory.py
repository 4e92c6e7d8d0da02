"""How much memory this process took at its peak.

`getrusage` is no use here, as a child begins with the peak of the process that started it.
"""

from pathlib import Path


def read_peak_mib() -> float:
    """Return the peak of resident memory since this program began, in mebibytes."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024
