"""Store the state of a work tree as a commit outside all branches, and restore a work tree to such a state.

A snapshot contains the files that git does not ignore, including uncommitted ones, except files that contain keys. Its
parent is the commit that was checked out. All functions block.
"""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from hermes_acp.git.linked_worktrees import BRANCHES, NOBODY, branch_at, commit_of, is_within
from hermes_acp.git.repository_git import RepositoryGit, WorkingCopy

AUTHOR: Final[Mapping[str, str]] = MappingProxyType(
    {
        "GIT_AUTHOR_NAME": NOBODY[0],
        "GIT_AUTHOR_EMAIL": NOBODY[1],
        "GIT_COMMITTER_NAME": NOBODY[0],
        "GIT_COMMITTER_EMAIL": NOBODY[1],
    }
)
MESSAGE: Final = "State of a workspace"
LeftOut = Callable[[str, Sequence[str]], Sequence[str]]
"""A function that takes the top folder and relative paths, and returns the paths that must not leave the machine."""


class Snapshot(Struct, frozen=True):
    """A stored state: its commit, the commit that was checked out (empty in a new repository), and the branch.

    `origin` is the address of the remote with that name, if it has one without a password.
    """

    commit: str
    head: str
    branch: str = ""
    origin: str = ""


def take_snapshot(git: RepositoryGit, copy: WorkingCopy, left_out: LeftOut) -> Snapshot:
    """Store the current state; the work tree's own index stays unchanged. Raises GitFailed."""
    head = commit_of(git, "HEAD")
    tree = tree_of(git, copy, left_out)
    parents = ("-p", head) if head else ()
    commit = git.run("commit-tree", tree, *parents, "-m", MESSAGE, variables=AUTHOR).strip()
    return Snapshot(commit, head, branch_at(git), _origin(git))


def tree_of(git: RepositoryGit, copy: WorkingCopy, left_out: LeftOut) -> str:
    """Store the files in their current state, and return their tree. Raises GitFailed."""
    with TemporaryDirectory(prefix="hermes-acp-") as folder:
        path = os.path.join(folder, "index")
        index = {"GIT_INDEX_FILE": path, "GIT_LITERAL_PATHSPECS": "1"}
        own = os.path.join(copy.git_dir, "index")
        if os.path.exists(own):
            # Its file metadata saves reading the files. To find files that changed after the index was written, git
            # compares the index's own time with theirs, so the copy must have the same time.
            shutil.copy2(own, path)
        git.run("add", "--all", variables=index)
        has_commit = bool(commit_of(git, "HEAD"))
        base = "HEAD" if has_commit else git.run("hash-object", "-t", "tree", "/dev/null").strip()
        listed = git.run(
            "diff",
            "--cached",
            "--name-only",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            base,
            "--",
            variables=index,
        )
        changed = [name for name in listed.split("\0") if name]
        if dropped := left_out(copy.top, changed):
            given = "".join(f"{name}\0" for name in dropped).encode("utf-8", "surrogateescape")
            if has_commit:
                arguments = ("reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
                git.run(*arguments, given=given, variables=index)
            else:
                git.run("update-index", "--force-remove", "-z", "--stdin", given=given, variables=index)
        return git.run("write-tree", variables=index).strip()


def bring_to(git: RepositoryGit, copy: WorkingCopy, present: str, wanted: Snapshot) -> None:
    """Change the files from their current tree `present` to those of a snapshot, whose objects must exist.

    The snapshot's branch is checked out at its commit, and changes that were uncommitted there are uncommitted here.
    Ignored files stay. Raises GitFailed.
    """
    git.run("read-tree", "--reset", present)
    git.run("update-index", "-q", "--refresh", fine=(0, 1))
    git.run("read-tree", "-m", "-u", present, wanted.commit)
    if wanted.head and wanted.branch:
        git.run("update-ref", BRANCHES + wanted.branch, wanted.head)
    if wanted.branch:
        git.run("symbolic-ref", "HEAD", BRANCHES + wanted.branch)
    else:
        git.run("update-ref", "--no-deref", "HEAD", wanted.head)
    git.run("read-tree", wanted.head or "--empty")
    git.run("update-index", "-q", "--refresh", fine=(0, 1))


def loses_nothing(git: RepositoryGit, present: str, known: str, wanted: Snapshot) -> bool:
    """Return whether a work tree whose files are the tree `present` contains nothing that a snapshot lacks.

    The commit of the work tree and that of the snapshot's branch must be ancestors of the snapshot. The files must be
    those of the snapshot, of the tree `known`, which came before the snapshot, or of the work tree's own commit.
    """
    if other_commits(git, wanted):
        return False
    return present in (known, tree_in(git, wanted.commit), tree_in(git, "HEAD"))


def other_commits(git: RepositoryGit, wanted: Snapshot) -> list[str]:
    """Return the commits that are checked out or at the snapshot's branch but not in the snapshot's history."""
    names = ("HEAD", BRANCHES + wanted.branch) if wanted.branch else ("HEAD",)
    commits = dict.fromkeys(commit for name in names if (commit := commit_of(git, name)))
    return [commit for commit in commits if not (wanted.head and is_within(git, commit, wanted.head))]


def tree_in(git: RepositoryGit, commit: str) -> str:
    """Return the tree of a commit, or an empty string if the commit does not exist."""
    return (git.try_run("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}") or "").strip()


def new_repository(git: RepositoryGit) -> None:
    """Turn a folder into an empty repository. Raises GitFailed."""
    git.run("init", "--quiet", "--template=", ".")


def add_origin(git: RepositoryGit, address: str) -> None:
    """Add the remote from which the work came. Raises GitFailed."""
    if address:
        git.run("config", "remote.origin.url", address)
        git.run("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")


def _origin(git: RepositoryGit) -> str:
    """Return the address of `origin`, unless it contains a password or a token."""
    address = (git.try_run("config", "--get", "remote.origin.url") or "").strip()
    scheme, _, rest = address.partition("://")
    return "" if rest and scheme not in ("ssh", "git+ssh") and "@" in rest.partition("/")[0] else address
