"""Detect whether an agent works while a person is asked, because every turn writes to its record before it acts."""

from pathlib import Path
from typing import Final

SESSIONS: Final = "sessions"
PROFILES: Final = "profiles"

Records = dict[str, tuple[int, int]]


def session_records(base: Path) -> Records:
    """Return the records of all sessions of all profiles, with their sizes and times. Blocks."""
    found: Records = {}
    for home in (base, *(base / PROFILES).glob("*")):
        for path in (home / SESSIONS).rglob("*.jsonl"):
            try:
                about = path.stat()
            except OSError:
                continue
            found[str(path)] = (about.st_size, about.st_mtime_ns)
    return found


def session_at_work(before: Records, after: Records) -> str:
    """Return the ID of a session whose record has changed since, or an empty string."""
    return next((Path(path).stem for path, about in after.items() if before.get(path) != about), "")
