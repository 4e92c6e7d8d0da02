"""Rename entries that appear under guarded names while unapproved commands run, and report them.

Nothing can be mounted over a missing path, so new entries exist until the command has ended and are
renamed then. A renamed entry keeps its content and its folder, under a name that no program looks for.
Everything here blocks.
"""

import os
import stat
from collections.abc import Callable, Mapping, Sequence, Set
from threading import Lock
from types import MappingProxyType
from typing import Final

from hermes_acp.git.git_entries import directories, stale_entries, unexpected_entries
from hermes_acp.git.repository_hazards import (
    hazard_of_entry,
    hazard_of_repository,
    head_path,
    is_usable,
)
from hermes_acp.workspaces.sandbox.sandbox_mounts import is_real
from hermes_acp.workspaces.sandbox.tree_index import TreeIndex

SUFFIX: Final = ".unapproved"
WANTED: Final = "If this file is wanted, create it with write_file; the user will be asked."
MAX_NAMES: Final = 100
MAX_REPORTED: Final = 10
CurrentPlaceholders = Callable[[], Set[str]]
"""A function that returns our own placeholders, called after a scan because commands may create some meanwhile."""
_State = tuple[int, int, int] | None
FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Quarantine:
    """Watches the guarded names of one workspace. Thread-safe."""

    def __init__(self, roots: Sequence[str], index: TreeIndex) -> None:
        self._roots = tuple(roots)
        self._index = index
        self._lock = Lock()
        self._names: Mapping[str, _State] = MappingProxyType({})
        self._known: frozenset[tuple[int, int]] = frozenset()
        self._entries: set[str] = set()
        """The entries of git directories that are not plain data."""
        self._leftovers: set[str] = set()
        self.repositories: tuple[str, ...] = ()
        """The repositories that existed before the running commands started."""
        self._at_work = 0
        self._told: list[str] = []

    def begin(self, placeholders: CurrentPlaceholders) -> None:
        """Record what exists before a command, except `placeholders`. Each call is followed by a call to `end`."""
        with self._lock:
            if self._at_work:
                self._quarantine_new(placeholders)
            else:
                self._approve_all(placeholders)
                self._leftovers = {
                    path
                    for each in self.repositories
                    for place in directories(each)
                    for path in stale_entries(place)
                }
            self._at_work += 1

    def end(self, placeholders: CurrentPlaceholders, *, is_over: bool) -> str:
        """Quarantine what appeared while a command ran; `is_over` means that everything it started has ended too.

        Returns the reports.
        """
        with self._lock:
            self._quarantine_new(placeholders)
            self._at_work -= is_over
            if not self._at_work:
                self._quarantine_leftovers()
            told, self._told = self._told, []
        more = [f"[… and {len(told) - MAX_REPORTED} more]"] if len(told) > MAX_REPORTED else []
        return "".join(f"\n{line}" for line in (*told[:MAX_REPORTED], *more))

    def look(self, placeholders: CurrentPlaceholders) -> None:
        """Quarantine what has appeared so far; the next command to end reports it."""
        with self._lock:
            if self._at_work:
                self._quarantine_new(placeholders)

    def admit(self, placeholders: CurrentPlaceholders) -> None:
        """Accept everything that exists, because an approved command has just ended."""
        with self._lock:
            self._approve_all(placeholders)

    def _approve_all(self, placeholders: CurrentPlaceholders) -> None:
        tree = self._index.look()
        self._names = {path: _state(path) for path in _without_placeholders(tree.guarded, placeholders)}
        self.repositories = tree.repositories
        live = (_identity(path) for path in self.repositories if is_usable(path))
        self._known = frozenset(each for each in live if each is not None)
        places = (place for each in self.repositories for place in directories(each))
        self._entries = {path for place in places for path in unexpected_entries(place) if is_real(path)}

    def _quarantine_new(self, placeholders: CurrentPlaceholders) -> None:
        tree = self._index.look()
        for path in _without_placeholders(tree.guarded, placeholders):
            if path not in self._names:
                self._move_aside(path, f"A command created {path} without approval")
            elif self._names[path] != (now := _state(path)):
                self._told.append(f"[A protected file changed without approval: {path}. Tell the user.]")
                self._names = {**self._names, path: now}
        found = [path for path in tree.repositories if is_usable(path)]
        trusted = list(self.repositories)
        for path in sorted(found, key=os.path.isfile):  # files that point to repositories come after folders
            if _identity(path) in self._known:
                continue
            if danger := hazard_of_repository(path, trusted):
                told = f"A command created {path} without approval, a repository that can start programs ({danger})"
                self._move_aside(head_path(path), told)
            else:
                trusted.append(path)
        ours = placeholders()
        for repository in self.repositories:
            self._quarantine_entries(repository, ours)

    def _quarantine_entries(self, repository: str, ours: Set[str]) -> None:
        """Quarantine what appeared in an existing repository and could make git run something."""
        if not os.path.isdir(repository) or os.path.islink(repository):
            return
        new = [
            path
            for place in directories(repository)
            for path in unexpected_entries(place)
            if path not in self._entries and path not in ours and is_real(path)
        ]
        for path in new:
            if danger := hazard_of_entry(path, repository):
                self._entries.add(
                    self._move_aside(
                        path, f"A command created {path} in a repository without approval ({danger})"
                    )
                )

    def _quarantine_leftovers(self) -> None:
        """Quarantine leftovers that would block git or look like the end of its history."""
        for repository in self.repositories:
            if not os.path.isdir(repository) or os.path.islink(repository):
                continue
            for path in [path for place in directories(repository) for path in stale_entries(place)]:
                if path not in self._leftovers:
                    told = f"A command left {path} behind, which blocks git"
                    self._entries.add(self._move_aside(path, told))

    def _move_aside(self, path: str, what: str) -> str:
        """Rename an entry without following links, and return the report."""
        root = next(each for each in self._roots if path.startswith(each.rstrip("/") + "/"))
        place, name = os.path.split(path)
        if made := _rename(root, os.path.relpath(place, root), name):
            self._told.append(f"[{what}. {name} is now {made}. {WANTED}]")
        elif os.path.lexists(path):
            self._told.append(f"[{what}. It could not be renamed. Tell the user.]")
        return os.path.join(place, made or name)


