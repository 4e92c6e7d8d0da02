"""Resolve a command's words to paths, and expand its patterns."""

import glob
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import islice
from typing import Final

from msgspec import Struct

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.policy.shell.parsing.shell_words import Word

MAX_MATCHES: Final = 500
MAX_LINKS: Final = 20
PROC_SELF: Final = re.compile(r"/[/.]*(?:proc/[/.]*(?:self|thread-self|\d+)|dev/[/.]*fd)(?:/|$)")
HARMLESS_DEVICES: Final = frozenset(
    {
        "/dev/null",
        "/dev/stdout",
        "/dev/stderr",
        "/dev/stdin",
        "/dev/fd/0",
        "/dev/fd/1",
        "/dev/fd/2",
    }
)
PUBLIC_FILES: Final = frozenset(
    {
        "/etc/os-release",
        "/etc/hosts",
        "/etc/hostname",
        "/etc/debian_version",
        "/etc/timezone",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/version",
    }
)


PUBLIC_FOLDERS: Final = tuple(
    f"{prefix}/{name}" for prefix in ("/usr", "/usr/local") for name in ("bin", "include", "lib", "share")
)


LISTED_FOLDERS: Final = frozenset(
    {"/tmp", "/var/tmp", "/var", "/var/log", "/opt", "/home", "/mnt", "/srv", "/usr"}
)


class ShellEnvironment(Struct, frozen=True):
    """The environment of a command: the session's folders, the user's home, and the program search path, in order.

    `shut` lists the paths that rules deny or ask about.
    """

    roots: tuple[str, ...]
    home: str
    search_path: tuple[str, ...] = ()
    shut: tuple[DeniedPath, ...] = ()


def is_within(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def is_inside(path: str, environment: ShellEnvironment) -> bool:
    """Return whether a resolved path is in the session's folders."""
    return any(is_within(path, root) for root in environment.roots)


def resolve(text: str, cwd: str) -> str:
    """Return the absolute path that a word names, with links resolved."""
    try:
        return os.path.realpath(os.path.join(cwd, text))
    except (OSError, ValueError):
        return os.path.normpath(os.path.join(cwd, text))


def paths_of(word: Word, cwds: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return every path that a word may name, or None if that is unknown."""
    if word.text is None:
        return None
    if word.text in HARMLESS_DEVICES or word.text in PUBLIC_FILES:
        return (word.text,)
    found: list[str] = []
    for cwd in cwds:
        matches = _matches(word.text, cwd) if word.globs else []
        if matches is None:
            return None
        for text in (word.text, *matches):
            path = resolve(text, cwd)
            found += (path, *_own_view(text, cwd, path))
    return tuple(dict.fromkeys(found))


def _own_view(text: str, cwd: str, path: str) -> tuple[str, ...]:
    """Return the real target of a word that goes through the kernel's per-process view (/proc/self)."""
    way = os.path.join(cwd, text)
    for _ in range(MAX_LINKS):
        if PROC_SELF.match(way):
            return (os.path.normpath(way) if "/.." not in way else "/proc/self",)
        if way == path or os.path.normpath(way) == path:
            return ()
        at = next((end for end in _ends(way) if os.path.islink(way[:end])), 0)
        if not at:
            return ()
        try:
            target = os.readlink(way[:at])
        except OSError:
            return ()
        way = os.path.join(os.path.dirname(way[:at]), target) + way[at:]
    return ()


def _ends(path: str) -> Iterator[int]:
    """Yield the end index of each component of a path, starting with the first."""
    return (at for at in range(1, len(path) + 1) if at == len(path) or path[at] == "/")


def _matches(pattern: str, cwd: str) -> list[str] | None:
    """Return all names that a pattern may match, or None if there are too many or one of them looks like a flag."""
    pattern = broadened(pattern)
    before, slash, last = pattern.rpartition("/")
    if any(map(_fits_above, before.split("/"))):
        return None
    found = list(islice(glob.iglob(pattern, root_dir=cwd), MAX_MATCHES + 1))
    if _fits_above(last):
        found += (f"{before}{slash}{name}" for name in (".", ".."))
    if len(found) > MAX_MATCHES or any(match.startswith("-") for match in found):
        return None
    return found


def broadened(pattern: str) -> str:
    """Return a pattern that matches at least as much but contains only stars: `?` and `[…]` depend on the locale."""
    return re.sub(r"[?\[][^/]*", "*", pattern)


def _fits_above(pattern: str) -> bool:
    """Return whether a shell may expand a pattern such as `.*` to the parent folder; only some shells do."""
    return pattern.startswith(".") and pattern != ".." and fnmatchcase("..", pattern)


def workspace_program(program: str, cwds: tuple[str, ...], environment: ShellEnvironment) -> str:
    """Return the program's file if it would come from the session's folders, else an empty string."""
    for folder in environment.search_path:
        is_relative = not folder.startswith("/")
        for cwd in cwds if is_relative else cwds[:1]:
            path = os.path.join(cwd, folder, program)
            if is_relative or is_inside(resolve(path, cwd), environment) or is_inside(folder, environment):
                if os.path.isfile(path):
                    return path
            elif os.access(path, os.X_OK) and os.path.isfile(path):
                return ""
    return ""


def find_program_file(name: str, cwd: str, environment: ShellEnvironment) -> str:
    """Return the file that a plain name would start, with links unresolved, or an empty string if there is none."""
    for folder in environment.search_path:
        path = os.path.join(cwd, folder, name)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return ""
