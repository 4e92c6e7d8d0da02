"""The boards of a profile, as used by frontends, tools and the coordinator."""

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.boards.board_ports import BoardLogs
from hermes_acp.core.ports.boards.board_views import BoardChanges, BoardView, CardView
from hermes_acp.core.ports.boards.card_actions import AddCard, AnswerCard, CardAction
from hermes_acp.core.ports.boards.card_events import CardEvent, Draft, LogEntry
from hermes_acp.core.ports.boards.cards import DEFAULT_BOARD, Actor, CardState
from hermes_acp.core.ports.run_ports import RunView
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.runs.board.board_fold import Board
from hermes_acp.runs.board.board_messages import NO_WORKER, PARK_THEM, in_use, nothing_asked
from hermes_acp.runs.board.board_reading import changes_after, listed, overview, view_of
from hermes_acp.runs.board.board_rules import events_of, known
from hermes_acp.runs.board.board_store import BoardStore
from hermes_acp.runs.open_questions import OpenQuestion, answer_from_text
from hermes_acp.runs.run_service import RunService

MAX_NAMED: Final = 5


class CardDetails(Struct, frozen=True):
    """A card with its run, its open questions and its history."""

    view: CardView
    run: RunView | None = None
    questions: tuple[OpenQuestion, ...] = ()
    history: tuple[LogEntry, ...] = ()


