"""Whether a git repository's own configuration could start programs while git only reads.

Knows: where git looks for a repository's configuration, which settings name programs. Does not know: git commands.
A clone brings no configuration; a repository unpacked from an archive, or one that was tampered with, does.
"""

import os
import re
from typing import Final

from hermes_acp.policy.shell.contents import read_small
from hermes_acp.policy.shell.indexes import LINK_MODE, git_folder_of, read_index

LONGEST_CONFIG_BYTES: Final = 65_536
MOST_FOLDERS: Final = 2_000
MOST_REPOSITORIES: Final = 200
LINK_MARK: Final = LINK_MODE.to_bytes(4, "big")
# A section may follow another one on its line, and a setting its section.
STARTS_PROGRAMS: Final = re.compile(
    r"fsmonitor|hookspath|pager|textconv|external|showsignature|promisor|partialclone|alternaterefs|diffmerges|ext::|"
    r"\\\s*$|"
    r"(?:^|[\s\]])(?:command|clean|smudge|process|program|whatchanged)\s*=|\[\s*(?:include|includeif|filter|gpg)\b",
    re.IGNORECASE | re.MULTILINE,
)
# Settings that name a file or folder of which git would show lines.
NAMES_PLACE: Final = re.compile(
    r"(?:^|[\s\]])(worktree|excludesfile|attributesfile|ignorerevsfile|skiplist|file)\s*=[ \t]*(.*)",
    re.IGNORECASE | re.MULTILINE,
)
SHOWN_WHERE_WRONG: Final = (
    "HEAD", "config", "config.worktree", "packed-refs", "shallow", "index", "logs/HEAD", "objects/info/alternates",
    "info/attributes", "info/exclude", "info/sparse-checkout",
)  # fmt: skip
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
    """Say what of the repository around a folder could start a program; empty where nothing does.

    Git looks into the repositories that it tracks as well, each of which has its own configuration.
    """
    waiting, seen = [cwd], set[str]()
    while waiting:
        folder = waiting.pop()
        if len(seen) > MOST_REPOSITORIES:
            return f"{cwd} holds too many repositories to look through"
        if hazard := _own_hazard(folder):
            return hazard
        index = read_index(folder)
        if index is None:
            return f"what the repository of {folder} tracks cannot be looked through"
        links = index.entries() if any(LINK_MARK in content for content in index.contents) else ()
        inner = {entry.path for entry in links if entry.is_repository and _has_repository(entry.path)}
        waiting += inner - seen
        seen |= inner
    return ""


def _has_repository(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, ".git"))


def _own_hazard(cwd: str) -> str:
    found = _repository_of(cwd)
    if found is None:
        return ""
    if stray := _stray_pointer(cwd):
        return f"{stray} leads git to another place"
    folders = _with_modules(found)
    if folders is None:
        return f"{found} holds too many submodules to look through"
    own = git_folder_of(cwd)
    for folder in dict.fromkeys((*folders, *(own[1:] if own else ()))):
        if stray := _stray_part(folder):
            return f"{stray} is a file elsewhere, of which git would show lines"
        if borrowed := _borrowed_from(folder):
            return f"{borrowed} lends git its objects"
        for name in ("config", "config.worktree"):
            path = os.path.join(folder, name)
            text = _read(path)
            if text is None:
                return f"{path} cannot be looked through"
            if any(_leads_out(name, value.strip(), folder) for name, value in NAMES_PLACE.findall(text)):
                return f"{path} leads git to files elsewhere"
            rest = HARMLESS_FILTER.sub("", HARMLESS_FSMONITOR.sub("", text))
            if named := STARTS_PROGRAMS.search(rest):
                return f"{path} may start programs ({named[0].strip() or 'a long line'})"
        if folder in folders and _leads_elsewhere(common := os.path.join(folder, "commondir")):
            return f"{common} leads git to another place"
        for hook in LIVE_HOOKS:
            if os.path.lexists(os.path.join(folder, "hooks", hook)):
                return f"the hook {hook} of the repository would run"
    return ""


def _leads_elsewhere(common: str) -> bool:
    """Tell whether a file that names a repository's place names another than here, as the sandbox has it do."""
    return os.path.lexists(common) and (os.path.islink(common) or _read(common) != ".\n")


def _stray_part(folder: str) -> str:
    """Give the part of a repository, of those that git reads line by line, that a link takes from elsewhere."""
    top = os.path.realpath(folder)
    for name in SHOWN_WHERE_WRONG:
        path = os.path.join(folder, name)
        if not os.path.realpath(path).startswith(top + "/"):
            return path
    return ""


def _leads_out(name: str, value: str, folder: str) -> bool:
    """Tell whether a setting names a place outside of the repository, or one that is not plain to see."""
    top = _top_of(folder)
    bases = (folder,) if name.casefold() == "worktree" else (folder, top)
    is_plain = not set(value) & set('"#;\\') and not value.startswith(("~", "%"))
    return not is_plain or any(_is_elsewhere(os.path.join(base, value), top) for base in bases)


def _borrowed_from(folder: str) -> str:
    """Give the other repository whose objects are taken for this one's; empty where there is none."""
    objects = os.path.join(folder, "objects")
    text = _read(os.path.join(objects, "info", "alternates"))
    lines = text.splitlines() if text is not None else ["/"]
    places = (os.path.join(objects, line) for line in lines if line and not line.startswith("#"))
    return next((place for place in places if '"' in place or _is_elsewhere(place, _top_of(folder))), "")


def _top_of(folder: str) -> str:
    return folder.partition("/.git/")[0].removesuffix("/.git")


def _is_elsewhere(place: str, top: str) -> bool:
    path = os.path.realpath(place)
    return path != top and not path.startswith(top + "/")


def _stray_pointer(cwd: str) -> str:
    """Give the `.git` file that a folder's git goes by, unless the place it names knows of it."""
    folder = cwd
    while not os.path.lexists(os.path.join(folder, ".git")):
        if folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)
    inner = os.path.join(folder, ".git")
    if os.path.islink(inner):
        return inner
    if not os.path.isfile(inner):
        return ""
    text = (_read(inner) or "").strip().removeprefix("gitdir:").strip()
    target = os.path.realpath(os.path.join(folder, text))
    above, is_module, _ = target.partition("/.git/modules/")
    if is_module and os.path.realpath(folder).startswith(above + "/"):
        return ""
    back = (_read(os.path.join(target, "gitdir")) or "").strip()
    is_worktree = os.path.basename(os.path.dirname(target)) == "worktrees"
    return "" if is_worktree and back and os.path.realpath(back) == os.path.realpath(inner) else inner


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


def _with_modules(folder: str) -> list[str] | None:
    """Give the repository's own folder and those of its submodules, which git looks into as well; None for too many."""
    modules = os.path.join(folder, "modules")
    if not os.path.isdir(modules):
        return [folder]
    found = [folder]
    for number, (at, _, files) in enumerate(os.walk(modules)):
        if number > MOST_FOLDERS:
            return None
        if "config" in files:
            found.append(at)
    return found


def _read(path: str) -> str | None:
    """Give a small file's text; empty where there is none, None where it is too large or cannot be read."""
    content = read_small(path, LONGEST_CONFIG_BYTES)
    return None if content is None else content.decode("utf-8", "replace")
