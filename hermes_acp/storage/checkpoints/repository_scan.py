"""Find the files of a workspace that belong in a snapshot, using git's own directory walk and exclusions.

A repository inside the workspace is treated like any folder except for its `.git`: git itself would only record
its commit. Source: git-ls-files(1), gitignore(5).
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from hermes_acp.core.ports.checkpoint_ports import CheckpointError
from hermes_acp.storage.checkpoints.git_trees import GitListing, read_listing
from hermes_acp.storage.checkpoints.shadow_git import ShadowGit

USUALLY_IGNORED: Final = (
    "node_modules/",
    ".venv/",
    "__pycache__/",
    ".tox/",
    ".nox/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".gradle/",
    ".terraform/",
    ".direnv/",
    "bower_components/",
    "jspm_packages/",
)
"""Default ignore patterns; the workspace's own ignore files take precedence."""
MAX_ARGUMENT_BYTES: Final = 100_000
MAX_NESTED_REPOSITORIES: Final = 200
MAX_EMPTY_FOLDERS: Final = 2_000
MAX_LOOKUPS: Final = 20_000
LIST_CHANGED: Final = ("ls-files", "-z", "-t", "-m", "-d")
LIST_UNTRACKED: Final = ("ls-files", "-z", "-t", "-o", "--directory", "--exclude-standard")
LIST_UNTRACKED_FILES: Final = ("ls-files", "-z", "-o", "--exclude-standard")


class ScanResult(Struct):
    """The paths that a snapshot must check: changed tracked files, untracked files, and folders without tracked files.

    If `was_expanded`, such folders contain files, so empty folders must be determined again.
    """

    changed: list[bytes]
    fresh: list[bytes]
    folders: list[bytes]
    was_expanded: bool = False


def too_many_files(root: str, max_files: int) -> CheckpointError:
    """Return the error about a folder that is too large for a snapshot."""
    return CheckpointError(
        f"{root} has more than {max_files:,} files.",
        hint="Changes made by commands here cannot be undone; an ignore file would help.",
    )


class WorkspaceWalk:
    """A walk through a workspace."""

    def __init__(self, git: ShadowGit, root: str, own_home: str, max_files: int) -> None:
        self._git = git
        self._root = os.fsencode(root)
        self._home = os.fsencode(own_home)
        self._max_files = max_files
        self._looks = 0
        self.left_out: list[bytes] = []

    def compare(self) -> GitListing:
        """Return git's comparison of the folder with the index."""
        # One command visits every file, the other every folder; each takes about half as long as `git status`.
        known, others = self._git.run_together(LIST_CHANGED, LIST_UNTRACKED)
        listed = read_listing(known + others)
        if b"." in listed.folders:  # git does not track anything yet in a folder inside a nested repository
            with os.scandir(self._root) as entries:
                folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            fresh = [
                path
                for path in self._git.run(*LIST_UNTRACKED_FILES).split(b"\0")
                if path[-1:] not in (b"", b"/")
            ]
            listed = GitListing(listed.changed, fresh, folders)
        return GitListing(
            listed.changed, listed.fresh, [folder for folder in listed.folders if self.may_contain(folder)]
        )

    def look(self, also: Iterable[bytes]) -> ScanResult:
        """Find everything that a snapshot must check. Files in `also` are included even if they are ignored."""
        listed = self.compare()
        fresh = dict.fromkeys(path for path in listed.fresh if self.may_contain(path))
        expanded = list(self._expand(listed.folders))
        fresh |= dict.fromkeys(expanded)
        fresh |= dict.fromkeys(path for path in also if self.takes(path))
        if len(fresh) > self._max_files:
            raise too_many_files(os.fsdecode(self._root), self._max_files)
        return ScanResult(listed.changed, list(fresh), listed.folders, was_expanded=bool(expanded))

    def may_contain(self, path: bytes) -> bool:
        """Return whether a path can be in a snapshot: inside the workspace, and not one of a repository's own files."""
        parts = path.lower().split(b"/")
        if any(part in (b"", b".", b"..", b".git") for part in parts):
            return False
        whole = self._root + b"/" + path
        return whole != self._home and not whole.startswith(self._home + b"/")

    def takes(self, path: bytes) -> bool:
        """Return whether a file can be in a snapshot and is reachable without following a link."""
        folder = os.path.dirname(self._root + b"/" + path)
        return self.may_contain(path) and os.path.realpath(folder) == folder

    def _expand(self, folders: Sequence[bytes]) -> Iterator[bytes]:
        """Yield the files in folders that git reported only as folders."""
        waiting, nested = list(folders), 0
        while waiting:
            plain = [folder for folder in waiting if not self._is_repository(folder)]
            inner = [folder for folder in waiting if self._is_repository(folder)]
            waiting = list[bytes]()
            nested += len(inner)
            if nested > MAX_NESTED_REPOSITORIES:
                self.left_out += inner
                inner = []
            for path in (*self._within(plain), *(path for folder in inner for path in self._inside(folder))):
                if path.endswith(b"/"):
                    waiting.extend([path[:-1]] if self.may_contain(path[:-1]) else ())
                elif self.may_contain(path):
                    yield path

    def _is_repository(self, folder: bytes) -> bool:
        return os.path.lexists(self._root + b"/" + folder + b"/.git")

    def _within(self, folders: Sequence[bytes]) -> Iterator[bytes]:
        named = [folder for folder in folders if not self._is_empty(folder)]
        if sum(map(len, named)) > MAX_ARGUMENT_BYTES:
            inside = tuple(folder + b"/" for folder in named)
            listed = self._git.run(*LIST_UNTRACKED_FILES).split(b"\0")
            yield from (path for path in listed if path.startswith(inside) and path not in inside)
        elif named:
            listed = self._git.run(*LIST_UNTRACKED_FILES, "--", *map(os.fsdecode, named)).split(b"\0")
            known = {folder + b"/" for folder in named}
            yield from (path for path in listed if path and path not in known)

    def _inside(self, folder: bytes) -> Iterator[bytes]:
        """List the files of a nested repository, using its own ignore files, which apply nowhere else."""
        whole = os.fsdecode(self._root + b"/" + folder)
        none = str(self._git.place / "index.none")
        for path in self._git.run(*LIST_UNTRACKED_FILES, index=none, work_tree=whole).split(b"\0"):
            if path:
                yield folder + b"/" + path

    def _is_empty(self, folder: bytes) -> bool:
        try:
            with os.scandir(self._root + b"/" + folder) as entries:
                return next(entries, None) is None
        except OSError:
            return True

    def empty_folders_in(self, folders: Sequence[bytes]) -> Iterator[bytes]:
        """Yield the empty folders among those git reported and below them."""
        found = 0
        for folder in folders:
            for empty in self._empty_below(folder):
                yield empty
                found += 1
                if found >= MAX_EMPTY_FOLDERS:
                    return

    def _empty_below(self, folder: bytes) -> Iterator[bytes]:
        inner: list[bytes] = []
        try:
            with os.scandir(self._root + b"/" + folder) as entries:
                is_empty = True
                for entry in entries:
                    is_empty = False
                    self._looks += 1
                    if self._looks > MAX_LOOKUPS:
                        return
                    if entry.name.lower() != b".git" and entry.is_dir(follow_symlinks=False):
                        inner.append(folder + b"/" + entry.name)
        except OSError:
            return
        if is_empty:
            yield folder
        for each in inner:
            yield from self._empty_below(each)