class BoardService:
    """Reads boards, and changes them by means of actions."""

    def __init__(
        self, logs: BoardLogs, runs: RunService, clock: Clock, snapshots: Callable[[str], Path | None]
    ) -> None:
        """Store the arguments; nothing is read yet.

        `snapshots` returns where a board's snapshot is stored, if anywhere.
        """
        self.logs = logs
        self.runs = runs
        self._clock = clock
        self._snapshots = snapshots
        self._stores: dict[str, BoardStore] = {}

    async def names(self) -> Sequence[str]:
        """Return the names of all boards, sorted. The default board always exists."""
        return sorted({DEFAULT_BOARD, *await self.logs.names()})

    async def create(self, name: str) -> bool:
        """Create a board; return False if it already exists. Raises BadRequest or StorageError."""
        return await self.logs.create(name)

    async def remove(self, name: str) -> None:
        """Remove a board and archive its files. Raises BadRequest or StorageError."""
        board = await self.board(name)
        busy = [card.id for card in board.cards.values() if card.attempt and card.attempt.is_open]
        if busy:
            raise BadRequest(in_use(name, busy[:MAX_NAMED]), hint=PARK_THEM)
        await self.logs.remove(name)
        self._stores.pop(name, None)

    async def board(self, name: str) -> Board:
        """Return the current state of a board. Raises BadRequest or StorageError."""
        if name == DEFAULT_BOARD and name not in self._stores and name not in await self.logs.names():
            return Board()
        return await self._store(name).current()

    async def overview(self, name: str) -> BoardView:
        """Return a board's limits and the number of cards in each state. Raises BadRequest or StorageError."""
        board = await self.board(name)
        return await self._checked(board, overview(board, name))

    async def list(self, name: str, states: Collection[CardState] = ()) -> Sequence[CardView]:
        """List cards, starting with those that wait for a person. Raises BadRequest or StorageError."""
        return listed(await self.board(name), states)

    async def view(self, name: str, card_id: str) -> CardView:
        """Return a card. Raises BadRequest or StorageError."""
        board = await self.board(name)
        return view_of(board, known(board, card_id))

    async def answer(self, name: str, card_id: str, words: str, by: Actor, call_id: str = "") -> None:
        """Answer a card's open question with `allow`, `deny` or text. Raises BadRequest or StorageError."""
        answer, text = answer_from_text((await self.show(name, card_id)).questions, words)
        await self.act(name, AnswerCard(card_id, answer, text, call_id), by)

    async def show(self, name: str, card_id: str) -> CardDetails:
        """Return a card with its run, its open questions and its history. Raises BadRequest or StorageError."""
        board = await self.board(name)
        card = known(board, card_id)
        entries = await self._store(name).entries(0)
        history = tuple(each for each in entries if getattr(each.event, "card_id", "") == card_id)
        run = None
        if card.attempt and card.attempt.run_id:
            run = await self.runs.engine.show(card.attempt.run_id)
        questions = await self.runs.records.questions_of(run) if run else ()
        return CardDetails(view_of(board, card), run, questions, history)

    async def changes(self, name: str, after: int = 0) -> BoardChanges:
        """Return the cards that changed after a cursor. Raises BadRequest or StorageError."""
        board = await self.board(name)
        changes = changes_after(board, name, after)
        return structs.replace(changes, board=await self._checked(board, changes.board))

    @asynccontextmanager
    async def watch(
        self, name: str, after: int | None = None
    ) -> AsyncGenerator[AsyncGenerator[BoardChanges]]:
        """Follow a board after a cursor, or from now on. Raises BadRequest or StorageError."""
        if name == DEFAULT_BOARD:
            await self.logs.create(name)
        cursor = (await self.board(name)).number if after is None else after
        changes = self._follow(name, cursor)
        try:
            yield changes
        finally:
            await changes.aclose()

    async def act(self, name: str, action: CardAction, by: Actor) -> BoardChanges:
        """Carry out an action and return the changes, starting with the action's own card.

        Raises BadRequest or StorageError.
        """
        if isinstance(action, AnswerCard):
            await self._answer(name, action, by)
        elif isinstance(action, AddCard) and name == DEFAULT_BOARD:
            await self.logs.create(name)
        while True:
            board = await self.board(name)
            events = events_of(board, action, by)
            if not events:
                card = board.cards.get(getattr(action, "card_id", ""))
                cards = (view_of(board, card),) if card else ()
                return BoardChanges(overview(board, name), cards)
            after = await self.append(name, board, [Draft(by, event) for event in events])
            if after:
                return _changes(changes_after(after, name, board.number), events)

    async def append(self, name: str, board: Board, drafts: Sequence[Draft]) -> Board | None:
        """Append entries to a board in the state in which it was read; return None if it has changed since.

        Raises StorageError.
        """
        return await self._store(name).append(board, drafts, self._clock.now())

    async def aclose(self) -> None:
        """Close the connections to shared boards."""
        await self.logs.aclose()

    async def _answer(self, name: str, action: AnswerCard, by: Actor) -> None:
        """Pass an answer to the card's run, then append it to the log."""
        board = await self.board(name)
        card = known(board, action.card_id)
        events_of(board, action, by)
        if card.attempt is None or not card.attempt.run_id:
            raise BadRequest(nothing_asked(card.id))
        await self.runs.answer(
            card.attempt.run_id, action.answer, action.text, by=by.name, call_id=action.call_id
        )

    async def _follow(self, name: str, cursor: int) -> AsyncGenerator[BoardChanges]:
        log = self._store(name).log
        while True:
            await log.wait(cursor)
            changes = await self.changes(name, cursor)
            if changes.board.cursor > cursor:
                cursor = changes.board.cursor
                yield changes

    async def _checked(self, board: Board, view: BoardView) -> BoardView:
        """Return the view of a board, with a note if no process works on its ready cards. Raises StorageError."""
        if view.halted or not view.counts.get("ready"):
            return view
        ready = (card for card in board.cards.values() if card.state == "ready")
        places = {card.work.place or board.settings.place for card in ready}
        for place in sorted(places):
            if await self.runs.engine.has_worker(place):
                return view
        return structs.replace(view, halted=NO_WORKER)

    def _store(self, name: str) -> BoardStore:
        if name not in self._stores:
            self._stores[name] = BoardStore(self.logs.open(name), self._snapshots(name))
        return self._stores[name]


def _changes(changes: BoardChanges, events: Sequence[CardEvent]) -> BoardChanges:
    """Return the changes, starting with the card that the events are about."""
    card_id = getattr(events[0], "card_id", "")
    ordered = sorted(changes.cards, key=lambda view: view.card.id != card_id)
    return BoardChanges(changes.board, tuple(ordered), changes.removed)
