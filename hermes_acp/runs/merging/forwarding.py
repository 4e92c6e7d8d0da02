"""Fast-forward a target branch to a card's work, even if the branch is checked out. All functions block."""

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.git.linked_worktrees import (
    BRANCHES,
    branch_at,
    changed_files,
    commit_of,
    files_between,
    filtered_files,
    identity,
    list_worktrees,
    unfinished_operation,
)
from hermes_acp.git.repository_git import GitFailed, RepositoryGit
from hermes_acp.runs.merging import merge_messages as words
from hermes_acp.runs.merging.rebasing import Candidate


def forward(git: RepositoryGit, found: Candidate) -> bool:
    """Fast-forward the target; return False if it has changed since. Raises WorkspaceError if it cannot be moved now.

    If the target is checked out, its files are updated, but files that the user has changed are never touched.
    """
    target = found.record.target
    if commit_of(git, BRANCHES + target) != found.target_commit:
        return False
    folders = [each.path for each in list_worktrees(git) if each.branch == target]
    if not folders:
        try:
            git.run("update-ref", BRANCHES + target, found.commit, found.target_commit)
        except GitFailed:
            return False
        return True
    for folder in folders:
        _check(git.at(folder), found)
    return _merge(git.at(folders[0]), found)


def _check(git: RepositoryGit, found: Candidate) -> None:
    """Check that nothing would be lost. Raises WorkspaceError."""
    git_dir = git.run("rev-parse", "--absolute-git-dir").strip()
    if what := unfinished_operation(git_dir) or ("" if branch_at(git) == found.record.target else "HEAD"):
        raise WorkspaceError(words.TARGET_BUSY.format(folder=git.top, what=what), hint=words.TARGET_BUSY_HINT)
    touched = files_between(git, found.target_commit, found.commit)
    if both := sorted({*touched} & {*changed_files(git)}):
        raise WorkspaceError(
            words.WOULD_OVERWRITE.format(folder=git.top, files=words.names_of(both)),
            hint=words.WOULD_OVERWRITE_HINT,
        )
    if filtered := filtered_files(git, touched):
        raise WorkspaceError(
            words.FILTERED.format(files=words.names_of(filtered)),
            hint=words.FILTERED_HINT.format(branch=found.record.branch),
        )


def _merge(git: RepositoryGit, found: Candidate) -> bool:
    """Fast-forward a checked-out branch. Git itself refuses to overwrite files that were changed in the meantime."""
    try:
        git.run("merge", "--quiet", "--ff-only", found.commit, variables=identity(git))
    except GitFailed as error:
        if commit_of(git, "HEAD") != found.target_commit:
            return False
        raise WorkspaceError(
            words.NOT_FORWARDED.format(target=found.record.target, folder=git.top, error=error.message),
            hint=words.WOULD_OVERWRITE_HINT,
        ) from error
    return True
