"""The `hermes-acp train` command: start, watch, stop and serve training runs."""

import argparse
from typing import Any, Final

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import bold, escaped, local_time, note, print_json
from hermes_acp.frontends.cli.flag_values import positive_number
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.cli.train import messages

DEFAULT_PORT: Final = 8765


def add_train(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands to the parser."""
    parser.epilog = messages.EPILOG
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    start = actions.add_parser("start", help=messages.START_HELP, epilog=messages.EPILOG)
    start.add_argument("--anew", action="store_true", help=messages.ANEW_HELP)
    status = actions.add_parser("status", help=messages.STATUS_HELP)
    status.add_argument("file", nargs="?", default="", metavar="FILE", help=messages.FILE_HELP)
    status.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)
    stop = actions.add_parser("stop", help=messages.STOP_HELP)
    serve = actions.add_parser("serve", help=messages.SERVE_HELP)
    serve.add_argument(
        "--port",
        type=positive_number(int),
        default=DEFAULT_PORT,
        metavar="N",
        help=messages.PORT_HELP.format(port=DEFAULT_PORT),
    )
    serve.add_argument("--add-provider", action="store_true", help=messages.ADD_HELP)
    for action in (start, stop, serve):
        action.add_argument("file", metavar="FILE", help=messages.FILE_HELP)


def run_train(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code.

    Raises BadRequest, Busy, ConfigError, StorageError or TrainingError.
    """
    environment = read_environment()
    if options.action == "start":
        from hermes_acp.frontends.cli.train.train_start import start_training

        return start_training(environment, options.file, is_anew=options.anew)
    if options.action == "serve":
        from hermes_acp.frontends.cli.train.train_serve import serve_trained

        return serve_trained(environment, options)
    if options.action == "stop":
        return _stop(environment, options.file)
    return _show(environment, options)


def _stop(environment: Environment, named: str) -> int:
    from hermes_acp.frontends.cli.train.person_at_terminal import person_at_terminal
    from hermes_acp.training.run_folder import RunFolder
    from hermes_acp.training.training_plan import read_plan

    with person_at_terminal(environment, "stop"):
        run = RunFolder(read_plan(environment.home, named).run)
        if not run.is_locked():
            raise BadRequest(messages.NO_PROCESS)
        run.ask_to_stop()
    print(messages.STOPPING)
    return 0


def _show(environment: Environment, options: argparse.Namespace) -> int:
    from hermes_acp.training.training_plan import plan_names

    names = [options.file] if options.file else plan_names(environment.home)
    documents = [_document(environment, name) for name in names]
    if options.json:
        print_json(documents[0] if options.file else documents)
    elif not documents:
        note(messages.NO_FILES)
    for document in () if options.json else documents:
        _print_status(document)
    return 0


def _document(environment: Environment, named: str) -> dict[str, Any]:
    """Convert the status of a training run to plain data for JSON."""
    from hermes_acp.training.run_folder import RunFolder, seconds_left
    from hermes_acp.training.training_plan import read_plan

    file = read_plan(environment.home, named)
    run = RunFolder(file.run)
    state, progress = run.read_state(), run.last_progress()
    document: dict[str, Any] = {"name": file.name, "trainer": file.plan.trainer, "method": file.plan.method}
    if state is None:
        return {**document, "phase": "not_started"}
    phase = run.shown_phase(state)
    document |= {"phase": phase, "run": str(run.path), "log": str(run.log), "reason": state.reason}
    document |= {
        "started_at": state.started_at,
        "checkpoint": run.checkpoints.newest()[1],
        "digest": state.digest,
    }
    if phase in ("loading", "running"):
        document["pid"] = state.pid
    if progress is not None:
        document |= {"step": progress.step, "total": progress.total, "loss": progress.loss}
        if phase == "running" and (left := seconds_left(state, progress)) is not None:
            document["seconds_left"] = round(left, 1)
    if phase == "done":
        document["adapter"] = str(run.adapter)
    return document


def _print_status(document: dict[str, Any]) -> None:
    phase = messages.NOT_STARTED if document["phase"] == "not_started" else document["phase"]
    print(bold(escaped(f"{document['name']}  {phase}  {document['trainer']} {document['method']}")))
    if "started_at" not in document:
        return
    facts = [local_time(document["started_at"])]
    if "step" in document:
        facts.append(messages.progress(document["step"], document["total"], document["loss"]))
    if "seconds_left" in document:
        facts.append(messages.time_left(document["seconds_left"]))
    if document["checkpoint"]:
        facts.append(messages.checkpoint(document["checkpoint"]))
    print(f"  {', '.join(facts)}")
    if document["reason"]:
        print(escaped(f"  {document['reason']}"))
    print(escaped(f"  {document['log']}"))
    if document["phase"] in ("interrupted", "stopped", "failed"):
        print(f"  {messages.resume_hint(document['name'])}")
    elif document["phase"] == "done":
        print(f"  {messages.serve_hint(document['name'])}")
