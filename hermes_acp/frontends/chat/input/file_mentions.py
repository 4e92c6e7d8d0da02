"""Files of the working directory that a prompt can mention."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from hermes_protocol import v1

MAX_FILES: Final = 20_000
SKIPPED_FOLDERS: Final = frozenset({"node_modules", "__pycache__", "target", "venv", "dist", "build"})
MENTION_ENDS: Final = ".,;:!?)]}\"'"


def files_below(folder: str) -> list[str]:
    """List the files and folders below a folder, with relative paths; a folder's path ends in a slash."""
    found: list[str] = []
    for path in _walk(folder):
        found.append(path)
        if len(found) >= MAX_FILES:
            break
    return found


def matching(paths: Sequence[str], wanted: str, most: int) -> list[str]:
    """Return at most `most` paths that match a prefix or a part of a name, the closest first."""
    low = wanted.lower()
    ranked = sorted(
        (rank, len(path), path) for path in paths if (rank := _rank(path.lower(), low)) is not None
    )
    return [path for _, _, path in ranked[:most]]


def mentions(prompt: str, cwd: str) -> list[v1.ResourceLink]:
    """Return links to the existing files that a prompt names as `@path`."""
    links: dict[str, v1.ResourceLink] = {}
    for word in prompt.split():
        if not word.startswith("@") or len(word) < 2:
            continue
        path = next((p for p in _readings(word[1:], cwd) if p.exists()), None)
        if path is not None:
            links[str(path)] = v1.ResourceLink(name=path.name, uri=f"file://{quote(str(path))}")
    return list(links.values())


def _readings(named: str, cwd: str) -> Iterator[Path]:
    yield Path(cwd, named)
    yield Path(cwd, named.rstrip(MENTION_ENDS))


def _rank(path: str, wanted: str) -> int | None:
    name = path.rstrip("/").rpartition("/")[2]
    if path.startswith(wanted):
        return 0
    if name.startswith(wanted):
        return 1
    return 2 if wanted in path else None


def _walk(folder: str) -> Iterator[str]:
    """Walk breadth first, because near files are mentioned more often."""
    waiting = [""]
    while waiting:
        place = waiting.pop(0)
        try:
            entries = sorted(os.scandir(os.path.join(folder, place)), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS:
                continue
            path = f"{place}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{path}/")
                yield f"{path}/"
            else:
                yield path
