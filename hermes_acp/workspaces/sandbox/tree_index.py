"""An index of notable entries in a session's folders: repositories, secrets, local sockets and guarded names.

Everything here blocks. A watched folder is listed again when the kernel reports a change; any other folder is listed
again when its modification time differs, or is so recent that a later change could have the same time.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.git.small_files import read_small_text
from hermes_acp.workspaces.sandbox.sandbox_policy import GuardedNames
from hermes_acp.workspaces.sandbox.tree_watcher import Changes, Watcher

MAX_FOLDERS: Final = 20_000
MAX_ENTRIES: Final = 300_000
MAX_NAMES: Final = 50_000
RECENT_NS: Final = 50_000_000
DEPENDENCIES: Final = frozenset(
    {"node_modules", ".venv", "venv", "site-packages", "__pycache__", ".tox", ".mypy_cache", "target"}
)
"""Large folders of third-party packages, scanned last."""
CERTIFICATES: Final = (".pem", ".key")
"""The extensions of files that hold either a certificate, which is public, or a private key."""
MAX_CERTIFICATE_BYTES: Final = 1 << 20
MAX_PLACE: Final = 4
"""The number of trailing path components that are used to classify a path."""
BARE_REPOSITORY_NAMES: Final = frozenset({"HEAD", "objects", "refs"})

ANY_NAME: Final = "x"
"""The name of a file that is secret only if its folder is."""

Kind = Literal["secret", "socket", "guarded"]


class TreeEntry(Struct, frozen=True):
    """The path of a notable entry, and why it is notable."""

    path: str
    kind: Kind


class WorkspaceTree(Struct, frozen=True):
    """The notable entries at one moment, nearest first; `repositories` are `.git` folders or bare repositories."""

    repositories: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    sockets: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()


class _Folder(Struct):
    """One listed folder with its path relative to a root; one that `is_plain` contains no guarded name."""

    path: str
    relative: str
    is_plain: bool
    is_guarded: bool
    changed_ns: int = 0
    looked_ns: int = 0
    inner: tuple[str, ...] = ()
    repository: str = ""
    entries: int = 0
    notes: tuple[TreeEntry, ...] = ()


class _Package(Struct, frozen=True):
    """A package folder and its file names, each followed by a NUL and including the path needed for matching."""

    folder: _Folder
    names: str


class TreeIndex:
    """The indexed folders beneath some roots. Thread-safe."""

    def __init__(
        self,
        roots: Sequence[str],
        guarded: GuardedNames,
        *,
        max_folders: int = MAX_FOLDERS,
        new_watcher: Callable[[], Watcher] = Watcher,
    ) -> None:
        """Initialise without scanning; folders beyond the first `max_folders` are never scanned."""
        self._max_folders = max_folders
        self._new_watcher = new_watcher
        self._roots = tuple(roots)
        self._guarded = guarded
        self._lock = Lock()
        self._watcher: Watcher | None = None
        self._folders: dict[str, _Folder] = {}
        self._entries = 0
        self._kinds: dict[str, tuple[bool, bool]] = {}
        self._unjudged: list[_Package] = []
        self._tree = WorkspaceTree()

    def look(self) -> WorkspaceTree:
        """Bring the index up to date and return it."""
        with self._lock:
            changes = self._watcher.changes() if self._watcher else Changes(is_lost=True)
            if self._watcher is None or changes.is_lost:
                self._restart()
                return self._tree
            for path in changes.inner:
                self._forget(path)
            stale = {path for path in changes.folders if path in self._folders}
            stale.update(self._changed_unwatched())
            missing = [root for root in self._roots if root not in self._folders]
            if stale or missing or changes.inner:
                self._look((*missing, *sorted(stale)))
                self._gather()
            return self._tree

    def _restart(self) -> None:
        if self._watcher is not None:
            self._watcher.close()
        self._watcher = self._new_watcher()
        self._folders.clear()
        self._entries = 0
        self._look(self._roots)
        self._gather()

    def tree(self) -> WorkspaceTree:
        """Return the result of the last scan."""
        with self._lock:
            return self._tree

    def close(self) -> None:
        """Stop watching all folders."""
        with self._lock:
            if self._watcher is not None:
                self._watcher.close()
            self._watcher = None
            self._folders.clear()
            self._entries = 0

    def _look(self, paths: Sequence[str]) -> None:
        """List changed and unknown folders, nearest first."""
        near = deque(
            self._folders.get(path) or _Folder(path, "", is_plain=False, is_guarded=False) for path in paths
        )
        later = deque[_Folder]()
        while near or later:
            folder = near.popleft() if near else later.popleft()
            before = self._folders.pop(folder.path, None)
            self._entries -= before.entries if before else 0
            if len(self._folders) >= self._max_folders or self._entries >= MAX_ENTRIES:
                continue
            inner = set(before.inner) if before else set[str]()
            if not self._list(folder):
                self._forget_all(f"{folder.path}/{name}" for name in inner)
                self._drop(folder.path)
                continue
            self._folders[folder.path] = folder
            self._entries += folder.entries
            self._forget_all(f"{folder.path}/{name}" for name in inner.difference(folder.inner))
            for name in folder.inner:
                path = f"{folder.path}/{name}"
                if path not in self._folders:
                    is_plain = folder.is_plain or name in DEPENDENCIES
                    relative = f"{folder.relative}/{name}"
                    made = _Folder(path, relative, is_plain, folder.is_guarded or self._is(name)[0])
                    (later if is_plain else near).append(made)
        unjudged, self._unjudged = self._unjudged, []
        self._judge_packages(unjudged)

    def _list(self, folder: _Folder) -> bool:
        """List one folder; return whether it exists. It is watched first, so that no change is missed."""
        if self._watcher is not None and not self._watcher.is_watched(folder.path):
            self._watcher.watch(folder.path)
        inner: list[str] = []
        notes: list[TreeEntry] = []
        names: set[str] = set()
        files: list[str] = []
        place = _dotted_end(folder.relative)
        try:
            folder.looked_ns = time.time_ns()
            folder.changed_ns = os.lstat(folder.path).st_ctime_ns
            with os.scandir(folder.path) as found:
                for entry in found:
                    names.add(entry.name)
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if is_folder and entry.name != ".git":
                        inner.append(entry.name)
                    elif not is_folder and not entry.is_file(follow_symlinks=False) and _is_socket(entry):
                        notes.append(TreeEntry(entry.path, "socket"))
                    if folder.is_plain:
                        if is_folder and self._guarded.hides(entry.name):
                            notes.append(TreeEntry(entry.path, "secret"))
                        elif entry.is_file(follow_symlinks=False):
                            files.append(entry.name)
                    elif entry.name != ".git":
                        notes += self._judge(folder, place, entry)
        except OSError:
            return False
        # Git treats a folder with a HEAD and a commondir as a repository, wherever its objects are.
        is_bare = names >= BARE_REPOSITORY_NAMES or {"HEAD", "commondir"} <= names
        folder.repository = f"{folder.path}/.git" if ".git" in names else folder.path if is_bare else ""
        folder.entries = len(names)
        folder.inner = tuple(sorted(inner))
        if files:
            beneath = f"{place}/" if place else ""
            self._unjudged.append(_Package(folder, "".join(f"{beneath}{name}\0" for name in files)))
        folder.notes = tuple(sorted(notes, key=lambda each: each.path))
        return True

    def _judge(self, folder: _Folder, place: str, entry: "os.DirEntry[str]") -> Iterator[TreeEntry]:
        is_protected, is_secret = self._is(entry.name)
        if place and not (is_protected and is_secret):
            is_protected = is_protected or self._guarded.protects(f"{place}/{entry.name}")
            is_secret = is_secret or self._guarded.is_secret(f"{place}/{entry.name}")
        if is_secret and entry.is_dir(follow_symlinks=False):  # `.env` may be a virtual environment
            is_secret = self._guarded.is_secret(f"{place}/{entry.name}/{ANY_NAME}".lstrip("/"))
        if is_secret and not entry.is_symlink():
            yield TreeEntry(entry.path, "secret")
        if is_protected and not folder.is_guarded:
            yield TreeEntry(entry.path, "guarded")

    def _judge_packages(self, packages: Sequence[_Package]) -> None:
        """Check the names collected from all packages at once, because hardly any are notable."""
        names = "".join(each.names for each in packages)
        if not names or (names.isascii() and not self._guarded.may_be_secret(names.encode())):
            return
        if len(packages) > 1:
            half = len(packages) // 2
            self._judge_packages(packages[:half])
            self._judge_packages(packages[half:])
            return
        folder = packages[0].folder
        for path in names.rstrip("\0").split("\0"):
            name = path.rpartition("/")[2]
            found = f"{folder.path}/{name}"
            if not self._guarded.is_secret(path):
                continue
            if not name.casefold().endswith(CERTIFICATES) or _holds_private_key(found):
                folder.notes += (TreeEntry(found, "secret"),)

    def _is(self, name: str) -> tuple[bool, bool]:
        """Return whether a name is guarded, and whether it names a secret."""
        kinds = self._kinds.get(name)
        if kinds is None:
            if len(self._kinds) > MAX_NAMES:
                self._kinds.clear()
            kinds = self._kinds[name] = (self._guarded.holds(name), self._guarded.is_secret(name))
        return kinds

    def _changed_unwatched(self) -> Iterator[str]:
        for path, folder in self._folders.items():
            if self._watcher is None or self._watcher.is_watched(path):
                continue
            try:
                changed_ns = os.lstat(path).st_ctime_ns
            except OSError:
                yield path
                continue
            if changed_ns != folder.changed_ns or folder.looked_ns - changed_ns < RECENT_NS:
                yield path

    def _forget_all(self, paths: Iterator[str]) -> None:
        for path in paths:
            self._forget(path)

    def _forget(self, path: str) -> None:
        """Drop a folder and everything in it from the index."""
        waiting = [path]
        while waiting:
            at = waiting.pop()
            folder = self._folders.pop(at, None)
            self._drop(at)
            if folder is not None:
                self._entries -= folder.entries
                waiting += (f"{at}/{name}" for name in folder.inner)

    def _drop(self, path: str) -> None:
        if self._watcher is not None:
            self._watcher.forget(path)

    def _gather(self) -> None:
        """Sort the found entries: shallow folders before deep ones, third-party ones last."""
        folders = sorted(
            self._folders.values(), key=lambda each: (each.is_plain, each.path.count("/"), each.path)
        )
        notes = [note for each in folders if each.notes for note in each.notes]
        self._tree = WorkspaceTree(
            tuple(each.repository for each in folders if each.repository),
            tuple(each.path for each in notes if each.kind == "secret"),
            tuple(each.path for each in notes if each.kind == "socket"),
            tuple(each.path for each in notes if each.kind == "guarded"),
        )


def _dotted_end(relative: str) -> str:
    """Return the last components of a folder's path, as used in places, if one of them starts with a dot."""
    end = "/".join(relative.split("/")[1 - MAX_PLACE :]).lstrip("/")
    return end if "/." in f"/{end}" else ""


def _holds_private_key(path: str) -> bool:
    """Return whether a file holds a private key or cannot be read."""
    text = read_small_text(path, MAX_CERTIFICATE_BYTES)
    return text is None or "PRIVATE KEY" in text


def _is_socket(entry: "os.DirEntry[str]") -> bool:
    try:
        return stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return False
