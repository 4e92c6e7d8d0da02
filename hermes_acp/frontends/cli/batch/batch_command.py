"""The `hermes-acp batch` command: work on many prompts from a file, show the progress, stop it."""

import argparse
import sys
from typing import TYPE_CHECKING, Any, Final

import anyio

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.run_ports import RunFilter
from hermes_acp.frontends.cli.batch import messages
from hermes_acp.frontends.cli.batch.batch_status import MAX_LISTED, OPEN, batch_document
from hermes_acp.frontends.cli.cli_output import bold, escaped, print_json
from hermes_acp.frontends.cli.flag_values import positive_number
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.cli.run.run_flags import MODES
from hermes_acp.frontends.cli.runs.stored_runs import stored_runs

if TYPE_CHECKING:
    from hermes_acp.runs.batches.batch_store import Batch, BatchStore
    from hermes_acp.runs.run_service import RunService

DEFAULT_CONCURRENCY: Final = 4


def add_batch(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands to the parser."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    run = actions.add_parser("run", help=messages.RUN_HELP, epilog=messages.EPILOG)
    run.add_argument("prompts", metavar="PROMPTS.jsonl", help=messages.PROMPTS_HELP)
    run.add_argument("--out", default="", metavar="FILE", help=messages.OUT_HELP)
    run.add_argument("--id", default="", help=messages.ID_HELP)
    run.add_argument(
        "--concurrency",
        type=positive_number(int),
        default=DEFAULT_CONCURRENCY,
        metavar="N",
        help=messages.CONCURRENCY_HELP.format(default=DEFAULT_CONCURRENCY),
    )
    run.add_argument("--mode", choices=MODES, default="", help=messages.MODE_HELP)
    run.add_argument("-m", "--model", default="", metavar="MODEL", help=messages.MODEL_HELP)
    run.add_argument("--backend", default="", metavar="NAME", help=messages.BACKEND_HELP)
    run.add_argument("--max-tokens", type=positive_number(int), metavar="N", help=messages.MAX_TOKENS_HELP)
    run.add_argument("--max-cost", type=positive_number(float), metavar="USD", help=messages.MAX_COST_HELP)
    run.add_argument("--questions", choices=("wait", "decline"), default="wait", help=messages.QUESTIONS_HELP)
    run.add_argument("--retry-failed", action="store_true", help=messages.RETRY_HELP)
    run.add_argument("--here", action="store_true", help=messages.HERE_HELP)
    run.add_argument("--quiet", action="store_true", help=messages.QUIET_HELP)
    status = actions.add_parser("status", help=messages.STATUS_HELP)
    status.add_argument("batch", nargs="?", default="", metavar="BATCH", help=messages.BATCH_HELP)
    stop = actions.add_parser("stop", help=messages.STOP_HELP)
    stop.add_argument("batch", metavar="BATCH", help=messages.BATCH_HELP)
    for action in (run, status):
        action.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)


def run_batch(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code. Raises BadRequest, Busy or StorageError."""
    environment = read_environment()
    if options.action == "run":
        from hermes_acp.frontends.cli.batch.batch_run import start_batch

        return start_batch(options, environment)
    return anyio.run(_act, options, environment)


async def _act(options: argparse.Namespace, environment: Environment) -> int:
    from hermes_acp.runs.batches.batch_store import BatchStore

    store = BatchStore(environment.home)
    service = stored_runs(environment)
    try:
        if options.action == "stop":
            return await _stop(service, store, store.find(options.batch))
        batches = [store.find(options.batch)] if options.batch else store.list()
        documents = [await batch_document(service, store, each) for each in batches]
    finally:
        await service.aclose()
    if options.json:
        print_json(documents[0] if options.batch else documents)
    elif not documents:
        print(messages.NO_BATCHES, file=sys.stderr)
    for document in () if options.json else documents:
        _print_status(document)
    return 0


def _print_status(document: dict[str, Any]) -> None:
    given: dict[str, int] = document["counts"]
    is_running = document["is_running"] or given["running"] > 0
    state = messages.state(is_running=is_running, is_interrupted=given["interrupted"] > 0)
    counts = [messages.count(number, name.replace("_", " ")) for name, number in given.items() if number]
    print(bold(escaped(f"{document['id']}  {state}  {document['prompts']}")))
    print(f"  {messages.summary(counts, document['tokens'], document['cost_usd'])}")
    print(escaped(f"  {document['results']}"))
    for run in document["waiting"]:
        print(messages.waiting_run(run))


async def _stop(service: "RunService", store: "BatchStore", batch: "Batch") -> int:
    """Prevent further lines from starting, and stop the runs of those that have started."""
    store.ask_to_stop(batch.id)
    listed = await service.engine.list(RunFilter(OPEN, origin=batch.origin, limit=MAX_LISTED))
    stopped = 0
    for run in listed:
        if run.order.origin != batch.origin:
            continue
        try:
            await service.engine.stop(run.order.id)
        except BadRequest:
            continue  # it has ended in the meantime
        stopped += 1
    print(messages.stopping(batch.id, stopped))
    return 0