def _without_placeholders(paths: Sequence[str], placeholders: CurrentPlaceholders) -> list[str]:
    ours = placeholders() if paths else frozenset[str]()
    return [path for path in paths if path not in ours and is_real(path)]


def _state(path: str) -> _State:
    """Return a key that changes when a file changes; changes to a folder's entries do not affect its key."""
    try:
        about = os.lstat(path)
    except OSError:
        return None
    is_file = stat.S_ISREG(about.st_mode)
    return about.st_ino, about.st_mtime_ns if is_file else 0, about.st_size if is_file else 0


def _identity(path: str) -> tuple[int, int] | None:
    try:
        about = os.lstat(path)
    except OSError:
        return None
    return about.st_dev, about.st_ino


def _rename(root: str, place: str, name: str) -> str:
    """Rename an entry in a folder beneath a root; return its new name, or an empty string on failure."""
    try:
        top = os.open(root, FOLDER)
    except OSError:
        return ""
    opened: list[int] = [top]
    try:
        for step in () if place == "." else place.split("/"):
            opened.append(os.open(step, FOLDER | os.O_NOFOLLOW, dir_fd=opened[-1]))
        folder = opened[-1]
        taken = set(os.listdir(folder))
        wanted = (f"{name}{SUFFIX}{number or ''}" for number in range(MAX_NAMES))
        new = next((each for each in wanted if each not in taken), "")
        if new:
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=folder)
        return new
    except OSError:
        return ""
    finally:
        for each in opened:
            os.close(each)
