"""The worktrees of cards: create them, find them again after a crash, and remove them, keeping their work on a branch.

Every operation can be repeated after an interruption: the record is written before anything is created, and git
inherits a lock, so a git process that outlives its parent still keeps others out.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from anyio.to_thread import run_sync
from msgspec import structs

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.boards.board_ports import CardWorktree
from hermes_acp.git.linked_worktrees import (
    BRANCHES,
    add_worktree,
    branch_at,
    commit_all,
    commit_of,
    discard_worktree,
    is_rebasing,
    is_within,
    remove_stale_locks,
    reset_to,
    unfinished_operation,
)
from hermes_acp.git.repository_git import RepositoryGit, WorkingCopy, find_program, find_working_copy
from hermes_acp.runs.worktrees.worktree_records import WorktreeRecord, WorktreeRecords

BRANCH: Final = "hermes-acp/{board}-{card}-{token}"
NO_FOLDER: Final = "There is no folder {folder} on this machine."
OCCUPIED: Final = (
    "The folder {folder}, in which the work on card {card} continues, is used for something else here."
)
UNFINISHED: Final = "Keep unfinished work on card {card} of {board}"
CarryTrust = Callable[[str, str], None]
"""A function that copies what the user trusts in one folder to another. An empty first folder removes the trust."""


class CardWorktrees:
    """The worktrees of one home folder; implements `Worktrees`."""

    def __init__(
        self,
        home: Path,
        folder: Callable[[], Path],
        variables: Mapping[str, str],
        carry_trust: CarryTrust,
    ) -> None:
        """Store the arguments; nothing is created yet.

        New worktrees are created in the folder that `folder` returns.
        """
        self.records = WorktreeRecords(home)
        self._folder = folder
        self._variables = variables
        self._carry_trust = carry_trust

    async def open(
        self, board: str, card_id: str, folder: str, last: CardWorktree | None = None
    ) -> CardWorktree:
        """Return a card's worktree, creating it if necessary.

        Outside a repository, returns the folder itself. If another machine had the card's `last` worktree, its folder
        is used here too, with a new branch. Raises WorkspaceError or StorageError.
        """
        async with self.records.lock_card(board, card_id) as lock:
            return await run_sync(self._open, board, card_id, folder, last, lock)

    async def held(self, board: str) -> dict[str, str]:
        """Return the cards that have a worktree on this machine, with their branches."""
        records = await run_sync(self.records.all)
        return {each.card_id: each.branch for each in records if each.board == board and each.stage != "kept"}

    async def remove(self, board: str, card_id: str, is_wanted: Callable[[], Awaitable[bool]]) -> None:
        """Remove a card's worktree. Work that has not been merged stays on the card's branch.

        Raises WorkspaceError or StorageError.
        """
        async with self.records.lock_card(board, card_id) as lock:
            if not await is_wanted():
                await run_sync(self._remove, board, card_id, lock)

    def git_for(self, folder: str, lock: int | None) -> tuple[RepositoryGit, WorkingCopy] | None:
        """Return git for the repository that contains a folder. Blocks. Raises WorkspaceError."""
        program, held = find_program(self._variables), () if lock is None else (lock,)
        found = find_working_copy(program, folder, held)
        return (RepositoryGit(program, found.top, held), found) if found else None

    def _open(
        self, board: str, card_id: str, folder: str, last: CardWorktree | None, lock: int
    ) -> CardWorktree:
        record = self.records.read(board, card_id)
        if record and record.source != os.path.realpath(folder):
            self._remove(board, card_id, lock)
            record = None
        if record is None and not os.path.isdir(folder):
            raise WorkspaceError(NO_FOLDER.format(folder=folder))
        found = self.git_for(record.source if record else folder, lock)
        if found is None:
            return CardWorktree(folder)
        git, copy = found
        is_elsewhere = bool(last and last.branch) and not (record and last and record.is_of(last.branch))
        has_lost_work = False
        if record is None or is_elsewhere:
            if not (base := commit_of(git, "HEAD")):
                return CardWorktree(folder)
            planned = self._planned(board, card_id, folder, copy, (base, branch_at(git)))
            if last and is_elsewhere:
                planned = _in_folder_of(last, planned)
                own, record = record, self._take_over(git, copy, record, planned, last)
                has_lost_work = record is None
                if own and has_lost_work:
                    self._remove(board, card_id, lock)
            record = record or self._started(planned)
        if record.stage in ("creating", "kept") or not self._is_whole(git, record, copy):
            record = self._create(git, record)
        elif record.stage != "ready":
            record = self._end_merge(git.at(record.path), record)
        os.makedirs(record.folder, exist_ok=True)
        self._carry_trust(record.source, record.folder)
        return CardWorktree(record.folder, record.branch, record.base, has_lost_work)

    def _take_over(
        self,
        git: RepositoryGit,
        copy: WorkingCopy,
        own: WorktreeRecord | None,
        planned: WorktreeRecord,
        last: CardWorktree,
    ) -> WorktreeRecord | None:
        """Continue in a card's last worktree, if another machine created it in a folder that both machines share.

        Its branch is renamed, so that the other machine no longer regards the worktree as its own. Returns None if it
        is not here.
        """
        if not self._is_whole(git, planned, copy):
            return None
        there = git.at(planned.path)
        branch = branch_at(there)
        is_own = own is not None and own.branch == branch
        if is_own or branch.rpartition("-")[0] != planned.branch.rpartition("-")[0]:
            return None
        record = structs.replace(planned, base=last.base, stage="ready")
        self.records.write(record)
        there.run("branch", "--move", branch, record.branch)
        return record

    def _planned(
        self, board: str, card_id: str, folder: str, copy: WorkingCopy, start: tuple[str, str]
    ) -> WorktreeRecord:
        """Return the record for a new worktree that starts at a commit of a branch."""
        source, token = os.path.realpath(folder), os.urandom(3).hex()
        path = str(self._folder() / f"{os.path.basename(copy.top)}-{board}-{card_id}-{token}")
        inside = os.path.normpath(os.path.join(path, os.path.relpath(source, copy.top)))
        branch = BRANCH.format(board=board, card=card_id, token=token)
        return WorktreeRecord(board, card_id, source, path, inside, branch, *start)

    def _started(self, planned: WorktreeRecord) -> WorktreeRecord:
        """Store the record of a new worktree. Raises WorkspaceError if something else is in its folder."""
        if os.path.isdir(planned.path) and os.listdir(planned.path):
            raise WorkspaceError(OCCUPIED.format(folder=planned.path, card=planned.card_id))
        self.records.write(planned)
        return planned

    def _create(self, git: RepositoryGit, record: WorktreeRecord) -> WorktreeRecord:
        record = structs.replace(record, stage="creating")
        self.records.write(record)
        discard_worktree(git, record.path)
        add_worktree(git, record.path, record.branch, record.base)
        record = structs.replace(record, stage="ready")
        self.records.write(record)
        return record

    def _end_merge(self, git: RepositoryGit, record: WorktreeRecord) -> WorktreeRecord:
        """Let the work on a card continue after its merge was finished or interrupted."""
        if record.tip:
            git_dir = git.run("rev-parse", "--absolute-git-dir").strip()
            remove_stale_locks(git_dir)
            restore_tip(git, record, git_dir)
        record = structs.replace(record, stage="ready", tip="")
        self.records.write(record)
        return record

    def _is_whole(self, git: RepositoryGit, record: WorktreeRecord, copy: WorkingCopy) -> bool:
        """Return whether a worktree still belongs to its repository."""
        if not os.path.isdir(record.path):
            return False
        own = git.at(record.path).try_run("rev-parse", "--path-format=absolute", "--git-common-dir")
        return os.path.realpath((own or "").strip()) == copy.common_dir

    def _remove(self, board: str, card_id: str, lock: int) -> None:
        record = self.records.read(board, card_id)
        if record is None or record.stage == "kept":
            return
        self._carry_trust("", record.folder)
        found = self.git_for(record.source, lock) if os.path.isdir(record.source) else None
        if found is None:
            self.records.forget(record)
            return
        git, copy = found
        if record.stage not in ("creating", "merged") and self._is_whole(git, record, copy):
            self._keep_work(git.at(record.path), record)
        discard_worktree(git, record.path)
        tip = commit_of(git, BRANCHES + record.branch)
        target = commit_of(git, BRANCHES + record.target) if record.target else ""
        if tip and not is_within(git, tip, target or record.base):
            self.records.write(structs.replace(record, stage="kept", tip="", conflicts=()))
            return
        if tip:
            git.run("update-ref", "-d", BRANCHES + record.branch, tip)
        git.try_run("update-ref", "-d", earlier_work_of(record))
        self.records.forget(record)

    def _keep_work(self, git: RepositoryGit, record: WorktreeRecord) -> None:
        """Commit the agent's uncommitted work, after restoring what a merge had changed."""
        git_dir = git.run("rev-parse", "--absolute-git-dir").strip()
        remove_stale_locks(git_dir)
        if record.tip:
            restore_tip(git, record, git_dir)
        elif not unfinished_operation(git_dir):
            commit_all(git, UNFINISHED.format(card=record.card_id, board=record.board))


def _in_folder_of(last: CardWorktree, planned: WorktreeRecord) -> WorktreeRecord:
    """Return the plan with the folder of a worktree on another machine: a card's session is bound to its folder."""
    inside = os.path.relpath(planned.folder, planned.path)
    path = last.folder if inside == "." else last.folder.removesuffix(f"{os.sep}{inside}")
    return structs.replace(planned, path=path, folder=last.folder, taken_from=last.branch)


def earlier_work_of(record: WorktreeRecord) -> str:
    """Return the reference that keeps a card's original commits after a conflict, when they are squashed."""
    return f"refs/hermes-acp/{record.branch.rpartition('/')[2]}"


def restore_tip(git: RepositoryGit, record: WorktreeRecord, git_dir: str) -> None:
    """Restore a card's worktree to its state before the merge. Raises GitFailed."""
    if is_rebasing(git_dir):
        git.run("rebase", "--quit")
    git.run("symbolic-ref", "HEAD", BRANCHES + record.branch)
    git.run("update-ref", BRANCHES + record.branch, record.tip)
    reset_to(git, record.tip)
