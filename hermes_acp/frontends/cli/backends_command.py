"""The `hermes-acp backends` command: list, stop and remove the sandboxes that cloud services keep for sessions."""

import argparse
from typing import TYPE_CHECKING, Any

import anyio

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.frontends.cli.cli_output import bold, escaped, exact_time, local_time, note, print_json
from hermes_acp.frontends.cli.messages import command_messages, session_messages

if TYPE_CHECKING:
    from hermes_acp.workspaces.cloud.cloud_host import CloudService, SandboxFacts
    from hermes_acp.workspaces.cloud.kept_sandboxes import KeptSandbox, KeptSandboxes


def add_backends(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their flags to the parser."""
    parser.set_defaults(action="list", json=False)
    actions = parser.add_subparsers(dest="action", metavar="COMMAND", parser_class=type(parser))
    listing = actions.add_parser("list", help=session_messages.SANDBOX_LIST_HELP)
    listing.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)
    stop = actions.add_parser("stop", help=session_messages.SANDBOX_STOP_HELP)
    remove = actions.add_parser("remove", help=session_messages.SANDBOX_REMOVE_HELP)
    for action in (stop, remove):
        action.add_argument("session", metavar="SESSION", help=session_messages.SANDBOX_SESSION_HELP)


def run_backends(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code. Raises BadRequest, ConfigError or WorkspaceError."""
    return anyio.run(_act, options, read_environment())


async def _act(options: argparse.Namespace, environment: Environment) -> int:
    from hermes_acp.workspaces.cloud.kept_sandboxes import KeptSandboxes

    kept = KeptSandboxes(environment.home)
    if options.action not in ("stop", "remove"):
        return await _list(kept.all(), environment, as_json=options.json)
    for sandbox in _named(kept.all(), options.session):
        if options.action == "stop":
            await _stop(sandbox, kept, environment)
        else:
            await _remove(sandbox, kept, environment)
    return 0


def _named(known: "list[KeptSandbox]", named: str) -> "list[KeptSandbox]":
    """Return the sandboxes of the session whose ID is `named` or starts with it. Raises BadRequest."""
    found = [each for each in known if each.session_id.startswith(named)]
    exact = [each for each in found if each.session_id == named]
    if not exact and len({each.session_id for each in found}) != 1:
        message = session_messages.several_sandboxes(named) if found else session_messages.no_sandbox(named)
        raise BadRequest(message, hint=session_messages.SANDBOX_HINT)
    return exact or found


async def _list(known: "list[KeptSandbox]", environment: Environment, *, as_json: bool) -> int:
    documents: list[dict[str, Any]] = []
    if not known and not as_json:
        note(session_messages.NO_SANDBOXES)
    for sandbox in known:
        facts, fault = await _facts_of(sandbox, environment)
        state = facts.state if facts else sandbox.state
        if as_json:
            documents.append(_document(sandbox, facts, state, fault))
            continue
        details = [facts.resources, session_messages.cost(facts.cost_usd)] if facts else [fault]
        where = session_messages.sandbox(sandbox.service, state, local_time(sandbox.at), sandbox.cwd)
        print(f"{bold(sandbox.session_id)}  {escaped(where)}")
        for detail in filter(None, details):
            print(f"  {escaped(detail)}")
    if as_json:
        print_json(documents)
    return 0


def _document(sandbox: "KeptSandbox", facts: "SandboxFacts | None", state: str, fault: str) -> dict[str, Any]:
    return {
        "session_id": sandbox.session_id,
        "backend": sandbox.service,
        "handle": sandbox.handle,
        "cwd": sandbox.cwd,
        "state": state,
        "noted_at": exact_time(sandbox.at),
        "resources": facts.resources if facts else "",
        "cost_usd": facts.cost_usd if facts else None,
        "error": fault,
    }


async def _facts_of(sandbox: "KeptSandbox", environment: Environment) -> "tuple[SandboxFacts | None, str]":
    """Return the service's current report about a sandbox, or why there is none."""
    try:
        service = _service(sandbox, environment)
        try:
            return await service.attach(sandbox.handle), ""
        finally:
            await service.disconnect()
    except HermesError as error:
        return None, error.sentence()


async def _stop(sandbox: "KeptSandbox", kept: "KeptSandboxes", environment: Environment) -> None:
    from msgspec import structs

    service = _service(sandbox, environment)
    try:
        facts = await service.attach(sandbox.handle)
        if facts.state == "gone":
            kept.forget(sandbox.session_id, sandbox.service)
            print(session_messages.sandbox_gone(sandbox.session_id, sandbox.service))
            return
        if facts.state == "running":
            handle = await service.suspend()
            kept.put(structs.replace(sandbox, handle=handle, state="suspended"))
        print(session_messages.sandbox_stopped(sandbox.session_id, sandbox.service))
    finally:
        await service.disconnect()


async def _remove(sandbox: "KeptSandbox", kept: "KeptSandboxes", environment: Environment) -> None:
    service = _service(sandbox, environment)
    try:
        await service.attach(sandbox.handle)
    finally:
        await service.deprovision()
    kept.forget(sandbox.session_id, sandbox.service)
    print(session_messages.sandbox_removed(sandbox.session_id, sandbox.service))


def _service(sandbox: "KeptSandbox", environment: Environment) -> "CloudService":
    """Return a client for a sandbox's service. Raises ConfigError."""
    from hermes_acp.config.settings import load_settings, load_variables
    from hermes_acp.core.plugins import PluginFolder

    backends: PluginFolder[Any] = PluginFolder("hermes_acp.workspaces.backends", "BACKEND")
    section = getattr(load_settings(environment), sandbox.service)
    return backends.open(sandbox.service).service(load_variables(environment), section)
