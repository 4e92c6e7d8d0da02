"""The merge queue of a home folder: one merge at a time in each repository; every merge is idempotent."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from anyio.to_thread import run_sync
from msgspec import Struct, structs

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.boards.merge_ports import Merged, MergeRequest, NotMerged
from hermes_acp.git.linked_worktrees import reset_to
from hermes_acp.git.repository_git import RepositoryGit
from hermes_acp.runs.merging import merge_messages as words
from hermes_acp.runs.merging.forwarding import forward
from hermes_acp.runs.merging.rebasing import Candidate, Rebase
from hermes_acp.runs.worktrees.card_worktrees import CardWorktrees
from hermes_acp.runs.worktrees.worktree_records import WorktreeRecord

MAX_ROUNDS: Final = 5


class CheckFailure(Struct, frozen=True):
    """A check that failed: its command, how it ended, and the end of its output."""

    command: str
    how: str
    output: str


class Checks(Protocol):
    """Runs the checks of repositories."""

    async def run(self, repository: str, worktree: str, commands: Sequence[str]) -> CheckFailure | None:
        """Run a repository's own checks and these commands in a worktree, stopping at the first failure.

        Raises WorkspaceError if they cannot be run as required.
        """
        ...


class RepositoryMergeQueue:
    """Merges the branches of cards; implements `MergeQueue`."""

    def __init__(self, worktrees: CardWorktrees, checks: Checks) -> None:
        self._worktrees = worktrees
        self._checks = checks

    async def merge(self, request: MergeRequest) -> Merged | NotMerged:
        """Wait for the repository's queue, then merge. Raises WorkspaceError or StorageError."""
        records = self._worktrees.records
        if not request.branch:
            return Merged(sentence=words.NOTHING_TO_MERGE)
        record = records.read(request.board, request.card_id)
        found = await run_sync(self._worktrees.git_for, record.source, None) if record else None
        is_here = record and record.branch == request.branch and record.stage not in ("creating", "kept")
        if record is None or found is None or not is_here:
            raise WorkspaceError(words.NOT_HERE.format(card=request.card_id))
        if record.stage == "merged":
            return Merged(sentence=words.NOTHING_TO_MERGE)
        async with (
            records.lock_repository(found[1].common_dir) as repository_lock,
            records.lock_card(request.board, request.card_id) as card_lock,
        ):
            git = found[0].at(record.path, (repository_lock, card_lock))
            for _ in range(MAX_ROUNDS):
                if outcome := await self._round(git, request, found[1].top):
                    return outcome
        raise WorkspaceError(words.RACING.format(target=record.target))

    async def _round(
        self, git: RepositoryGit, request: MergeRequest, repository: str
    ) -> Merged | NotMerged | None:
        """Try to merge once; return None if the target has moved in the meantime."""
        records = self._worktrees.records

        def rebase() -> Candidate | Merged | NotMerged:
            record = records.read(request.board, request.card_id)
            if record is None:
                raise WorkspaceError(words.NOT_HERE.format(card=request.card_id))
            return Rebase(git, records, record, request).run()

        found = await run_sync(rebase)
        if not isinstance(found, Candidate):
            return found
        failure = await self._checks.run(repository, found.record.path, request.checks)
        await run_sync(reset_to, git, found.commit)
        if failure:
            self._note(found.record, "ready", base=found.target_commit)
            return _refused(failure, found.record.target)
        if not await run_sync(forward, git, found):
            return None
        self._note(found.record, "merged")
        if found.commit == found.target_commit:
            return Merged(found.commit, words.NOTHING_TO_MERGE)
        sentence = words.MERGED.format(target=found.record.target, commit=found.commit[:12])
        return Merged(found.commit, sentence)

    def _note(self, record: WorktreeRecord, stage: str, **changes: object) -> None:
        changed: Mapping[str, object] = {"stage": stage, "tip": "", "conflicts": (), **changes}
        self._worktrees.records.write(structs.replace(record, **changed))


def _refused(failure: CheckFailure, target: str) -> NotMerged:
    return NotMerged(
        words.CHECK_FAILED.format(command=failure.command, how=failure.how),
        words.CHECK_FAILED_WORDS.format(
            target=target, command=failure.command, how=failure.how, output=words.end_of(failure.output)
        ),
    )
