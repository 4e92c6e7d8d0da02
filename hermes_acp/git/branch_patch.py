"""Export the changes on a branch as a patch, from its worktree (with uncommitted changes) or from the branch alone."""

import os
import re
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Final

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.git.repository_git import RepositoryGit, find_program, find_working_copy

COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
DIFF: Final = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames")


def patch_of(variables: Mapping[str, str], worktree: str, source: str, base: str, branch: str) -> str:
    """Return the changes since `base` as a patch. Blocks.

    Raises WorkspaceError if the branch or its repository is gone. If the folder `worktree` is gone, the branch is
    looked up in the repository at `source`.
    """
    if not COMMIT.fullmatch(base):
        raise WorkspaceError(f"It is not known where the branch {branch} started.")
    has_worktree = os.path.isdir(worktree)
    program = find_program(variables)
    copy = find_working_copy(program, worktree if has_worktree else source)
    if copy is None:
        raise WorkspaceError(f"{source} is no longer in a git repository.")
    git = RepositoryGit(program, copy.top)
    if has_worktree and git.run("branch", "--show-current").strip() == branch:
        patch = _with_uncommitted(git, base)
    elif git.try_run("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"):
        patch = git.run(*DIFF, f"{base}...refs/heads/{branch}", "--")
    else:
        raise WorkspaceError(f"The branch {branch} is not in the repository at {copy.top} on this machine.")
    return patch.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _with_uncommitted(git: RepositoryGit, base: str) -> str:
    """Return the changes in a worktree; a separate index is used, so that the worktree's own stays unchanged."""
    with TemporaryDirectory(prefix="hermes-acp-") as folder:
        index = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
        git.run("read-tree", "HEAD", variables=index)
        git.run("add", "--all", variables=index)
        return git.run(*DIFF, "--cached", base, "--", variables=index)
