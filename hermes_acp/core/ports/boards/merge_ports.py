"""Merging the finished work of cards: a queue for each repository."""

from typing import Protocol

from msgspec import Struct


class MergeRequest(Struct, frozen=True):
    """A request to merge the branch of a card, in the repository at `folder`.

    `worktree` is where the branch is checked out. `checks` lists commands that must succeed, besides the repository's.
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
    """The branch is part of the repository's main line, at this commit."""

    commit: str = ""
    sentence: str = ""


class NotMerged(Struct, frozen=True, tag="not_merged"):
    """Nothing was changed. `words` tells the agent what to fix: conflicts, or failed checks with their output."""

    sentence: str
    words: str = ""


class MergeQueue(Protocol):
    """Merges branches one at a time in each repository: rebase, checks, fast-forward."""

    async def merge(self, request: MergeRequest) -> Merged | NotMerged:
        """Wait for the repository's turn and merge. Raises WorkspaceError if the merge cannot be attempted now.

        Repeatable after any interruption: a branch that is merged already is `Merged`. Several processes may ask for
        the same merge at once.
        """
        ...
