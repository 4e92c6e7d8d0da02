"""Add, find and remove work trees linked to a repository, and commit their changes. Everything here blocks."""

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.git.repository_git import RepositoryGit

BRANCHES: Final = "refs/heads/"
NOBODY: Final = ("hermes-acp", "hermes-acp@localhost")
REBASES: Final = ("rebase-merge", "rebase-apply")
UNDER_WAY: Final = (*REBASES, "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")
STALE_LOCKS: Final = ("index.lock", "HEAD.lock")


class LinkedWorktree(Struct, frozen=True):
    """A work tree of a repository: its folder, and the branch that is checked out or being rebased in it."""

    path: str
    branch: str = ""


def add_worktree(git: RepositoryGit, path: str, branch: str, base: str) -> None:
    """Add a work tree for a branch, which is created at `base` if it does not exist. Raises GitFailed."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    if not commit_of(git, BRANCHES + branch):
        git.run("update-ref", BRANCHES + branch, base)
    git.run("worktree", "add", "--no-guess-remote", path, branch)


def discard_worktree(git: RepositoryGit, path: str) -> None:
    """Remove a work tree and everything in it, even if it is incomplete; a missing one is not an error."""
    git.try_run("worktree", "unlock", path)
    git.try_run("worktree", "remove", "--force", "--force", path)
    shutil.rmtree(path, ignore_errors=True)
    git.try_run("worktree", "prune")


def list_worktrees(git: RepositoryGit) -> list[LinkedWorktree]:
    """List all work trees of a repository, starting with the main one. Raises GitFailed."""
    found: list[LinkedWorktree] = []
    for block in git.run("worktree", "list", "--porcelain").split("\n\n"):
        fields = (line.partition(" ") for line in block.splitlines())
        lines = {name: value for name, _, value in fields}
        if path := lines.get("worktree"):
            branch = lines.get("branch", "") or _branch_being_rebased(git, path)
            found.append(LinkedWorktree(path, branch.removeprefix(BRANCHES)))
    return found


def _branch_being_rebased(git: RepositoryGit, path: str) -> str:
    """Return the branch that is being rebased in a work tree; HEAD is detached during a rebase."""
    if not os.path.isdir(path):
        return ""
    own = git.at(path).try_run("rev-parse", "--absolute-git-dir")
    for folder in REBASES:
        with suppress(OSError):
            return Path((own or "").rstrip("\n"), folder, "head-name").read_text(encoding="utf-8").strip()
    return ""


def commit_of(git: RepositoryGit, name: str) -> str:
    """Return the commit that a name refers to, or an empty string."""
    return (git.try_run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") or "").strip()


def branch_at(git: RepositoryGit) -> str:
    """Return the branch that is checked out, or an empty string if HEAD is detached."""
    head = (git.try_run("symbolic-ref", "--quiet", "HEAD") or "").strip()
    return head.removeprefix(BRANCHES) if head.startswith(BRANCHES) else ""


def is_within(git: RepositoryGit, earlier: str, later: str) -> bool:
    """Return whether the earlier commit is the later one or among its ancestors."""
    return git.try_run("merge-base", "--is-ancestor", earlier, later) is not None


def unfinished_operation(git_dir: str) -> str:
    """Return the name of an unfinished git operation in a work tree, or an empty string."""
    return next((name for name in UNDER_WAY if os.path.lexists(os.path.join(git_dir, name))), "")


def is_rebasing(git_dir: str) -> bool:
    """Return whether an unfinished rebase exists in a work tree."""
    return any(os.path.isdir(os.path.join(git_dir, name)) for name in REBASES)


def remove_stale_locks(git_dir: str) -> None:
    """Remove the locks that a killed git left in a work tree; no other git may be running there."""
    for name in STALE_LOCKS:
        with suppress(OSError):
            os.unlink(os.path.join(git_dir, name))


def changed_files(git: RepositoryGit) -> list[str]:
    """List the files of a work tree that differ from the last commit or are new, except ignored ones."""
    listed = git.run("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    return [entry[3:] for entry in listed.split("\0") if entry]


def commit_all(git: RepositoryGit, message: str) -> bool:
    """Commit everything that is not ignored; return False if there was nothing to commit. Raises GitFailed."""
    if not changed_files(git):
        return False
    git.run("add", "--all", "--", ".")
    given = message.encode("utf-8", "surrogateescape")
    git.run("commit", "--quiet", "--no-verify", "--file=-", given=given, variables=identity(git))
    return True


def identity(git: RepositoryGit) -> Mapping[str, str]:
    """Return the variables that set the author of commits: the user, if git knows their name."""
    values: list[str] = []
    for key, fallback in zip(("user.name", "user.email"), NOBODY, strict=True):
        found = git.try_run("config", "--get", key)
        for file in _user_settings(git):
            found = found or git.try_run("config", "--file", file, "--includes", "--get", key)
        values.append((found or "").strip() or fallback)
    name, email = values
    return {
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
    }


def _user_settings(git: RepositoryGit) -> list[str]:
    home = git.variables.get("HOME", "")
    shared = git.variables.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return [
        path
        for path in (os.path.join(home, ".gitconfig"), os.path.join(shared, "git", "config"))
        if os.path.isfile(path)
    ]


def files_between(git: RepositoryGit, earlier: str, later: str) -> list[str]:
    """List the files in which two commits differ."""
    listed = git.run("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", earlier, later)
    return [path for path in listed.split("\0") if path]


def filtered_files(git: RepositoryGit, paths: Sequence[str]) -> list[str]:
    """Return the files whose content goes through a filter program, as with Git LFS or git-crypt."""
    given = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    fields = git.run("check-attr", "-z", "--stdin", "filter", given=given).split("\0")
    return [
        path
        for path, value in zip(fields[::3], fields[2::3], strict=False)
        if value not in ("unspecified", "unset")
    ]


def reset_to(git: RepositoryGit, commit: str) -> None:
    """Make a work tree identical to a commit; all other files that are not ignored are deleted. Raises GitFailed."""
    git.run("reset", "--quiet", "--hard", commit)
    git.run("clean", "--quiet", "-d", "--force", "--force")
