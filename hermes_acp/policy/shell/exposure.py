"""What a command that only reads would show of files it does not name, where rules shut some of them.

Knows: which questions to git are answered with what is in files, how folders are looked through for what is shut. Does
not know: rules, what else a command reads.
"""

import os
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from hermes_acp.core.closures import Closure
from hermes_acp.policy.shell.places import paths_of
from hermes_acp.policy.shell.words import Word

MOST_LOOKED_AT: Final = 5_000
ALWAYS: Final = frozenset({"git grep", "git cat-file"})
USUALLY: Final = frozenset({"git diff", "git show"})
AS_ASKED: Final = frozenset({"git log", "git whatchanged", "git diff-tree", "git stash"})
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


def tracked_by(
    name: str, words: Sequence[Word], cwds: tuple[str, ...], roots: tuple[str, ...]
) -> tuple[str, ...]:
    """Give the places of which git may show files, now or in the past, by the question `name`.

    Only what stands behind `--` is surely a path: a branch can be called like a folder.
    """
    if not _shows_content(name, [word.text or "" for word in words]):
        return ()
    texts = [word.text for word in words]
    behind = words[texts.index("--") + 1 :] if "--" in texts else ()
    places = [place for word in behind for place in paths_of(word, cwds) or roots]
    return tuple(places) if places and all(map(os.path.lexists, places)) else roots


def _shows_content(name: str, words: Sequence[str]) -> bool:
    if name in ALWAYS:
        return True
    flags = [word for word in words if word.startswith("-")]
    has_patches = any(
        flag.startswith(WITH_PATCHES) if flag.startswith("--") else not PATCH_LETTERS.isdisjoint(flag)
        for flag in flags
    )
    has_names_alone = any(flag.startswith(NAMES_ALONE) for flag in flags)
    return (name in USUALLY and not has_names_alone) or (name in USUALLY | AS_ASKED and has_patches)


def shut_beneath(folders: Sequence[str], closures: Sequence[Closure]) -> tuple[str, ...] | None:
    """Give what is shut in some folders, however deep; None where there is too much to look through."""
    waiting = deque(folders)
    found: list[str] = []
    looked_at = 0
    while waiting:
        folder = waiting.popleft()
        near = [each for each in closures if each.may_lie_beneath(folder)]
        if not near:
            continue
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                looked_at += 1
                if looked_at > MOST_LOOKED_AT:
                    return None
                if any(each.fits(entry.path) for each in near):
                    found.append(entry.path)
                elif entry.name != ".git" and entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return tuple(found)
