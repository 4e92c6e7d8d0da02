"""Find what a sandbox must hide or protect in a set of folders.

Folders are scanned breadth first, up to a limit. The scan blocks and is repeated for each command, because
files come and go.
"""

import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.workspaces.path_confinement import is_within
from hermes_acp.workspaces.sandbox.sandbox_mounts import is_real

MAX_ENTRIES: Final = 100_000
MAX_DENIED_PATHS: Final = 500
LOW_PRIORITY_FOLDERS: Final = frozenset(
    {"node_modules", ".venv", "venv", "site-packages", "target", "__pycache__"}
)
"""Large folders of third-party files, scanned last."""

PathAccess = Literal["open", "passed", "kept", "hidden"]
PathClassifier = Callable[[str, bool], PathAccess]
"""A function that classifies a path, given whether it is a folder; folders classified as `passed` are not scanned."""


class PathScan(Struct, frozen=True):
    """The scan result: paths to hide, to make read-only, or to keep in place; `left` was not scanned."""

    hidden: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    def hiding_unvisited(self) -> "PathScan":
        """Also hide unscanned paths, or their parent folders if there are too many; everything denied stays hidden."""
        return PathScan(_gathered((*self.hidden, *self.left)), _gathered(self.kept), self.pinned)


def scan_folders(folders: Sequence[str], judge: PathClassifier, most: int = MAX_ENTRIES) -> PathScan:
    """Scan folders without following links, until `most` entries have been seen."""
    hidden: list[str] = []
    kept: list[str] = []
    near, later = deque(folders), deque[str]()
    seen = 0
    while (near or later) and seen < most:
        folder = near.popleft() if near else later.popleft()
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                seen += 1
                is_folder = entry.is_dir(follow_symlinks=False)
                judged = "passed" if entry.is_symlink() else judge(entry.path, is_folder)
                if judged == "hidden":
                    hidden.append(entry.path)
                elif judged == "kept":
                    kept.append(entry.path)
                if is_folder and judged in ("open", "kept"):
                    (later if entry.name in LOW_PRIORITY_FOLDERS else near).append(entry.path)
    return PathScan(tuple(hidden), tuple(kept), (), (*near, *later))


def find_denied(folders: Sequence[str], denied_paths: Sequence[DeniedPath]) -> PathScan:
    """Find everything in some folders that rules deny. Raises WorkspaceError if there is too much to check."""
    whole = tuple(folder for folder in folders if classify_folder(folder, denied_paths) == "hidden")
    near = [each for each in denied_paths if any(each.may_match_below(folder) for folder in folders)]
    if not near:
        return PathScan(whole)
    pinned: list[str] = []

    def judge(path: str, is_folder: bool) -> PathAccess:
        if is_folder and any(each.is_above(path) for each in near):
            pinned.append(path)
        return classify_path(path, near, is_folder=is_folder)

    sight = scan_folders([folder for folder in folders if folder not in whole], judge)
    if sight.left or len(sight.hidden) + len(sight.kept) > MAX_DENIED_PATHS:
        raise WorkspaceError(
            "Not run: there are too many files here to hide those that policy rules deny.",
            hint="Set `unsandboxed: true` to ask the user. A rule that names a folder is cheaper to enforce "
            "than one for names anywhere.",
        )
    return PathScan((*whole, *sight.hidden), sight.kept, tuple(pinned))


def classify_path(path: str, denied_paths: Sequence[DeniedPath], *, is_folder: bool) -> PathAccess:
    """Return how rules classify one path in a folder that is not denied."""
    fitting = [each.hides for each in denied_paths if each.matches(path)]
    if fitting:
        return "hidden" if any(fitting) else "kept"
    return "open" if is_folder and any(each.may_match_below(path) for each in denied_paths) else "passed"


def classify_folder(folder: str, denied_paths: Sequence[DeniedPath]) -> PathAccess:
    """Return how rules classify a folder, judging by its own path and those above it."""
    parts = folder.split("/")
    above = ["/".join(parts[:end]) or "/" for end in range(1, len(parts) + 1)]
    is_hidden = any(each.hides and each.matches(path) for each in denied_paths for path in above)
    return "hidden" if is_hidden else "open"


def missing_denied(folders: Sequence[str], denied_paths: Sequence[DeniedPath]) -> tuple[str, ...]:
    """Return the denied paths that a command could create because their folders exist and are reached without links."""
    return tuple(
        each.named
        for each in denied_paths
        if each.named
        and any(is_within(each.named, folder) for folder in folders)
        and not is_real(each.named)
        and os.path.isdir(folder := os.path.dirname(each.named))
        and os.path.realpath(folder) == folder
    )


def _gathered(paths: Sequence[str]) -> tuple[str, ...]:
    """Return a few paths that cover all the given ones; if there are too many, use their deepest common folders."""
    gathered = set(paths)
    while len(gathered) > MAX_DENIED_PATHS:
        deepest = max(path.count("/") for path in gathered)
        gathered = {os.path.dirname(path) if path.count("/") == deepest else path for path in gathered}
    return tuple(sorted(gathered))
