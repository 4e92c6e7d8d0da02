"""What in a few folders a sandbox must not show, or not let anybody change.

Knows: how folders are gone through, the near before the deep, within a bound. Does not know: who shuts what, and why.
Looking blocks; it is done anew for each command, as files come and go.
"""

import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.closures import Closure
from hermes_acp.core.errors import WorkspaceTrouble
from hermes_acp.workspaces.confine import is_within
from hermes_acp.workspaces.sandbox.places import is_real

MOST_ENTRIES: Final = 100_000
MOST_SHUT: Final = 500
LATER: Final = frozenset({"node_modules", ".venv", "venv", "site-packages", "target", "__pycache__"})
"""Folders of what others wrote, of which there is much: they are looked into last."""

Judged = Literal["open", "passed", "kept", "hidden"]
Judge = Callable[[str, bool], Judged]
"""Tells of a path, and whether it is a folder, what becomes of it; a `passed` one is not looked into."""


class Sight(Struct, frozen=True):
    """What was found: paths that are not seen, are only read, or keep their names; `left` was not looked into."""

    hidden: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    def narrowed(self) -> "Sight":
        """Hide what was not looked into, and where that is too much the folders around it; nothing shut is left out."""
        return Sight(_gathered((*self.hidden, *self.left)), _gathered(self.kept), self.pinned)


def look(folders: Sequence[str], judge: Judge, most: int = MOST_ENTRIES) -> Sight:
    """Go through folders, over no link, until `most` entries were seen."""
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
                    (later if entry.name in LATER else near).append(entry.path)
    return Sight(tuple(hidden), tuple(kept), (), (*near, *later))


def look_for(folders: Sequence[str], closures: Sequence[Closure]) -> Sight:
    """Find all that is shut in some folders. Raises WorkspaceTrouble where that is too much to be sure."""
    whole = tuple(folder for folder in folders if judged_around(folder, closures) == "hidden")
    near = [each for each in closures if any(each.may_lie_beneath(folder) for folder in folders)]
    if not near:
        return Sight(whole)
    pinned: list[str] = []

    def judge(path: str, is_folder: bool) -> Judged:
        if is_folder and any(each.leads_through(path) for each in near):
            pinned.append(path)
        return judged_by(path, near, is_folder=is_folder)

    sight = look([folder for folder in folders if folder not in whole], judge)
    if sight.left or len(sight.hidden) + len(sight.kept) > MOST_SHUT:
        raise WorkspaceTrouble(
            "Not run: there are too many files here to keep a command from those that rules of the policy shut.",
            hint="With `unsandboxed: true` the user is asked. A rule that names a folder is quicker to keep than "
            "one for names anywhere.",
        )
    return Sight((*whole, *sight.hidden), sight.kept, tuple(pinned))


def judged_by(path: str, closures: Sequence[Closure], *, is_folder: bool) -> Judged:
    """Tell what rules make of one path in a folder that is open."""
    fitting = [each.hides for each in closures if each.fits(path)]
    if fitting:
        return "hidden" if any(fitting) else "kept"
    return "open" if is_folder and any(each.may_lie_beneath(path) for each in closures) else "passed"


def judged_around(folder: str, closures: Sequence[Closure]) -> Judged:
    """Tell what rules make of a folder by its own path and those above it."""
    parts = folder.split("/")
    above = ["/".join(parts[:end]) or "/" for end in range(1, len(parts) + 1)]
    is_hidden = any(each.hides and each.fits(path) for each in closures for path in above)
    return "hidden" if is_hidden else "open"


def absent(folders: Sequence[str], closures: Sequence[Closure]) -> tuple[str, ...]:
    """Give the paths that rules name, and that could be made as their folders are there, reached over no link."""
    return tuple(
        each.named
        for each in closures
        if each.named
        and any(is_within(each.named, folder) for folder in folders)
        and not is_real(each.named)
        and os.path.isdir(folder := os.path.dirname(each.named))
        and os.path.realpath(folder) == folder
    )


def _gathered(paths: Sequence[str]) -> tuple[str, ...]:
    """Give a few paths that hold all of these: where there are too many, the folders of the deepest."""
    gathered = set(paths)
    while len(gathered) > MOST_SHUT:
        deepest = max(path.count("/") for path in gathered)
        gathered = {os.path.dirname(path) if path.count("/") == deepest else path for path in gathered}
    return tuple(sorted(gathered))
