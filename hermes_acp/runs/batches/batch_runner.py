"""Run a batch: start a run for each line, a few at a time, and append each result when its run ends.

Runs and results are the only state, and both have deterministic names. So a batch can be interrupted at any moment and
resumed where it stopped: an existing run is not started again, and a result in the file is not appended again.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, Protocol

import anyio
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.run_ports import ENDED, RunBudget, RunFilter, RunView
from hermes_acp.runs.batches.batch_budget import BudgetShares
from hermes_acp.runs.batches.batch_lines import BatchLine
from hermes_acp.runs.batches.batch_results import LineResult, ResultsFile, ResultStatus, latest
from hermes_acp.runs.batches.batch_store import Batch
from hermes_acp.runs.batches.model_text import NOBODY_IS_THERE
from hermes_acp.runs.run_service import RunRequest, RunService

POLL_INTERVAL_S: Final = 2.0
MAX_KNOWN: Final = 1_000_000
Questions = Literal["wait", "decline"]


class BatchOptions(Struct, frozen=True):
    """Options for a batch.

    `concurrency` is how many lines run at once. `is_local` means that this process works on them even if another
    process works on runs, `retries_failed` that failed lines are retried; `questions` says how questions are handled.
    """

    concurrency: int = 4
    is_local: bool = False
    retries_failed: bool = False
    questions: Questions = "wait"


class BatchEnd(Struct, frozen=True):
    """The state of a batch when its process ends.

    `waiting` lists runs with open questions; `not_started` is the number of lines that were not started.
    """

    results: Mapping[str, LineResult]
    waiting: Sequence[str] = ()
    not_started: int = 0
    was_stopped: bool = False
    budget_used_up: bool = False


class BatchReport(Protocol):
    """Shows a batch's progress."""

    def ended(self, result: LineResult) -> None:
        """Show the result of a line."""
        ...

    def waits(self, line_id: str, run: RunView) -> None:
        """Report that a line has an open question."""
        ...


