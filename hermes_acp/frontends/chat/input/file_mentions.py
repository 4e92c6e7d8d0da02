"""Find the files that a prompt can mention, and those that it mentions."""

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from pathlib import Path
from typing import Final

MAX_FILES: Final = 200_000
SKIPPED_FOLDERS: Final = frozenset({"node_modules", "__pycache__", "target", "venv", "dist", "build"})
MENTION_ENDS: Final = ".,;:!?)]}\"'"
LINE_NUMBER: Final = re.compile(r":\d+(-\d+)?[.,;:!?)\]}\"']*\Z")


def files_below(folder: str) -> list[str]:
    """List the relative paths of the files and folders below a folder; a folder's path ends in a slash."""
    found: list[str] = []
    waiting = deque([""])
    while waiting and len(found) < MAX_FILES:
        # Breadth-first, because files near the top are mentioned more often.
        place = waiting.popleft()
        for name, is_folder in _entries(os.path.join(folder, place)):
            path = f"{place}{name}/" if is_folder else f"{place}{name}"
            found.append(path)
            if is_folder:
                waiting.append(path)
    return found[:MAX_FILES]


def matching(paths: Sequence[str], wanted: str, most: int) -> list[str]:
    """Return at most `most` paths that match the start or a part of a name, the best matches first."""
    low = wanted.lower()
    ranked = ((rank, len(path), path) for path in paths if (rank := _rank(path.lower(), low)) is not None)
    return [path for _, _, path in nsmallest(most, ranked)]


def mentioned_paths(prompt: str, cwd: str) -> list[Path]:
    """Return the existing files and folders that a prompt mentions as `@path`, each once."""
    found = (next((p for p in readings(name, cwd) if p.exists()), None) for name in mentions(prompt))
    return list(dict.fromkeys(path for path in found if path is not None))


def mentions(prompt: str) -> Iterator[str]:
    """Yield every word after an @, including punctuation at its end."""
    for word in prompt.split():
        if word.startswith("@") and len(word) > 1:
            yield word[1:]


def readings(named: str, cwd: str) -> Iterator[Path]:
    """Yield the paths that a mention may mean: unchanged, without punctuation at its end, and without `:LINE`."""
    for name in dict.fromkeys((named, named.rstrip(MENTION_ENDS), LINE_NUMBER.sub("", named))):
        if name:
            yield Path(cwd, os.path.expanduser(name))


def _rank(path: str, wanted: str) -> int | None:
    if wanted not in path:
        return None
    name = path.rstrip("/").rpartition("/")[2]
    if path.startswith(wanted):
        return 0
    if name.startswith(wanted):
        return 1
    return 2


def _entries(folder: str) -> list[tuple[str, bool]]:
    """List the entries of a folder as pairs of name and whether it is a folder, without hidden and generated ones."""
    try:
        with os.scandir(folder) as entries:
            return sorted(
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
                if entry.name[0] != "." and entry.name not in SKIPPED_FOLDERS
            )
    except OSError:
        return []
