"""Plan the parts of the session's folders that an unapproved command's container shows, as in the local sandbox.

Everything here blocks and is repeated for each command, because files come and go.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct, structs

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.git.git_entries import directories, unexpected_entries
from hermes_acp.git.tracked_files import TrackedFiles
from hermes_acp.workspaces.containers.engine_options import SETTINGS_ENTRIES, Mounts, is_mountable
from hermes_acp.workspaces.path_confinement import is_within
from hermes_acp.workspaces.sandbox.git_settings import masked_git_settings
from hermes_acp.workspaces.sandbox.path_scan import PathScan, find_denied, missing_denied
from hermes_acp.workspaces.sandbox.sandbox_mounts import MAX_KEPT_BELOW, is_real
from hermes_acp.workspaces.sandbox.tree_index import WorkspaceTree

UNREADABLE: Final = 0
READABLE: Final = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
LISTABLE: Final = READABLE | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


class ContainerMode(Struct, frozen=True):
    """How a command is confined: with read-only folders, or with writable git directories."""

    is_read_only: bool = False
    opens_git: bool = False


class ConfinedMounts:
    """Plans mounts, based on those for approved commands; `folder` returns a private folder for replacement content."""

    def __init__(self, usual: Mounts, folder: Callable[[], str]) -> None:
        self._usual = usual
        self._folder = folder
        self._tracked = TrackedFiles()

    def plan(self, tree: WorkspaceTree, denied_paths: Sequence[DeniedPath], mode: ContainerMode) -> Mounts:
        """Return the mounts. Raises WorkspaceError if rules deny something that no mount can hide."""
        roots = self._usual.roots
        sight = find_denied(roots, denied_paths)
        if not mode.is_read_only and missing_denied(roots, denied_paths):
            raise WorkspaceError(
                "Not run: policy rules deny files that do not exist yet, and a container cannot keep a command "
                "from creating them.",
                hint="Set `unsandboxed: true` to ask the user.",
            )
        secrets = [path for path in self._tracked.unknown(tree.secrets, tree.repositories) if is_real(path)]
        hidden = (*secrets, *tree.sockets, *sight.hidden)
        replaced = self._without_nested(
            self._empty(_mountable(PathScan(hidden).hiding_unvisited().hidden, roots))
        )
        for each in masked_git_settings(tree.repositories, {}):
            if any(is_within(each.path, root) for root in roots) and not _covers(replaced, each.path):
                shown = self._nothing() if each.content is None else self._copy(each.content)
                replaced.append((each.path, shown))
        if mode.is_read_only:
            return structs.replace(self._usual, fixed=(), replaced=tuple(replaced), is_read_only=True)
        kept = (*self._usual.fixed, *_guarded(tree), *_of_repositories(tree, mode), *sight.kept)
        fixed = [path for path in _existing(kept) if not _covers(replaced, path)]
        apart = (*(path for path, _ in replaced), *fixed)
        pinned = dict.fromkeys(above for path in apart for above in _folders_above(path, roots))
        taken = {*fixed, *(path for path, _ in replaced)}
        return structs.replace(
            self._usual,
            fixed=tuple(fixed),
            pinned=tuple(
                path
                for path in (*pinned, *sight.pinned)
                if path not in taken
                and is_mountable(path)
                and not _covers(replaced, path)
                and not any(is_within(path, each) for each in fixed)
            ),
            replaced=tuple(replaced),
        )

    def _empty(self, paths: Iterable[str]) -> list[tuple[str, str]]:
        return [
            (path, self._nothing(is_folder=os.path.isdir(path)))
            for path in paths
            if os.path.realpath(path) == path
        ]

    @staticmethod
    def _without_nested(replaced: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [
            each
            for each in replaced
            if not any(is_within(each[0], path) and each[0] != path for path, _ in replaced)
        ]

    def _nothing(self, *, is_folder: bool = False) -> str:
        """Return a path that cannot be read: an empty folder, or a file."""
        path = f"{self._folder()}/{'empty' if is_folder else 'nothing'}"
        if is_folder:
            with suppress(FileExistsError):
                os.mkdir(path, LISTABLE)
        else:
            _write(path, b"", UNREADABLE)
        return path

    def _copy(self, content: bytes) -> str:
        """Return the path of a file with this content."""
        path = f"{self._folder()}/{hashlib.sha256(content).hexdigest()}"
        _write(path, content, READABLE)
        return path


def _write(path: str, content: bytes, mode: int) -> None:
    with suppress(FileExistsError):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(file, "wb") as opened:
            opened.write(content)
            os.fchmod(file, mode)


def _guarded(tree: WorkspaceTree) -> Sequence[str]:
    return tree.guarded[:MAX_KEPT_BELOW]


def _of_repositories(tree: WorkspaceTree, mode: ContainerMode) -> list[str]:
    """Return the read-only parts of the git directories: all parts, or only those that could start programs later."""
    if not mode.opens_git:
        return list(tree.repositories)
    found: list[str] = []
    for repository in tree.repositories:
        for place in directories(repository):
            found += (f"{place}/{name}" for name in SETTINGS_ENTRIES)
            found += unexpected_entries(place)
    return found


def _existing(paths: Iterable[str]) -> list[str]:
    """Return each path once if it exists and no link leads to it, because a mount would follow the link."""
    return [
        path
        for path in dict.fromkeys(paths)
        if is_mountable(path) and os.path.realpath(path) == path and os.path.exists(path)
    ]


def _mountable(paths: Iterable[str], roots: Sequence[str]) -> list[str]:
    """Return the paths that can be mounted over; instead of any other path, hide the folder around it."""
    found: list[str] = []
    for each in paths:
        path: str = each
        while not is_mountable(path) and path not in roots:
            path = os.path.dirname(path)
        found.append(path)
    return list(dict.fromkeys(found))


def _covers(replaced: Sequence[tuple[str, str]], path: str) -> bool:
    return any(is_within(path, each) for each, _ in replaced)


def _folders_above(path: str, roots: Sequence[str]) -> list[str]:
    """Return the folders between a root (excluded) and a path in it, because moving one would move the path."""
    above: list[str] = []
    while any(is_within(path := os.path.dirname(path), root) and path != root for root in roots):
        above.append(path)
    return above
