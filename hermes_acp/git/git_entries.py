"""Find entries in a git directory that a command must not create without approval: everything other than plain data.

Checks block. Sources: gitrepository-layout(5), and git's path.c and builtins for the names of its state files.
`hermes-acp-merge` is the lock for merges (`runs/worktrees/worktree_records.py`), which git never reads.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from hermes_acp.lazy_pattern import LazyPattern

MAX_NESTED: Final = 500
MAX_LOGS: Final = 5_000
DATA_ENTRIES: Final = LazyPattern(
    r"objects|refs|logs|lfs|reftable|info|modules|worktrees"
    r"|(?:index|sharedindex\.\w+|HEAD|[A-Z]+_HEAD|packed-refs|shallow|description"
    r"|AUTO_MERGE|MERGE_(?:MSG|MODE|RR|AUTOSTASH)|[A-Z]+_EDITMSG|SQUASH_MSG|EDIT_DESCRIPTION|ADD_EDIT\.patch"
    r"|BISECT_[A-Z_]+|NOTES_MERGE_[A-Z]+|gc\.(?:pid|log))(?:\.lock)?"
    r"|hermes-acp-merge|packed-refs\.new|index\.[\w.]+|next-index-\w+(?:\.lock)?|shallow_\w+|addp-hunk-edit\.diff"
)
INFO_ENTRIES: Final = LazyPattern(r"refs(?:_\w+)?|(?:exclude|sparse-checkout|grafts|shallow)(?:\.lock)?")
OBJECTS_ENTRIES: Final = LazyPattern(r"packs(?:_\w+)?|commit-graphs?(?:\.lock)?|tmp_\w+")
STALE_NAMES: Final = LazyPattern(r"shallow|(?:HEAD|[A-Z]+_HEAD|packed-refs|shallow)\.lock")
"""Git's short-lived files that, left behind, would block git or cut off its history; `index.lock` is excluded because
it may be held for a long time while someone writes a commit message.
"""
POINTERS: Final = frozenset({"commondir", "gitdir", "locked"})


def entries(folder: str) -> list[tuple[str, bool]]:
    """Return the names in a folder, each with whether it is a link; empty if the folder cannot be listed."""
    with suppress(OSError), os.scandir(folder) as found:
        return [(entry.name, entry.is_symlink()) for entry in found]
    return []


def directories(repository: str) -> Iterator[str]:
    """Yield a git directory and the git directories of its submodules and linked work trees."""
    yield repository
    yield from modules(repository)
    for name, is_link in entries(f"{repository}/worktrees")[:MAX_NESTED]:
        if not is_link:
            yield f"{repository}/worktrees/{name}"


def modules(repository: str) -> Iterator[str]:
    """Yield the git directories of submodules, whose names may contain slashes, and of nested submodules."""
    waiting = [f"{repository}/modules"]
    for _ in range(MAX_NESTED):
        if not waiting:
            return
        folder = waiting.pop()
        names = entries(folder)
        if {"HEAD", "config"} & {name for name, _ in names}:
            yield folder
            waiting.append(f"{folder}/modules")
        else:
            waiting += (f"{folder}/{name}" for name, is_link in names if not is_link)


def unexpected_entries(directory: str) -> list[str]:
    """Return the paths in a git directory that are not plain data: settings, hooks, instructions, pointers, links."""
    found: list[str] = []
    for name, is_link in entries(directory):
        path = f"{directory}/{name}"
        if is_link or not DATA_ENTRIES.compiled.fullmatch(name):
            found.append(path)
        elif name == "info":
            found += (
                f"{path}/{each}"
                for each, is_bad in entries(path)
                if is_bad or not INFO_ENTRIES.compiled.fullmatch(each)
            )
        elif name == "objects":
            found += _unexpected_objects(f"{path}/info")
    return found + _links(f"{directory}/logs")


def _unexpected_objects(info: str) -> list[str]:
    """Return the entries that make git look for objects elsewhere."""
    if os.path.islink(info):
        return [info]
    return [
        f"{info}/{name}"
        for name, is_bad in entries(info)
        if is_bad or not OBJECTS_ENTRIES.compiled.fullmatch(name)
    ]


def stale_entries(directory: str) -> list[str]:
    """Return the paths in a git directory that serve no purpose once no command is running."""
    return [
        f"{directory}/{name}"
        for name, is_link in entries(directory)
        if not is_link and STALE_NAMES.compiled.fullmatch(name)
    ]


def _links(logs: str) -> list[str]:
    """Return the links among the log files: git appends branch names to their targets."""
    found: list[str] = []
    seen = 0
    for at, folders, names in _walk(logs):
        seen += len(names)
        found += (path for name in (*folders, *names) if os.path.islink(path := f"{at}/{name}"))
        if seen > MAX_LOGS:
            break
    return found


def _walk(folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
    if os.path.isdir(folder):
        yield from os.walk(folder)
