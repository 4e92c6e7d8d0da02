"""Coordinate boards: start runs for ready cards, update cards from their runs, and merge accepted work.

Any number of processes may coordinate the same boards. Each decision is based on the state of a board when it was read,
and is discarded if the board has changed since. Starting a run, merging and removing a worktree are all idempotent.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

import anyio
import anyio.abc

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import BadRequest, HermesError, StorageError
from hermes_acp.core.ports.boards.card_events import CardEvent, Draft
from hermes_acp.core.ports.boards.cards import ENGINE, ORIGIN, Card, Spending, card_of_run
from hermes_acp.core.ports.run_ports import RunView
from hermes_acp.core.ports.runtime_ports import Ids
from hermes_acp.runs.board import board_decisions as decisions
from hermes_acp.runs.board.board_fold import Board
from hermes_acp.runs.board.board_service import BoardService
from hermes_acp.runs.board.card_file_sync import CardFileSync
from hermes_acp.runs.board.card_merges import CardMerges
from hermes_acp.runs.board.card_prompts import attempt_prompt, foreign_sources
from hermes_acp.runs.run_service import RunRequest, RunService

RETRY_S: Final = 5.0


class BoardCoordinator:
    """Coordinates the boards of a home folder, or only those named."""

    def __init__(
        self,
        boards: BoardService,
        merges: CardMerges,
        files: CardFileSync,
        ids: Ids,
        only: Collection[str] = (),
    ) -> None:
        self._boards = boards
        self._runs: RunService = boards.runs
        self._merges = merges
        self._files = files
        self._ids = ids
        self._only = frozenset(only)
        self._has_news = anyio.Event()
        self._ignored: tuple[str, ...] = ()
        self._views: dict[str, RunView] = {}

    async def keep(self) -> None:
        """Coordinate until cancelled, retrying failed reads and writes."""
        async with background_tasks(self._follow_runs), anyio.create_task_group() as merging:
            while True:
                self._has_news = anyio.Event()
                try:
                    known = await self._coordinate_all(merging)
                except StorageError:
                    await anyio.sleep(RETRY_S)
                    continue
                await self._wait(known)

    async def settle(self) -> None:
        """Carry out everything that can be done now, including merges. Raises StorageError."""
        async with anyio.create_task_group() as merging:
            await self._coordinate_all(merging)

    async def _coordinate_all(self, merging: anyio.abc.TaskGroup) -> dict[str, int]:
        """Update all boards, and return the number of the last entry read from each."""
        names = await self._boards.logs.names()
        self._ignored = tuple(name for name in names if self._only and name not in self._only)
        return {name: await self._coordinate(name, merging) for name in names if name not in self._ignored}

    async def _wait(self, known: Mapping[str, int]) -> None:
        """Wait until there may be something to do."""

        async def follow_boards() -> None:
            try:
                await self._boards.logs.wait(known, self._ignored)
            except StorageError:
                await anyio.sleep(RETRY_S)
            self._has_news.set()

        async def follow_files() -> None:
            await self._files.edited(known)
            self._has_news.set()

        async with background_tasks(follow_boards, follow_files):
            with anyio.move_on_after(RETRY_S if self._merges.has_failed else None):
                await self._has_news.wait()

    async def _follow_runs(self) -> None:
        """Discard cached reports about runs that change."""
        while True:
            with suppress(StorageError):
                async with self._runs.engine.watch() as changes:
                    self._views.clear()
                    self._has_news.set()
                    async for change in changes:
                        if card_of_run(change.run_id):
                            self._views.pop(change.run_id, None)
                            self._has_news.set()
            await anyio.sleep(RETRY_S)

    async def _coordinate(self, name: str, merging: anyio.abc.TaskGroup) -> int:
        """Update a board and its files. Raises StorageError."""
        await self._files.sync(name)
        has_changed = False
        while True:
            board = await self._boards.board(name)
            runs = await self._runs_of(board)
            for run_id in decisions.runs_to_stop(board, runs):
                await self._stop(run_id)
            events = [
                event
                for card in decisions.unstarted(board, runs)
                for event in await self._start(name, board, card)
            ]
            events = events or await self._events(name, board, runs)
            if not events:
                break
            await self._boards.append(name, board, [Draft(ENGINE, event) for event in events])
            has_changed = True
        await self._merges.begin(name, board, merging, self._tell)
        if has_changed:
            await self._files.sync(name)
        return board.number

    def _tell(self) -> None:
        self._has_news.set()

    async def _stop(self, run_id: str) -> None:
        with suppress(BadRequest):  # it has ended in the meantime
            await self._runs.engine.stop(run_id)
        self._views.pop(run_id, None)

    async def _runs_of(self, board: Board) -> Mapping[str, RunView]:
        """Return those runs of all open attempts that the engine knows."""
        removed = (each.card for each in board.removed.values())
        wanted = [
            run_id for card in (*board.cards.values(), *removed) if (run_id := decisions.open_run_id(card))
        ]
        for run_id in wanted:
            if run_id not in self._views and (view := await self._runs.engine.show(run_id)):
                self._views[run_id] = view
        return {run_id: self._views[run_id] for run_id in wanted if run_id in self._views}

    async def _events(self, name: str, board: Board, runs: Mapping[str, RunView]) -> list[CardEvent]:
        """Return the entries to append to a board now. Raises StorageError."""
        events = decisions.never_started(board, runs)
        for card in board.cards.values():
            run = runs.get(decisions.open_run_id(card))
            if run and decisions.has_news(card, run):
                events += decisions.report_entries(card, await self._report(run))
        if events:
            return events
        return decisions.starts(board, name, partial(self._ids.fresh, "ses"), self._runs.now())

    async def _report(self, run: RunView) -> decisions.RunReport:
        """Build a report about a run from the engine and the session's record. Raises StorageError."""
        history = await self._runs.records.history_of(run)
        questions = await self._runs.records.questions_of(run)
        asked = questions[0] if questions else None
        question = ""
        if asked:
            question = asked.asks.question if asked.is_for_text else asked.card.title
        answer = await self._runs.records.answer_of(run) if run.state == "done" else ""
        spent = Spending(history.tokens, history.cost_usd)
        return decisions.RunReport(run.state, run.sentence, question, answer, spent)

    async def _start(self, name: str, board: Board, card: Card) -> tuple[CardEvent, ...]:
        """Start the run for a card's attempt; idempotent. Return the entries to append if it cannot be started."""
        attempt, work = card.attempt, card.work
        assert attempt, "an attempt must have been decided"
        request = RunRequest(
            attempt_prompt(board, name, card),
            work.folder,
            id=attempt.run_id,
            session_id=attempt.session_id,
            mode=work.mode,
            backend=work.backend,
            model=work.model,
            budget=work.budget,
            priority=work.priority,
            origin=f"{ORIGIN}{name}",
            place=work.place or board.settings.place,
        )
        try:
            self._views[attempt.run_id] = await self._runs.start(request, foreign_sources(board, name, card))
        except StorageError:
            raise
        except HermesError as error:
            return decisions.report_entries(card, decisions.RunReport("failed", error.sentence()))
        return ()
