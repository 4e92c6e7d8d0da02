"""Merge the branches of accepted cards in the background, and remove worktrees that are no longer needed."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final

import anyio.abc

from hermes_acp.core.errors import HermesError, StorageError
from hermes_acp.core.ports.boards.board_ports import Worktrees
from hermes_acp.core.ports.boards.card_events import BranchNoted, CardEvent, CardMoved, Draft
from hermes_acp.core.ports.boards.cards import ENGINE, Actor, Card
from hermes_acp.core.ports.boards.merge_ports import Merged, MergeQueue, MergeRequest, NotMerged
from hermes_acp.runs.board.board_fold import Board
from hermes_acp.runs.board.board_messages import sent_back_too_often
from hermes_acp.runs.board.board_service import BoardService

MERGE: Final = Actor("check", "merge")
MAX_ATTEMPTS: Final = 6
"""The number of attempts after which a card whose branch cannot be merged waits for a person instead of its agent."""
Work = Callable[[], Awaitable[None]]
Place = tuple[str, str]


class CardMerges:
    """The merges and removals of one process.

    All are idempotent, and other processes may carry out the same ones concurrently.
    """

    def __init__(self, boards: BoardService, queue: MergeQueue, worktrees: Worktrees) -> None:
        self._boards = boards
        self._queue = queue
        self._worktrees = worktrees
        self._busy: set[Place] = set()
        self._failed: dict[Place, str] = {}

    @property
    def has_failed(self) -> bool:
        """Whether something failed and should be retried later."""
        return bool(self._failed)

    async def begin(
        self, name: str, board: Board, tasks: anyio.abc.TaskGroup, ended: Callable[[], None]
    ) -> None:
        """Start the merges and removals that a board needs now. `ended` is called after each of them.

        Raises StorageError.
        """
        held = await self._worktrees.held(name)
        for card in board.cards.values():
            if card.state == "merging" and not self._is_elsewhere(card, held):
                self._start(tasks, (name, card.id), partial(self._merge, name, card), ended)
        for card_id in held:
            card = board.cards.get(card_id)
            if card is None or card.state == "done":
                self._start(tasks, (name, card_id), partial(self._remove, name, card_id), ended)

    def _is_elsewhere(self, card: Card, held: Mapping[str, str]) -> bool:
        """Return whether another machine has a card's branch and so will merge it."""
        branch = card.attempt.branch if card.attempt else ""
        return self._boards.logs.is_shared and bool(branch) and held.get(card.id) != branch

    def _start(self, tasks: anyio.abc.TaskGroup, place: Place, work: Work, ended: Callable[[], None]) -> None:
        if place not in self._busy:
            self._busy.add(place)
            tasks.start_soon(self._run, place, work, ended)

    async def _run(self, place: Place, work: Work, ended: Callable[[], None]) -> None:
        try:
            await work()
        except HermesError as error:
            await self._note_failure(place, error)
        else:
            self._failed.pop(place, None)
            ended()
        finally:
            self._busy.discard(place)

    async def _merge(self, name: str, card: Card) -> None:
        attempt, work = card.attempt, card.work
        assert attempt, "a card must have an attempt to be merged"
        outcome = await self._queue.merge(
            MergeRequest(
                name,
                card.id,
                card.title,
                work.folder,
                attempt.folder,
                attempt.branch,
                attempt.base,
                work.checks,
            )
        )
        await self._append(name, card.id, lambda now: merge_entries(now, outcome))

    async def _remove(self, name: str, card_id: str) -> None:
        """Remove a card's worktree, so that the next attempt starts from scratch."""

        async def is_wanted() -> bool:
            card = (await self._boards.board(name)).cards.get(card_id)
            return card is not None and card.state != "done"

        await self._worktrees.remove(name, card_id, is_wanted)
        await self._append(name, card_id, _without_folder)

    async def _append(self, name: str, card_id: str, decide: Callable[[Card], Sequence[CardEvent]]) -> None:
        """Append the entries decided on for the current state of a card. Raises StorageError."""
        while True:
            board = await self._boards.board(name)
            card = board.cards.get(card_id)
            events = decide(card) if card else ()
            if not events or await self._boards.append(
                name, board, [Draft(_writer(each), each) for each in events]
            ):
                return

    async def _note_failure(self, place: Place, error: HermesError) -> None:
        """Schedule a retry. On repeated failure, record the reason on the card, because another machine may succeed."""
        sentence = error.sentence()
        if self._failed.get(place) == sentence and not isinstance(error, StorageError):
            await self._append(*place, lambda card: _with_reason(card, sentence))
        self._failed[place] = sentence


def merge_entries(card: Card, outcome: Merged | NotMerged) -> tuple[CardEvent, ...]:
    """Return the entries for a card after its merge; empty if someone has moved the card since."""
    if card.state != "merging":
        return ()
    if isinstance(outcome, Merged):
        return (CardMoved(card.id, "done", outcome.sentence),)
    if card.attempt and card.attempt.number >= MAX_ATTEMPTS:
        return (CardMoved(card.id, "parked", sent_back_too_often(outcome.sentence), words=outcome.words),)
    return (CardMoved(card.id, "ready", outcome.sentence, words=outcome.words),)


def _with_reason(card: Card, sentence: str) -> tuple[CardEvent, ...]:
    if card.state != "merging" or card.notes.reason == sentence:
        return ()
    return (CardMoved(card.id, "merging", sentence),)


def _without_folder(card: Card) -> tuple[CardEvent, ...]:
    attempt = card.attempt
    if card.state != "done" or attempt is None or not attempt.folder:
        return ()
    return (BranchNoted(card.id, "", attempt.branch, attempt.base, attempt.machine),)


def _writer(event: CardEvent) -> Actor:
    return MERGE if isinstance(event, CardMoved) else ENGINE
