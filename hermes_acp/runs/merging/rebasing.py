"""Rebase a card's work onto its target, in the card's worktree. All methods block.

Before each step, the record says what is about to happen and where the agent's work is, so that after any interruption,
the rebase can start over from there.
"""

import os
import re
from typing import Final

from msgspec import Struct, structs

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.boards.merge_ports import Merged, MergeRequest, NotMerged
from hermes_acp.git.linked_worktrees import (
    BRANCHES,
    branch_at,
    commit_all,
    commit_of,
    identity,
    is_rebasing,
    is_within,
    remove_stale_locks,
    unfinished_operation,
)
from hermes_acp.git.repository_git import GitFailed, RepositoryGit
from hermes_acp.runs.merging import merge_messages as words
from hermes_acp.runs.worktrees.card_worktrees import earlier_work_of, restore_tip
from hermes_acp.runs.worktrees.worktree_records import WorktreeRecord, WorktreeRecords

MARKER: Final = re.compile(rb"^(?:<{7}|>{7}) ", re.MULTILINE)
UNMERGED: Final = frozenset(words.KINDS)


class Candidate(Struct, frozen=True):
    """A card's rebased work: the target's commit, and the commit of the work on top of it."""

    record: WorktreeRecord
    target_commit: str
    commit: str


class Rebase:
    """One attempt to rebase a card's work onto its target."""

    def __init__(
        self, git: RepositoryGit, records: WorktreeRecords, record: WorktreeRecord, request: MergeRequest
    ) -> None:
        """Create the attempt; `git` runs in the card's worktree."""
        self._git = git
        self._records = records
        self._record = record
        self._request = request
        self._git_dir = git.run("rev-parse", "--absolute-git-dir").strip()

    def run(self) -> Candidate | Merged | NotMerged:
        """Return the rebased work, or the reason why it cannot be rebased. Raises WorkspaceError or StorageError."""
        target = self._target_commit()
        if merged := self._recover(target):
            return merged
        if refusal := self._refusal():
            return refusal
        remove_stale_locks(self._git_dir)
        commit_all(self._git, self._message())
        tip = commit_of(self._git, "HEAD")
        has_checks = bool(self._request.checks)
        if is_within(self._git, tip, target) and not has_checks:
            return self.finish(words.NOTHING_TO_MERGE, target)
        self._note("rebasing", tip=tip)
        if not is_within(self._git, target, tip):
            if not self._rebases_onto(target) and (conflicts := self._squash(target)):
                return conflicts
            tip = commit_of(self._git, "HEAD")
            if tip == target and not has_checks:
                return self.finish(words.NOTHING_TO_MERGE, target)
        self._note("checking")
        return Candidate(self._record, target, tip)

    def finish(self, sentence: str, commit: str) -> Merged:
        """Record that everything has been merged."""
        self._note("merged", tip="")
        return Merged(commit, sentence)

    def _target_commit(self) -> str:
        record = self._record
        if not record.target:
            raise WorkspaceError(
                words.NO_TARGET.format(folder=record.source),
                hint=words.NO_TARGET_HINT.format(branch=record.branch),
            )
        if commit := commit_of(self._git, BRANCHES + record.target):
            return commit
        raise WorkspaceError(
            words.TARGET_GONE.format(target=record.target),
            hint=words.NO_TARGET_HINT.format(branch=record.branch),
        )

    def _recover(self, target: str) -> Merged | None:
        """Determine how far an interrupted merge got; finish it, or start over from the agent's work."""
        record = self._record
        if record.stage not in ("rebasing", "checking", "returning") or not record.tip:
            return None
        remove_stale_locks(self._git_dir)
        done = commit_of(self._git, BRANCHES + record.branch)
        if record.stage == "checking" and is_within(self._git, done, target):
            return self.finish(words.MERGED.format(target=record.target, commit=done[:12]), done)
        restore_tip(self._git, record, self._git_dir)
        self._note("ready", tip="")
        return None

    def _refusal(self) -> NotMerged | None:
        """Return what the agent must do before its work can be committed, or None."""
        record = self._record
        if what := unfinished_operation(self._git_dir):
            return NotMerged(words.UNDER_WAY, words.UNDER_WAY_WORDS.format(what=what))
        if branch_at(self._git) != record.branch:
            return NotMerged(
                words.BRANCH_GONE.format(branch=record.branch),
                words.BRANCH_GONE_WORDS.format(branch=record.branch),
            )
        marked = [path for path in record.conflicts if _has_markers(os.path.join(record.path, path))]
        if marked:
            return NotMerged(
                words.MARKERS.format(files=words.names_of(marked)),
                words.MARKERS_WORDS.format(files=", ".join(marked)),
            )
        return None

    def _message(self) -> str:
        title = " ".join(self._request.title.split()) or f"Card {self._request.card_id}"
        return f"{title}\n\nCard: {self._request.board}/{self._request.card_id}\n"

    def _rebases_onto(self, target: str) -> bool:
        """Rebase the branch; if there are conflicts, change nothing and return False. Raises GitFailed."""
        if self._rebase(target):
            return True
        self._git.run("rebase", "--abort")
        return False

    def _rebase(self, target: str) -> bool:
        try:
            self._git.run("rebase", "--quiet", target, variables=_committer(self._git))
        except GitFailed:
            if is_rebasing(self._git_dir):
                return False
            raise
        return True

    def _squash(self, target: str) -> NotMerged | None:
        """Apply the work as a single change; return its conflicts, which are then marked in the worktree."""
        git, record = self._git, self._record
        self._note("returning")
        git.run("update-ref", earlier_work_of(record), record.tip)
        base = git.run("merge-base", target, record.tip).split()[0]
        message = self._message().encode("utf-8", "surrogateescape")
        written = git.run(
            "commit-tree", f"{record.tip}^{{tree}}", "-p", base, given=message, variables=identity(git)
        )
        git.run("reset", "--quiet", "--soft", written.strip())
        if self._rebase(target):
            return None
        kinds = self._conflicts()
        hunks = git.run("diff", "--no-color", "--no-ext-diff", "--no-textconv")
        git.run("rebase", "--quit")
        git.run("reset", "--quiet", "--mixed", target, fine=(0, 1))
        git.run("update-ref", BRANCHES + record.branch, target)
        git.run("symbolic-ref", "HEAD", BRANCHES + record.branch)
        self._record = structs.replace(record, base=target)
        self._note("ready", tip="", conflicts=tuple(kinds))
        return NotMerged(
            words.CONFLICTS.format(target=record.target, files=words.names_of(tuple(kinds))),
            words.conflict_words(record.target, kinds, hunks, record.tip),
        )

    def _conflicts(self) -> dict[str, str]:
        listed = self._git.run("status", "--porcelain", "-z", "--no-renames")
        return {entry[3:]: entry[:2] for entry in listed.split("\0") if entry[:2] in UNMERGED}

    def _note(self, stage: str, **changes: object) -> None:
        """Store the next step of the merge durably before taking it."""
        self._record = structs.replace(self._record, stage=stage, **changes)
        self._records.write(self._record)


def _committer(git: RepositoryGit) -> dict[str, str]:
    """Return the variables that set the committer. The commits keep their authors."""
    return {name: value for name, value in identity(git).items() if name.startswith("GIT_COMMITTER_")}


def _has_markers(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return MARKER.search(file.read()) is not None
    except OSError:
        return False