class BatchRunner:
    """Runs one batch in one process."""

    def __init__(
        self,
        service: RunService,
        batch: Batch,
        results: ResultsFile,
        must_stop: Callable[[], bool],
        report: BatchReport,
        options: BatchOptions,
    ) -> None:
        """Store the arguments. The caller must hold the batch's lock."""
        self._service = service
        self._batch = batch
        self._file = results
        self._must_stop = must_stop
        self._report = report
        self._options = options
        self._results = list(results.results)
        spent = [each.cost_usd or 0.0 for each in self._results]
        tokens = sum(each.tokens for each in self._results)
        self._shares = BudgetShares(batch.budget, tokens=tokens, cost_usd=sum(spent))
        self._to_do: deque[tuple[BatchLine, int]] = deque()
        self._known: dict[str, RunView] = {}
        self._waiting: dict[str, str] = {}
        self._busy = 0
        self._was_stopped = False
        self._changed: dict[str, anyio.Event] = {}
        self._freed = anyio.Event()

    async def run(self, lines: Sequence[BatchLine]) -> BatchEnd:
        """Run until every line has a result or waits for a person. Raises BadRequest or StorageError."""
        runs = await self._service.engine.list(RunFilter(origin=self._batch.origin, limit=MAX_KNOWN))
        self._known = {each.order.id: each for each in runs if each.order.origin == self._batch.origin}
        self._to_do.extend(sorted(self._attempts(lines), key=self._urgency))
        for line, attempt in self._to_do:
            if run := self._known.get(self._batch.run_id(line.id, attempt)):
                self._shares.keep(run.order.id, run.order.budget)
        async with background_tasks(self._follow), anyio.create_task_group() as seats:
            for _ in range(min(self._options.concurrency, len(self._to_do))):
                seats.start_soon(self._work)
        self._was_stopped = self._was_stopped or await run_sync(self._must_stop)
        return BatchEnd(
            latest(self._results),
            tuple(self._waiting.values()),
            len(self._to_do),
            self._was_stopped,
            bool(self._to_do) and not self._was_stopped,
        )

    def _attempts(self, lines: Sequence[BatchLine]) -> Iterator[tuple[BatchLine, int]]:
        """Yield the lines to run, each with the number of its attempt."""
        ended = latest(self._results)
        for line in lines:
            result = ended.get(line.id)
            attempt = result.attempt + 1 if result else 1
            must_retry = result is None or (self._options.retries_failed and result.status != "done")
            if must_retry or self._batch.run_id(line.id, attempt) in self._known:
                yield line, attempt

    def _urgency(self, attempt: tuple[BatchLine, int]) -> tuple[int, int]:
        """Return the sort key of an attempt: ended ones without a result first, then started ones, then by priority."""
        line, number = attempt
        run = self._known.get(self._batch.run_id(line.id, number))
        if run is None:
            return (2, line.priority)
        return (0 if run.state in (*ENDED, "parked") else 1, line.priority)

    async def _work(self) -> None:
        """Run one line after another."""
        while self._to_do:
            if self._was_stopped or await run_sync(self._must_stop):
                self._was_stopped = True
                return
            line, attempt = self._to_do.popleft()
            self._busy += 1
            try:
                run = await self._started(line, attempt)
                if run is None:
                    self._to_do.appendleft((line, attempt))
                    if not await self._wait_for_budget():
                        return
                else:
                    await self._finish(line, attempt, run)
            finally:
                self._busy -= 1
                self._freed.set()
                self._freed = anyio.Event()

    async def _wait_for_budget(self) -> bool:
        """Wait until a line has ended. Return False if no other line is running."""
        self._busy -= 1
        try:
            if self._busy == 0 or self._shares.is_used_up:
                return False
            await self._freed.wait()
            return True
        finally:
            self._busy += 1

    async def _started(self, line: BatchLine, attempt: int) -> RunView | None:
        """Return the run for an attempt, starting it if necessary, or None if the budget does not allow it."""
        run_id = self._batch.run_id(line.id, attempt)
        if known := self._known.get(run_id):
            return known
        seats = min(self._options.concurrency - self._busy + 1, len(self._to_do) + 1)
        budget = self._shares.reserve_share(run_id, line.budget, max(1, seats))
        if budget is None:
            return None
        view = await self._service.start(self._wish(line, run_id, budget))
        if await run_sync(self._must_stop):
            view = await self._stopped(view)
        return view

    def _wish(self, line: BatchLine, run_id: str, budget: RunBudget) -> RunRequest:
        return RunRequest(
            line.prompt,
            line.workspace,
            id=run_id,
            mode=line.mode,
            backend=line.backend,
            model=line.model,
            budget=budget,
            priority=line.priority,
            origin=self._batch.origin,
        )

    async def _stopped(self, run: RunView) -> RunView:
        """Stop a run that was started while the batch was being stopped."""
        try:
            return await self._service.engine.stop(run.order.id)
        except BadRequest:
            return run

    async def _finish(self, line: BatchLine, attempt: int, run: RunView) -> None:
        """Work on a run until it ends, and append its result; a run that waits for a person is left alone."""
        run_id = run.order.id
        while run.state not in (*ENDED, "parked"):
            if run.state != "input_required":
                await self._drive(run_id)
            elif self._options.questions == "decline" and await self._service.records.questions_of(run):
                await self._decline(run)
            else:
                self._waiting[line.id] = run_id
                self._report.waits(line.id, run)
                return
            run = await self._service.known(run_id)
        result = await self._result(line, attempt, run)
        await run_sync(self._file.append, result)
        self._results.append(result)
        self._shares.settle(run_id, result.tokens, result.cost_usd)
        self._report.ended(result)

    async def _drive(self, run_id: str) -> None:
        """Work on a run in this process or, if another process works on it, wait for a change."""
        engine = self._service.engine
        if self._options.is_local or not await engine.has_worker():
            await self._service.work(only=run_id)
            return
        changed = self._changed.setdefault(run_id, anyio.Event())
        if (await self._service.known(run_id)).state in ("queued", "running"):
            with anyio.move_on_after(POLL_INTERVAL_S):
                await changed.wait()
        self._changed.pop(run_id, None)

    async def _decline(self, run: RunView) -> None:
        """Refuse a run's first question, because nobody is present.

        The run asks its other questions again.
        """
        question = (await self._service.records.questions_of(run))[0]
        await self._service.answer(
            run.order.id, "reject_once", NOBODY_IS_THERE, by="batch", call_id=question.card.call_id
        )

    async def _follow(self) -> None:
        """Notify waiting tasks when their run changes."""
        async with self._service.engine.watch() as changes:
            async for change in changes:
                if waiting := self._changed.get(change.run_id):
                    waiting.set()

    async def _result(self, line: BatchLine, attempt: int, run: RunView) -> LineResult:
        history = await self._service.records.history_of(run)
        status: ResultStatus = "done" if run.state == "done" else "failed"
        if run.state == "stopped":
            status = "stopped"
        return LineResult(
            id=line.id,
            attempt=attempt,
            status=status,
            answer=await self._service.records.answer_of(run),
            failure="crashed" if run.state == "parked" else run.failure,
            error=run.sentence if status == "failed" else "",
            tokens=history.tokens,
            cost_usd=history.cost_usd if history.is_priced else None,
            seconds=round(run.updated_at - run.started_at, 3) if run.started_at else 0.0,
            interruptions=history.interruptions,
            session_id=run.order.session_id,
            run_id=run.order.id,
            metadata=line.metadata,
        )
