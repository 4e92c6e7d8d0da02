"""Find context files, from the user's own folder through additional folders to the working directory.

Blocks on disk access.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path, PurePath

from msgspec import Struct

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.git.work_tree import find_root

MAX_MATCHES = 100
USUAL_HOME = ".hermes"
"""The usual name of a home folder, which is then inside the user's home directory."""


class ContextFileKind(Struct, frozen=True):
    """A kind of context file: its name, and its paths within a folder, the preferred one first.

    Of `candidates`, only the first existing path is used; of `patterns`, everything that matches. `users` is where, in
    the user's home directory, the agent for which this kind is written keeps the user's own file.
    """

    name: str
    candidates: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    users: str = ""


class SearchScope(Struct, frozen=True):
    """The folders from which to collect context: a working directory, additional folders, and the user's own folder.

    Files that rules deny (`shut`) are excluded.
    """

    cwd: str
    more_roots: tuple[str, ...] = ()
    home: str = ""
    shut: tuple[DeniedPath, ...] = ()


class ContextCandidate(Struct, frozen=True):
    """A file that may be used: `root` is the folder that its links must not leave, and `label` is its display name."""

    path: Path
    root: Path
    label: str


@cache
def load_kinds() -> tuple[ContextFileKind, ...]:
    """Return all kinds, ordered by file name."""
    plugin_folder: PluginFolder[ContextFileKind] = PluginFolder("hermes_acp.context.kinds", "KIND")
    return tuple(plugin_folder.open(name) for name in plugin_folder)


def is_context_file(path: str) -> bool:
    """Return whether a file counts as a context file by its name."""
    where = PurePath(path)
    names = (name for kind in load_kinds() for name in (*kind.candidates, *kind.patterns))
    return any(where.match(name) for name in names)


def main_root(place: SearchScope) -> Path:
    """Return the root of the working directory's repository, with links resolved."""
    return find_root(Path(os.path.realpath(place.cwd)))


def candidates(place: SearchScope) -> Iterator[ContextCandidate]:
    """Yield the files to check, the farthest first: the user's own, those of additional folders, those on the path.

    Of the user's own files, those written for other agents come before those for this one.
    """
    seen: set[Path] = set()
    for candidate in _users(place):
        seen.add(candidate.path)
        yield candidate
    for folder, root, is_main in _folders(place):
        for path in files_in(folder):
            if path not in seen:
                seen.add(path)
                yield ContextCandidate(
                    path, root, path.relative_to(root).as_posix() if is_main else str(path)
                )


def candidates_in(place: SearchScope, folders: Sequence[Path]) -> Iterator[ContextCandidate]:
    """Yield the files to check in the given folders, skipping missing ones and those outside the roots."""
    main = main_root(place)
    roots = [main, *(root for _, root in _ends(place))]
    for folder in folders:
        for root in [each for each in roots if folder.is_relative_to(each)][:1]:
            for path in files_in(folder):
                yield ContextCandidate(
                    path, root, path.relative_to(root).as_posix() if root == main else str(path)
                )


def folders_below(place: SearchScope, folders: Iterable[str]) -> list[Path]:
    """Return the folders on the paths to the given ones, within the roots and not above the working directory."""
    ends = tuple(_ends(place))
    above = {each for end, _ in ends for each in (end, *end.parents)}
    roots = {root for _, root in ends}
    ways = {each for folder in folders for each in (Path(folder), *Path(folder).parents)} - above
    return sorted(each for each in ways if any(each.is_relative_to(root) for root in roots))


def _ends(place: SearchScope) -> Iterator[tuple[Path, Path]]:
    """Yield the working directory and the additional folders, each with its root; links are resolved."""
    for each in (place.cwd, *place.more_roots):
        folder = Path(os.path.realpath(each))
        yield folder, find_root(folder)


def _users(place: SearchScope) -> Iterator[ContextCandidate]:
    """Yield the user's files that apply to all projects, from the locations that other agents use.

    Their links may lead anywhere in the home directory.
    """
    home = Path(place.home)
    if home.name != USUAL_HOME:
        return
    user_home = Path(os.path.realpath(home.parent))
    for kind in load_kinds():
        path = user_home / kind.users
        if kind.users and os.path.lexists(path):
            yield ContextCandidate(path, user_home, str(path))


def _folders(place: SearchScope) -> Iterator[tuple[Path, Path, bool]]:
    cwd = Path(os.path.realpath(place.cwd))
    root = find_root(cwd)
    if place.home:
        home = Path(os.path.realpath(place.home))
        yield home, home, False
    for further in place.more_roots:
        folder = Path(os.path.realpath(further))
        own_root = find_root(folder)
        if own_root != root:
            yield from ((each, own_root, False) for each in _way_down(folder, own_root))
    yield from ((each, root, True) for each in _way_down(cwd, root))
    for further in place.more_roots:
        folder = Path(os.path.realpath(further))
        if find_root(folder) == root and folder != cwd:
            yield from ((each, root, True) for each in _way_down(folder, root))


def _way_down(folder: Path, root: Path) -> Sequence[Path]:
    return [each for each in reversed((folder, *folder.parents)) if each.is_relative_to(root)]


def files_in(folder: Path) -> Iterator[Path]:
    """Yield the context files of every kind directly in a folder."""
    try:
        present = frozenset(os.listdir(folder))
    except OSError:
        return
    for kind in load_kinds():
        found = next((name for name in kind.candidates if _is_there(folder, name, present)), None)
        if found is not None:
            yield folder / found
        for pattern in kind.patterns:
            if pattern.split("/")[0] in present:
                yield from sorted(folder.glob(pattern))[:MAX_MATCHES]


def _is_there(folder: Path, name: str, present: frozenset[str]) -> bool:
    first, _, rest = name.partition("/")
    return first in present and (not rest or os.path.lexists(folder / name))
