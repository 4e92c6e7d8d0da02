"""The `hermes-acp runs` command: start, show, answer and stop runs."""

import argparse
import sys
from typing import TYPE_CHECKING, Final

import anyio

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.run_ports import RunFilter, RunState
from hermes_acp.frontends.cli.cli_output import print_json
from hermes_acp.frontends.cli.flag_values import positive_number
from hermes_acp.frontends.cli.messages import command_messages, order_messages
from hermes_acp.frontends.cli.runs.run_requests import add_wishes
from hermes_acp.frontends.cli.runs.stored_runs import stored_runs
from hermes_acp.workspaces.processes.rlimit_tags import has_any_tag

if TYPE_CHECKING:
    from hermes_acp.runs.run_service import RunService

OPEN: tuple[RunState, ...] = ("queued", "running", "input_required", "parked")
MAX_LISTED: Final = 50


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands to the parser."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    parser.set_defaults(action="list", all=False, limit=MAX_LISTED, json=False)
    start = actions.add_parser("start", help=order_messages.START_HELP)
    start.add_argument("words", nargs="*", metavar="PROMPT", help=order_messages.WORDS_HELP)
    start.add_argument("--id", default="", help=order_messages.NEW_ID_HELP)
    start.add_argument("--session", default="", metavar="ID", help=order_messages.SESSION_HELP)
    start.add_argument("--create-session", action="store_true", help=order_messages.CREATE_SESSION_HELP)
    add_wishes(start)
    how = start.add_mutually_exclusive_group()
    how.add_argument("--wait", action="store_true", help=order_messages.WAIT_HELP)
    how.add_argument("--here", action="store_true", help=order_messages.HERE_HELP)
    listing = actions.add_parser("list", help=order_messages.LIST_HELP)
    listing.add_argument("--all", action="store_true", help=order_messages.ALL_HELP)
    listing.add_argument(
        "--limit", type=positive_number(int), default=MAX_LISTED, metavar="N", help=order_messages.LIMIT_HELP
    )
    show = actions.add_parser("show", help=order_messages.SHOW_HELP)
    watch = actions.add_parser("watch", help=order_messages.WATCH_HELP)
    answer = actions.add_parser("answer", help=order_messages.ANSWER_HELP)
    stop = actions.add_parser("stop", help=order_messages.STOP_HELP)
    retry = actions.add_parser("retry", help=order_messages.RETRY_HELP)
    for action in (show, answer, stop, retry):
        action.add_argument("run", metavar="RUN", help=order_messages.ID_HELP)
    watch.add_argument("run", nargs="?", default="", metavar="RUN", help=order_messages.ID_HELP)
    answer.add_argument("answer", nargs="+", metavar="ANSWER", help=order_messages.ANSWER_WORDS_HELP)
    answer.add_argument("--comment", default="", metavar="TEXT", help=order_messages.COMMENT_HELP)
    answer.add_argument("--call", default="", metavar="ID", help=order_messages.CALL_HELP)
    for action in (start, listing, show, watch):
        action.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)


def run_runs(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code. Raises BadRequest or StorageError."""
    environment = read_environment()
    if options.action == "start":
        from hermes_acp.frontends.cli.runs.runs_start import start_run

        return start_run(options, environment)
    return anyio.run(_act, options, environment)


async def _act(options: argparse.Namespace, environment: Environment) -> int:
    service = stored_runs(environment)
    try:
        match options.action:
            case "list":
                return await _list(service, options)
            case "show":
                from hermes_acp.frontends.cli.runs.runs_show import show_run

                return await show_run(service, options.run, as_json=options.json)
            case "watch":
                from hermes_acp.frontends.cli.runs.runs_show import watch_runs

                return await watch_runs(service, options.run, as_json=options.json)
            case "answer":
                return await _answer(service, options)
            case "stop":
                run = await service.known(options.run)
                view = await service.engine.stop(run.order.id)
                print(order_messages.stopping(view.order.id, view.state))
                return 0
            case _:
                run = await service.known(options.run)
                await service.engine.retry(run.order.id)
                print(order_messages.queued_again(run.order.id))
                return 0
    finally:
        await service.aclose()


async def _list(service: "RunService", options: argparse.Namespace) -> int:
    from hermes_acp.frontends.cli.runs.runs_show import as_document, list_line

    states = () if options.all else OPEN
    views = await service.engine.list(RunFilter(states=states, limit=options.limit))
    if options.json:
        print_json([await as_document(service, view) for view in views])
    elif not views:
        print(order_messages.NO_RUNS if options.all else order_messages.NO_OPEN_RUNS, file=sys.stderr)
    for view in () if options.json else views:
        print(await list_line(service, view))
    return 0


async def _answer(service: "RunService", options: argparse.Namespace) -> int:
    import getpass

    from hermes_acp.runs.open_questions import answer_from_text

    if has_any_tag():
        raise BadRequest(order_messages.PEOPLE_ONLY)
    run = await service.known(options.run)
    questions = await service.records.questions_of(run)
    answer, text = answer_from_text(questions, " ".join(options.answer), options.comment)
    await service.answer(run.order.id, answer, text, by=getpass.getuser(), call_id=options.call)
    print(order_messages.answered(run.order.id, is_driven=await service.engine.has_worker()))
    return 0
