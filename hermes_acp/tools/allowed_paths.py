"""Decide which files in a folder a running call may show, leaving out denied and secret ones."""

from collections.abc import Iterable, Sequence
from typing import Final

from anyio.to_thread import run_sync

from hermes_acp.core.proposals import Progress, Reads

PER_FILE_LIMIT: Final = 200
"""Up to this many paths are checked in the event loop, which takes less than 10 ms."""


async def allowed_among(paths: Iterable[str], named: str, progress: Progress) -> frozenset[str]:
    """Return the resolved paths that may be read without asking, and the path that the call itself `named`."""
    ordered = sorted(set(paths))
    if len(ordered) <= PER_FILE_LIMIT:
        return _open_among(ordered, named, progress)
    return await run_sync(_open_among, ordered, named, progress)


def _open_among(ordered: Sequence[str], named: str, progress: Progress) -> frozenset[str]:
    """Check runs of neighbouring paths, halving each run that contains a denied path."""
    found: set[str] = set()
    waiting = [ordered]
    while waiting:
        group = waiting.pop()
        if not group or progress.allows(*map(Reads, group)):
            found.update(group)
        elif len(group) == 1:
            found.update(path for path in group if path == named)
        else:
            half = len(group) // 2
            waiting += [group[:half], group[half:]]
    return frozenset(found)


def omission_note(count: int) -> str:
    """Return a note that files were left out, or an empty string if none were."""
    files = "1 file" if count == 1 else f"{count:,} files"
    return f"\n[{files} left out: rules deny them, or they usually contain secrets]" if count else ""
