"""Create patches for a folder inside a work tree, with paths relative to its top, as `git apply` expects.

Source: git-diff(1), "Generating patch text with -p".
"""

import os
import re
from collections.abc import Collection
from typing import Final

from hermes_acp.storage.checkpoints.shadow_git import ShadowGit
from hermes_acp.storage.checkpoints.shadow_repository import RENAMES

PLAIN: Final = re.compile(r"[!#-\[\]-~ ]+")
MOVED: Final = re.compile(rb'((?:rename|copy) (?:from|to) )("?)(.*)', re.DOTALL)


def make_patch(
    git: ShadowGit, trees: tuple[str, str], paths: Collection[bytes], below: str, *, are_text: bool
) -> bytes:
    """Return a patch that turns the given paths of one tree into those of another.

    `below` is the folder's path relative to the top of the user's work tree.
    """
    if not paths:
        return b""
    form = ("-r", "-p", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "-M", RENAMES)
    kind = "--text" if are_text else "--binary"  # the shadow's attributes say that nothing is text
    names = map(os.fsdecode, sorted(paths))
    flags = (*form, *_prefix_flags(below), kind)
    return _with_moves_below(git.run("diff-tree", *flags, *trees, "--", *names, work_tree=git.root), below)


def _prefix_flags(below: str) -> tuple[str, ...]:
    """Return the flags of `git diff-tree` for a folder below the top. Renames are off for a name that git quotes."""
    if not below:
        return ()
    flags = (f"--src-prefix=a/{below}/", f"--dst-prefix=b/{below}/")
    return flags if PLAIN.fullmatch(below) else (*flags, "--no-renames")


def _with_moves_below(patch: bytes, below: str) -> bytes:
    """Add the folder to a patch's rename lines, because git leaves it out there."""
    if not below:
        return patch
    lines, is_head = list[bytes](), False
    for line in patch.split(b"\n"):
        if line.startswith(b"diff --git "):
            is_head = True
        elif line.startswith((b"@@ ", b"GIT binary patch")):
            is_head = False
        moved = MOVED.fullmatch(line) if is_head else None
        lines.append(moved[1] + moved[2] + below.encode() + b"/" + moved[3] if moved else line)
    return b"\n".join(lines)
