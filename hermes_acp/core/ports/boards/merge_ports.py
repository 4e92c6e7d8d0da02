"""The port that merges finished work on cards, with a queue for each repository."""

from typing import Protocol

from msgspec import Struct


class MergeRequest(Struct, frozen=True):
    """A request to merge the branch of a card, in the repository at `folder`.

    `worktree` is where the branch is checked out. `checks` lists commands that must succeed in addition to the
    repository's own.
    """

    board: str
    card_id: str
    title: str
    folder: str
    worktree: str
    branch: str
    base: str = ""
    checks: tuple[str, ...] = ()


class Merged(Struct, frozen=True, tag="merged"):
    """The branch was merged into the repository's main line, at this commit."""

    commit: str = ""
    sentence: str = ""


class NotMerged(Struct, frozen=True, tag="not_merged"):
    """Nothing was changed. `words` tells the agent what to fix: conflicts, or failed checks with their output."""

    sentence: str
    words: str = ""


class MergeQueue(Protocol):
    """Merges branches one at a time in each repository: rebase, checks, fast-forward."""

    async def merge(self, request: MergeRequest) -> Merged | NotMerged:
        """Wait for the repository's queue, then merge. Raises WorkspaceError if the merge cannot be attempted now.

        Idempotent, even after an interruption: a branch that has already been merged yields `Merged`. Several processes
        may request the same merge at once.
        """
        ...
