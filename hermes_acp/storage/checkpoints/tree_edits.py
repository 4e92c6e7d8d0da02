"""Read and replace individual files in a tree that a shadow stores. Source: git-ls-tree(1), git-update-index(1)."""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from hermes_acp.storage.checkpoints.git_trees import FileState, read_entries
from hermes_acp.storage.checkpoints.shadow_git import ShadowGit

MAX_NAMED: Final = 200
"""The maximum number of paths in the arguments of one command."""
FOLDER: Final = "040000"
NO_OBJECT: Final = b"0" * 40


def states_in(git: ShadowGit, tree: str, paths: Sequence[bytes]) -> dict[bytes, FileState]:
    """Return the states of the paths that are files in a tree."""
    found: dict[bytes, FileState] = {}
    for first in range(0, len(paths), MAX_NAMED):
        named = map(os.fsdecode, paths[first : first + MAX_NAMED])
        found |= dict(read_entries(git.run("ls-tree", "-z", "--full-tree", tree, "--", *named)))
    return {path: state for path, state in found.items() if state.mode != FOLDER}


def tree_with_states(git: ShadowGit, tree: str, states: Mapping[bytes, FileState | None]) -> str:
    """Return a tree with the states of some files replaced.

    The state None removes a file. The caller holds the shadow's lock.
    """
    if not states:
        return tree
    draft = git.place / "index.draft"
    draft.unlink(missing_ok=True)
    # Deleted files come first, because a path may be a folder in the new tree.
    ordered = sorted(states.items(), key=lambda each: each[1] is not None)
    changes = b"".join(
        (f"{state.mode} {state.oid}".encode("ascii") if state else b"0 " + NO_OBJECT) + b"\t" + path + b"\0"
        for path, state in ordered
    )
    try:
        git.run("read-tree", tree, index=str(draft))
        git.run("update-index", "-z", "--add", "--replace", "--index-info", given=changes, index=str(draft))
        return git.run("write-tree", index=str(draft)).decode("ascii").strip()
    finally:
        draft.unlink(missing_ok=True)
