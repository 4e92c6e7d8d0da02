"""The command `hermes-acp gateway`: set up platforms, admit people, show what is going on, run."""

import argparse
import re
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.config.home_folders import DEFAULT_PROFILE, profile_names
from hermes_acp.config.settings import load_settings
from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.command_line.command_parser import CommandParser
from hermes_acp.frontends.command_line.profile_flag import add_profile_flag
from hermes_acp.frontends.gateway import messages
from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
from hermes_acp.storage.gateway.outbox import Outbox
from hermes_acp.storage.gateway.people import People, Person

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")


def gateway_command(arguments: Sequence[str]) -> int:
    """Run the subcommand; return the exit code."""
    try:
        options = _parser().parse(arguments)
        environment = read_environment()
        match options.action:
            case "run":
                from hermes_acp.frontends.gateway.gateway_process import run_gateway

                return run_gateway(environment, ends_with_input=options.ends_with_input)
            case "setup":
                from hermes_acp.frontends.gateway.gateway_setup import set_up

                return set_up(environment, options.platform)
            case "pair":
                return _pair(options, environment)
            case "remove":
                return _remove(options.name, environment)
            case _:
                return _status(environment, as_json=options.json)
    except HermesError as error:
        sys.stderr.write(f"hermes-acp: {error.sentence()}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def _parser() -> CommandParser:
    from hermes_acp.config.sections.gateway_settings import PlatformsSettings

    parser = CommandParser(prog="hermes-acp gateway", description=messages.DESCRIPTION)
    add_profile_flag(parser)
    parser.set_defaults(action="status", json=False)
    actions = parser.add_subparsers(dest="action", metavar="COMMAND", parser_class=CommandParser)
    help_of = messages.ACTION_HELP
    setup = actions.add_parser("setup", help=help_of["setup"])
    setup.add_argument("platform", choices=tuple(PlatformsSettings.model_fields), help=messages.PLATFORM_HELP)
    status = actions.add_parser("status", help=help_of["status"])
    status.add_argument("--json", action="store_true", help=messages.JSON_HELP)
    run = actions.add_parser("run", help=help_of["run"])
    run.add_argument("--ends-with-input", action="store_true", help=argparse.SUPPRESS)
    pair = actions.add_parser("pair", help=help_of["pair"])
    pair.add_argument("code", metavar="CODE", help=messages.CODE_HELP)
    pair.add_argument("--name", required=True, help=messages.NAME_HELP)
    pair.add_argument("--approver", action="store_true", help=messages.APPROVER_HELP)
    pair.add_argument("--as-profile", metavar="PROFILE", default="", help=messages.PROFILE_HELP)
    pair.add_argument("--shared", action="store_true", help=messages.SHARED_HELP)
    remove = actions.add_parser("remove", help=help_of["remove"])
    remove.add_argument("name", metavar="NAME", help=messages.PERSON_HELP)
    return parser


def _pair(options: argparse.Namespace, environment: Environment) -> int:
    """Admit the person with a code. Raises BadRequest, StorageError."""
    if not _NAME.fullmatch(options.name):
        raise BadRequest(messages.BAD_NAME)
    profile = options.as_profile or environment.profile
    known = (DEFAULT_PROFILE, *profile_names(environment.base_path or environment.home_path))
    if profile not in known:
        raise BadRequest(messages.no_profile(profile))
    person = Person(options.name, "approver" if options.approver else "user", profile)
    people = People(GatewayDatabase(environment.home))
    done = people.pair(options.code, person, time.time(), shares=options.shared)
    other = done.person or person
    match done.outcome:
        case "admitted":
            sys.stdout.write(f"{messages.paired(person.name, done.platform, person.role, profile)}\n")
            return ExitCode.DONE
        case "wrong":
            raise BadRequest(messages.WRONG_CODE)
        case "locked":
            raise BadRequest(messages.LOCKED)
        case "name_taken":
            raise BadRequest(messages.name_taken(other.name, other.role, other.profile))
        case "profile_taken":
            raise BadRequest(messages.profile_taken(profile, other.name))


def _remove(name: str, environment: Environment) -> int:
    """Forget a person. Raises BadRequest, StorageError."""
    if not People(GatewayDatabase(environment.home)).remove(name):
        raise BadRequest(messages.unknown_person(name))
    sys.stdout.write(f"{messages.removed(name)}\n")
    return ExitCode.DONE


def _status(environment: Environment, *, as_json: bool) -> int:
    """Show platforms, people and waiting messages. Raises ConfigError, StorageError."""
    from hermes_acp.frontends.gateway.gateway_process import is_running

    settings = load_settings(environment).gateway
    names = [name for name in type(settings.platforms).model_fields if getattr(settings.platforms, name)]
    database = GatewayDatabase(environment.home)
    runs = is_running(environment.home)
    people = People(database).all() if database.exists else []
    counts = Outbox(database).counts() if database.exists else {}
    states = {name: database.fact(f"state:{name}") if database.exists else "" for name in names}
    pending = People(database).pending(time.time()) if database.exists else 0
    if as_json:
        report: Mapping[str, Any] = {
            "isRunning": runs,
            "platforms": [
                {"name": name, "fault": states[name], "messages": counts.get(name, {})} for name in names
            ],
            "people": [
                {"name": each.name, "role": each.role, "profile": each.profile, "platforms": platforms}
                for each, platforms in people
            ],
            "pendingCodes": pending,
        }
        sys.stdout.write(f"{msgspec.json.encode(report).decode()}\n")
        return ExitCode.DONE
    lines = [messages.RUNNING if runs else messages.NOT_RUNNING] if names else [messages.NO_PLATFORMS]
    for name in names:
        state = states[name] or (messages.CONNECTED if runs else messages.SET_UP)
        shown = ", ".join(f"{number} {what}" for what, number in sorted(counts.get(name, {}).items()))
        lines.append(messages.platform_line(name, state, shown))
    lines += [messages.person_line(each.name, each.role, each.profile, on) for each, on in people]
    if names and not people:
        lines.append(messages.NO_PEOPLE)
    if pending:
        lines.append(messages.waiting_codes(pending))
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return ExitCode.DONE
