"""Work on the runs of cards in their worktrees, which are created on first use."""

import socket

from msgspec import structs

from hermes_acp.core.errors import BadRequest, HermesError, StorageError
from hermes_acp.core.ports.boards.board_ports import CardWorktree, Worktrees
from hermes_acp.core.ports.boards.card_actions import NoteBranch
from hermes_acp.core.ports.boards.cards import ENGINE, ORIGIN, Card, card_of_run
from hermes_acp.core.ports.run_ports import DriveOutcome, Driver, Failed, Lease, RunOrder
from hermes_acp.runs.board.board_decisions import open_run_id
from hermes_acp.runs.board.board_messages import NOT_WANTED
from hermes_acp.runs.board.board_service import BoardService
from hermes_acp.runs.board.card_prompts import moved_note


class CardDriver:
    """Works on the runs of cards in their worktrees, and on all other runs as usual."""

    def __init__(self, driver: Driver, boards: BoardService, worktrees: Worktrees) -> None:
        self._driver = driver
        self._boards = boards
        self._worktrees = worktrees

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        """Work on a run until it ends or is suspended."""
        place = card_of_run(order.id) if order.origin.startswith(ORIGIN) else None
        if place is None:
            return await self._driver.drive(order, lease)
        try:
            order = await self._placed(*place[:2], order)
        except StorageError as error:
            return Failed("storage", error.sentence())
        except HermesError as error:
            return Failed("usage", error.sentence())
        return await self._driver.drive(order, lease)

    async def _placed(self, board: str, card_id: str, order: RunOrder) -> RunOrder:
        """Return the order with the folder of its card. Raises BadRequest, WorkspaceError or StorageError."""
        card = (await self._boards.board(board)).cards.get(card_id)
        if card is None or not _is_wanted(card, order.id):
            raise BadRequest(NOT_WANTED)
        worktree = await self._worktree_of(board, card)
        await self._note(board, card, worktree)
        if worktree.has_lost_work and card.attempt:
            note = moved_note(card.attempt.branch, worktree)
            order = structs.replace(order, news=f"{order.news}\n{note}".strip())
        return structs.replace(order, cwd=worktree.folder)

    async def _worktree_of(self, board: str, card: Card) -> CardWorktree:
        if card.work.worktree == "same":
            return CardWorktree(card.work.folder)
        attempt = card.attempt
        assert attempt, "a run belongs to an attempt"
        last = CardWorktree(attempt.folder, attempt.branch, attempt.base) if attempt.folder else None
        return await self._worktrees.open(board, card.id, card.work.folder, last)

    async def _note(self, board: str, card: Card, worktree: CardWorktree) -> None:
        """Record on the board which worktree the card uses."""
        attempt = card.attempt
        assert attempt, "a run belongs to an attempt"
        machine = socket.gethostname() if self._boards.logs.is_shared else ""
        noted = (attempt.folder, attempt.branch, attempt.base, attempt.machine)
        if noted != (worktree.folder, worktree.branch, worktree.base, machine):
            action = NoteBranch(card.id, worktree.folder, worktree.branch, worktree.base, machine)
            await self._boards.act(board, action, ENGINE)


def _is_wanted(card: Card, run_id: str) -> bool:
    """Return whether a run should still work on the card."""
    return open_run_id(card) == run_id and not (card.attempt and card.attempt.is_withdrawn)
