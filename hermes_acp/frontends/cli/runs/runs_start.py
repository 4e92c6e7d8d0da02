"""The `hermes-acp runs start` command: start a run and, if wanted, wait until it rests."""

import argparse
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import anyio
from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.config.environment import Environment
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.core.messages import AssistantMessage
from hermes_acp.core.ports.run_ports import RunView
from hermes_acp.frontends.cli.cli_output import escaped, note, print_json
from hermes_acp.frontends.cli.messages import order_messages
from hermes_acp.frontends.cli.runs.run_wishes import prompt_of, wish_of
from hermes_acp.frontends.cli.runs.runs_show import as_document, question_lines

if TYPE_CHECKING:
    from hermes_acp.app.app import App
    from hermes_acp.runs.run_service import RunWish

FAILURE_CODES: Final = MappingProxyType(
    {"model": ExitCode.MODEL, "storage": ExitCode.STORAGE, "usage": ExitCode.USAGE}
)


def start_run(options: argparse.Namespace, environment: Environment) -> int:
    """Start a run and return the exit code. Raises BadRequest, StorageError."""
    wish = wish_of(options, prompt_of(options, options.words))
    return anyio.run(
        _start, options, environment, structs.replace(wish, id=options.id, session_id=options.session)
    )


async def _start(options: argparse.Namespace, environment: Environment, wish: "RunWish") -> int:
    from hermes_acp.app.app import App

    app = App(environment)
    try:
        async with background_tasks(app.keep):
            service = app.run_service
            view = await service.start(wish)
            if not (options.wait or options.here):
                return await _report_started(app, view, as_json=options.json)
            if options.here or not await service.engine.has_worker():
                await service.work(only=view.order.id)
            return await _report_rest(app, await _rested(app, view), as_json=options.json)
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


async def _report_started(app: "App", view: RunView, *, as_json: bool) -> int:
    if as_json:
        print_json(await as_document(app.run_service, view))
    else:
        print(order_messages.started(view.order.id, view.state))
    if view.state == "queued" and not await app.run_service.engine.has_worker():
        note(order_messages.NOBODY_DRIVES)
    return 0


async def _rested(app: "App", view: RunView) -> RunView:
    """Wait until a run rests, wherever it is driven."""
    run_id = view.order.id
    async with app.run_service.engine.watch(0) as changes:
        async for _ in changes:
            view = await app.run_service.known(run_id)
            if view.state not in ("queued", "running"):
                break
    return view


async def _report_rest(app: "App", view: RunView, *, as_json: bool) -> int:
    """Print the answer of a run that is done, or how it rests; return the exit code."""
    if as_json:
        document = await as_document(app.run_service, view)
        print_json({**document, "answer": await _last_answer(app, view)})
    elif view.state == "done":
        print(escaped(await _last_answer(app, view)))
    else:
        note(order_messages.rests(view.order.id, view.state, view.sentence))
        for question in await app.run_service.questions_of(view):
            print("\n".join(question_lines(view.order.id, question)))
    match view.state:
        case "done":
            return ExitCode.DONE
        case "input_required":
            return ExitCode.REFUSED
        case "stopped":
            return ExitCode.INTERRUPTED
        case _:
            return FAILURE_CODES.get(view.failure, ExitCode.FAILED)


async def _last_answer(app: "App", view: RunView) -> str:
    record = await app.run_service.record_of(view)
    said = [each.text for each in record.messages if isinstance(each, AssistantMessage) and each.text]
    return said[-1] if said else ""
