"""Whether a git repository's own configuration could start programs while git only reads.

Knows: where git looks for a repository's configuration, which settings name programs. Does not know: git commands.
A clone brings no configuration; a repository unpacked from an archive, or one that was tampered with, does.
"""

import os
import re
from typing import Final

LONGEST_CONFIG_BYTES: Final = 65_536
STARTS_PROGRAMS: Final = re.compile(
    r"fsmonitor|hookspath|pager|textconv|external|showsignature|promisor|partialclone|ext::|\\$|"
    r"^\s*(?:command|clean|smudge|process|program)\s*=|^\s*\[\s*(?:include|includeif|filter|gpg)\b",
    re.IGNORECASE | re.MULTILINE,
)
LIVE_HOOKS: Final = ("post-index-change", "fsmonitor-watchman", "query-watchman", "reference-transaction")
HARMLESS_FSMONITOR: Final = re.compile(
    r"^\s*fsmonitor\s*=\s*(?:true|false)\s*$", re.IGNORECASE | re.MULTILINE
)
HARMLESS_FILTER: Final = re.compile(
    r"^\s*\[filter \"lfs\"\]\s*(?:\n\s*(?:clean = git-lfs clean -- %f|smudge = git-lfs smudge -- %f|"
    r"process = git-lfs filter-process|required = true)\s*)+$",
    re.MULTILINE,
)


def hazard_of(cwd: str) -> str:
    """Say what of the repository around a folder could start a program; empty where nothing does."""
    found = _repository_of(cwd)
    if found is None:
        return ""
    for folder in _with_modules(found):
        for name in ("config", "config.worktree"):
            path = os.path.join(folder, name)
            text = _read(path)
            if text is None:
                return f"{path} cannot be looked through"
            rest = HARMLESS_FILTER.sub("", HARMLESS_FSMONITOR.sub("", text))
            if named := STARTS_PROGRAMS.search(rest):
                return f"{path} may start programs ({named[0].strip() or 'a long line'})"
        for hook in LIVE_HOOKS:
            if os.path.lexists(os.path.join(folder, "hooks", hook)):
                return f"the hook {hook} of the repository would run"
    return ""


def _repository_of(cwd: str) -> str | None:
    """Give the folder with the repository's configuration, as git would find it."""
    folder = cwd
    while True:
        inner = os.path.join(folder, ".git")
        if os.path.isdir(inner):
            return inner
        if os.path.isfile(inner):
            return _pointed_to(inner)
        if all(os.path.exists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs")):
            return folder
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)


def _pointed_to(file: str) -> str:
    text = (_read(file) or "").strip()
    target = os.path.realpath(os.path.join(os.path.dirname(file), text.removeprefix("gitdir:").strip()))
    shared = _read(os.path.join(target, "commondir"))
    return os.path.realpath(os.path.join(target, shared.strip())) if shared else target


def _with_modules(folder: str) -> list[str]:
    """Give the repository's own folder and those of its submodules, which git looks into as well."""
    modules = os.path.join(folder, "modules")
    if not os.path.isdir(modules):
        return [folder]
    found = [folder]
    for at, _, files in os.walk(modules):
        if "config" in files:
            found.append(at)
    return found


def _read(path: str) -> str | None:
    """Give a small file's text; empty where there is none, None where it is too large or cannot be read."""
    try:
        with open(path, "rb") as file:
            content = file.read(LONGEST_CONFIG_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return None
    return None if len(content) > LONGEST_CONFIG_BYTES else content.decode("utf-8", "replace")
