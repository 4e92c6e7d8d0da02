"""Find what a read-only command would show of files it does not name, some of which may be secret or denied."""

import os
import re
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Final

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.policy.shell.command_paths import is_within, paths_of
from hermes_acp.policy.shell.parsing.shell_words import Word
from hermes_acp.policy.shell.tracked_secrets import tracked_secret_files

MAX_VISITED: Final = 5_000
ALWAYS: Final = frozenset({"git grep", "git cat-file"})
USUALLY: Final = frozenset({"git diff", "git show", "git range-diff"})
AS_ASKED: Final = frozenset({"git log", "git whatchanged", "git diff-tree", "git stash"})
VERBOSE: Final = re.compile(r"-[a-z]*v[a-z]*|--verb.*")
EXCLUSION: Final = re.compile(r":(?:[!^]|\(exclude\))([^(].*)", re.DOTALL)
NAMES_ALONE: Final = (
    *("-s", "--no-patch", "--stat", "--numstat", "--shortstat", "--dirstat", "--summary", "--name-only"),
    *("--name-status", "--raw", "--compact-summary", "--quiet"),
)
WITH_PATCHES: Final = (
    "--patch",
    "--unified",
    "--cc",
    "--word-diff",
    "--color-words",
    "--check",
    "--function-context",
)
PATCH_LETTERS: Final = frozenset("pucmULW")


def tracked_secrets_shown(
    name: str, words: Sequence[Word], cwds: tuple[str, ...], roots: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the paths of secret files whose current or past content the git subcommand `name` may show.

    Only what follows `--` is certain to be a path: a branch can have the same name as a folder.
    """
    if not _shows_content(name, [word.text or "" for word in words]):
        return ()
    texts = [word.text for word in words]
    behind = words[texts.index("--") + 1 :] if "--" in texts else ()
    places = [place for word in behind for place in paths_of(word, cwds) or roots]
    return tuple(places) if places and all(map(os.path.lexists, places)) else roots


def secrets_shown(
    name: str, words: Sequence[Word], cwds: tuple[str, ...], roots: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the tracked secret files that the subcommand `name` does not name but may show in its output."""
    places = tracked_secrets_shown(name, words, cwds, roots)
    if not places:
        return ()
    texts = [word.text or "" for word in words]
    asked = texts[: texts.index("--")] if "--" in texts else texts
    is_fresh = name == "git diff" and not any(
        not text.startswith("-") or text in ("--cached", "--staged") for text in asked
    )
    left_out = [found[1] for text in texts if (found := EXCLUSION.fullmatch(text))]
    return tuple(
        path
        for cwd in cwds
        for path in tracked_secret_files(cwd, only_touched=is_fresh)
        if (places == roots or any(is_within(path, place) for place in places))
        and not any(_is_left_out(os.path.relpath(path, cwd), pattern) for pattern in left_out)
    )


def _is_left_out(path: str, pattern: str) -> bool:
    """Return whether an exclude pattern makes git leave out a path; `*` in it also matches slashes."""
    plain = pattern.removeprefix("./").rstrip("/")
    return path == plain or path.startswith(f"{plain}/") or fnmatchcase(path, plain)


def _shows_content(name: str, words: Sequence[str]) -> bool:
    if name in ALWAYS:
        return True
    flags = [word for word in words if word.startswith("-")]
    has_patches = any(
        flag.startswith(WITH_PATCHES) if flag.startswith("--") else not PATCH_LETTERS.isdisjoint(flag)
        for flag in flags
    )
    if name == "git status":
        return any(VERBOSE.fullmatch(flag) for flag in flags)
    has_names_alone = any(flag.startswith(NAMES_ALONE) for flag in flags)
    return (name in USUALLY and not has_names_alone) or (name in USUALLY | AS_ASKED and has_patches)


def denied_beneath(folders: Sequence[str], denied_paths: Sequence[DeniedPath]) -> tuple[str, ...] | None:
    """Return what rules deny beneath the given folders, at any depth, or None if there is too much to check."""
    waiting = deque(folders)
    found: list[str] = []
    looked_at = 0
    while waiting:
        folder = waiting.popleft()
        near = [each for each in denied_paths if each.may_match_below(folder)]
        if not near:
            continue
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                looked_at += 1
                if looked_at > MAX_VISITED:
                    return None
                if any(each.matches(entry.path) for each in near):
                    found.append(entry.path)
                elif entry.name != ".git" and entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return tuple(found)
