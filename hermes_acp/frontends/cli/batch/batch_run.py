"""The `hermes-acp batch run` command: work on the prompts of a file until every line has a result."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.core.ports.run_ports import RunView
from hermes_acp.frontends.cli.batch import messages
from hermes_acp.frontends.cli.batch.batch_status import STATUSES, batch_document
from hermes_acp.frontends.cli.cli_output import escaped, note, print_json
from hermes_acp.runs.batches.batch_budget import BatchBudget
from hermes_acp.runs.batches.batch_lines import BatchLine, LineDefaults, read_lines
from hermes_acp.runs.batches.batch_results import LineResult, ResultsFile, total_cost_usd
from hermes_acp.runs.batches.batch_runner import BatchEnd, BatchOptions, BatchRunner
from hermes_acp.runs.batches.batch_store import BATCH_ID, Batch, BatchStore, default_batch_id
from hermes_acp.storage.private_files import unlock_and_close

if TYPE_CHECKING:
    from hermes_acp.app.app import App

MAX_NAMED = 5


def start_batch(options: argparse.Namespace, environment: Environment) -> int:
    """Run a batch and return the exit code. Raises BadRequest, Busy or StorageError."""
    prompts = Path(options.prompts).absolute()
    lines = read_lines(prompts, LineDefaults(prompts.parent, options.mode, options.model, options.backend))
    batch_id = options.id or default_batch_id(prompts)
    if not BATCH_ID.fullmatch(batch_id):
        raise BadRequest(messages.invalid_id(batch_id), hint=messages.ID_HINT)
    store = BatchStore(environment.home)
    lock = store.lock(batch_id)
    try:
        stored = store.load(batch_id)
        out = Path(options.out).absolute() if options.out else None
        if stored and out and str(out) != stored.results:
            raise BadRequest(messages.other_out(batch_id, stored.results), hint=messages.OUT_HINT)
        results = out or Path(stored.results if stored else prompts.with_suffix(".results.jsonl"))
        with ResultsFile(results) as file:
            return anyio.run(_work, options, environment, (store, stored, batch_id), lines, file)
    finally:
        unlock_and_close(lock)


async def _work(
    options: argparse.Namespace,
    environment: Environment,
    place: tuple[BatchStore, Batch | None, str],
    lines: Sequence[BatchLine],
    file: ResultsFile,
) -> int:
    from hermes_acp.app.app import App

    store, stored, batch_id = place
    app = App(environment)
    try:
        async with background_tasks(app.keep):
            batch = _batch(options, app, stored or Batch(batch_id, "", str(file.file), 0.0), lines)
            await _check_unchanged(app, stored, lines, file)
            store.save(batch)
            store.ask_to_stop(batch_id, is_asked=False)
            ended = len({each.id for each in file.results})
            if not options.quiet:
                note(escaped(messages.starts(batch_id, len(lines), ended, str(file.file))))
            end = await _Progress(app, batch, store, len(lines), is_quiet=options.quiet).run(
                options, lines, file
            )
            if options.json:
                print_json(await batch_document(app.run_service, store, batch))
            return _report(batch, end, is_quiet=options.quiet)
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


def _batch(options: argparse.Namespace, app: "App", batch: Batch, lines: Sequence[BatchLine]) -> Batch:
    """Return the batch with the limits from the flags; other limits stay unchanged."""
    budget = BatchBudget(
        options.max_tokens or batch.budget.max_tokens, options.max_cost or batch.budget.max_cost_usd
    )
    return structs.replace(
        batch,
        prompts=str(Path(options.prompts).absolute()),
        created_at=batch.created_at or app.run_service.now(),
        lines={each.id: each.digest() for each in lines},
        budget=budget,
    )


async def _check_unchanged(
    app: "App", stored: Batch | None, lines: Sequence[BatchLine], file: ResultsFile
) -> None:
    """Raise BadRequest if the results belong to another batch, or if a line that was already started has changed."""
    batch_id = stored.id if stored else ""
    foreign = next((each for each in file.results if each.run_id.partition(":")[0] != batch_id), None)
    if foreign:
        message = messages.other_results(str(file.file), foreign.run_id)
        raise BadRequest(message, hint=messages.OTHER_RESULTS_HINT)
    if stored is None:
        return
    ended = {each.id for each in file.results}
    changed: list[str] = []
    for line in lines:
        if stored.lines.get(line.id, line.digest()) == line.digest():
            continue
        if line.id in ended or await app.run_service.engine.show(stored.run_id(line.id, 1)):
            changed.append(line.id)
    if changed:
        named = ", ".join(changed[:MAX_NAMED]) + (", …" if len(changed) > MAX_NAMED else "")
        raise BadRequest(messages.changed_lines(named), hint=messages.OTHER_ID_HINT)


class _Progress:
    """Works on a batch and shows each result as it arrives."""

    def __init__(self, app: "App", batch: Batch, store: BatchStore, lines: int, *, is_quiet: bool) -> None:
        self._app = app
        self._batch = batch
        self._store = store
        self._lines = lines
        self._is_quiet = is_quiet
        self._ended: set[str] = set()
        self._has_warned = False

    async def run(
        self, options: argparse.Namespace, lines: Sequence[BatchLine], file: ResultsFile
    ) -> BatchEnd:
        """Work until every line has a result or waits."""
        self._ended = {each.id for each in file.results}
        how = BatchOptions(options.concurrency, options.here, options.retry_failed, options.questions)
        runner = BatchRunner(
            self._app.run_service,
            self._batch,
            file,
            lambda: self._store.must_stop(self._batch.id),
            self,
            how,
        )
        return await runner.run(lines)

    def ended(self, result: LineResult) -> None:
        """Show the result of a line."""
        self._ended.add(result.id)
        limited = self._batch.budget.max_cost_usd is not None
        if limited and result.tokens and result.cost_usd is None and not self._has_warned:
            self._has_warned = True
            note(messages.PRICE_UNKNOWN)
        if not self._is_quiet:
            note(
                escaped(
                    messages.ended(
                        len(self._ended),
                        self._lines,
                        result.id,
                        messages.after_interruptions(result.status, result.interruptions),
                        result.error,
                        tokens=result.tokens,
                        seconds=result.seconds,
                    )
                )
            )

    def waits(self, line_id: str, run: RunView) -> None:
        """Show that a line has a question."""
        if not self._is_quiet:
            note(messages.waits(line_id, run.order.id))


def _report(batch: Batch, end: BatchEnd, *, is_quiet: bool) -> int:
    """Report the lines that are not done, and return the exit code."""
    results = [result for line, result in end.results.items() if line in batch.lines]
    counts: dict[str, int] = {status: sum(each.status == status for each in results) for status in STATUSES}
    counts |= {messages.WAITING: len(end.waiting), messages.NOT_STARTED: end.not_started}
    if not is_quiet:
        shown = [messages.count(number, name) for name, number in counts.items() if number]
        cut = sum(each.status == "done" and each.interruptions > 0 for each in results)
        if cut:
            shown[0] = messages.interrupted_among(shown[0], cut)
        note(messages.summary(shown, sum(each.tokens for each in results), total_cost_usd(results)))
    if end.was_stopped:
        note(messages.was_stopped(batch.id))
        return ExitCode.INTERRUPTED
    if end.budget_used_up:
        note(messages.budget_used_up(end.not_started))
    if end.waiting:
        note(messages.answer_hint(len(end.waiting), end.waiting[0]))
    if end.not_started or any(each.status != "done" for each in results):
        return ExitCode.FAILED
    return ExitCode.REFUSED if end.waiting else ExitCode.DONE
