"""The `hermes-acp runs start` command: start a run and optionally wait until it ends or asks something."""

import argparse
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import anyio
from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import SessionNotFound
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.core.ports.run_ports import RunFilter, RunView
from hermes_acp.frontends.cli.cli_output import escaped, note, print_json
from hermes_acp.frontends.cli.messages import order_messages
from hermes_acp.frontends.cli.runs.run_requests import deliver_to, prompt_of, request_of
from hermes_acp.frontends.cli.runs.runs_show import as_document, full_document, question_lines
from hermes_acp.frontends.command_line.nearest_words import nearest
from hermes_acp.telemetry.trace_context import valid_trace_parent

if TYPE_CHECKING:
    from hermes_acp.app.app import App
    from hermes_acp.runs.run_service import RunRequest, RunService

FAILURE_CODES: Final = MappingProxyType(
    {"model": ExitCode.MODEL, "storage": ExitCode.STORAGE, "usage": ExitCode.USAGE}
)


def start_run(options: argparse.Namespace, environment: Environment) -> int:
    """Start a run and return the exit code. Raises BadRequest or StorageError."""
    request = structs.replace(request_of(options, prompt_of(options, options.words)), id=options.id)
    return anyio.run(_start, options, environment, request)


async def _start(options: argparse.Namespace, environment: Environment, request: "RunRequest") -> int:
    from hermes_acp.app.app import App

    app = App(environment)
    try:
        async with background_tasks(app.keep):
            service = app.run_service
            session_id = await _session_of(service, environment, options)
            if options.deliver:
                from hermes_acp.ids import RandomIds
                from hermes_acp.runs.run_notifications import RUN

                request = structs.replace(request, id=request.id or RandomIds().fresh("run"))
                await deliver_to(options, environment, service, f"{RUN}{request.id}")
            view = await service.start(
                structs.replace(request, session_id=session_id),
                trace_parent=valid_trace_parent(environment.trace_parent),
            )
            if not (options.wait or options.here):
                return await _report_started(app, view, as_json=options.json)
            if options.here or not await service.engine.has_worker():
                await service.work(only=view.order.id)
            return await _report_rest(app, await _rested(app, view), as_json=options.json)
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


async def _session_of(service: "RunService", environment: Environment, options: argparse.Namespace) -> str:
    """Return the ID of the session that the flags name, or an empty string. Raises SessionNotFound or BadRequest."""
    from hermes_acp.sessions.stored_sessions import StoredSessions
    from hermes_acp.storage.session_store import SESSION_ID, SessionStore, is_child

    named: str = options.session
    if not named or (options.id and await service.engine.show(options.id)):
        return named
    try:
        return StoredSessions(SessionStore(environment.home)).find(named)
    except SessionNotFound as error:
        may_be_new = options.create_session and SESSION_ID.fullmatch(named) and not is_child(named)
        if may_be_new or await service.engine.list(RunFilter(session_id=named, limit=1)):
            return named
        stored = sorted(path.stem for path in SessionStore(environment.home).folder.glob("*.jsonl"))
        hint = order_messages.session_hint(nearest(named, stored, 1))
        raise SessionNotFound(error.message, session_id=named, hint=hint) from error


async def _report_started(app: "App", view: RunView, *, as_json: bool) -> int:
    if as_json:
        print_json(await as_document(app.run_service, view))
    else:
        print(order_messages.started(view.order.id, view.state))
    if view.state == "queued" and not await app.run_service.engine.has_worker():
        note(order_messages.NOBODY_DRIVES)
    return 0


async def _rested(app: "App", view: RunView) -> RunView:
    """Wait until a run ends or asks something, no matter which process works on it."""
    run_id = view.order.id
    async with app.run_service.engine.watch(0) as changes:
        async for _ in changes:
            view = await app.run_service.known(run_id)
            if view.state not in ("queued", "running"):
                break
    return view


async def _report_rest(app: "App", view: RunView, *, as_json: bool) -> int:
    """Print the answer of a finished run, or the state of any other; return the exit code."""
    if as_json:
        print_json(await full_document(app.run_service, view))
    elif view.state == "done":
        print(escaped(await app.run_service.records.answer_of(view)))
    else:
        note(order_messages.rests(view.order.id, view.state, view.sentence))
        for question in await app.run_service.records.questions_of(view):
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
