"""The `hermes-acp gateway` command: set up platforms, admit and remove people, show the status, run the gateway."""

import argparse
import re
import sys
import time
from collections.abc import Sequence
from typing import Final

import msgspec

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.config.home_folders import DEFAULT_PROFILE, profile_names
from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.command_line.command_parser import CommandParser
from hermes_acp.frontends.command_line.profile_flag import add_profile_flag
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.messages import command_messages
from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
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

    parser = CommandParser(prog="hermes-acp gateway", description=command_messages.DESCRIPTION)
    add_profile_flag(parser)
    parser.set_defaults(action="status", json=False)
    actions = parser.add_subparsers(dest="action", metavar="COMMAND", parser_class=CommandParser)
    help_of = command_messages.ACTION_HELP
    setup = actions.add_parser("setup", help=help_of["setup"])
    platforms = tuple(PlatformsSettings.model_fields)
    setup.add_argument(
        "platform", metavar="PLATFORM", choices=platforms, help=command_messages.platform_help(platforms)
    )
    status = actions.add_parser("status", help=help_of["status"])
    status.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)
    run = actions.add_parser("run", help=help_of["run"])
    run.add_argument("--ends-with-input", action="store_true", help=argparse.SUPPRESS)
    pair = actions.add_parser("pair", help=help_of["pair"])
    pair.add_argument("code", metavar="CODE", help=command_messages.CODE_HELP)
    pair.add_argument("--name", required=True, help=command_messages.NAME_HELP)
    pair.add_argument("--approver", action="store_true", help=command_messages.APPROVER_HELP)
    pair.add_argument("--as-profile", metavar="PROFILE", default="", help=command_messages.PROFILE_HELP)
    pair.add_argument("--shared", action="store_true", help=command_messages.SHARED_HELP)
    remove = actions.add_parser("remove", help=help_of["remove"])
    remove.add_argument("name", metavar="NAME", help=command_messages.PERSON_HELP)
    return parser


def _pair(options: argparse.Namespace, environment: Environment) -> int:
    """Admit the person who was given a code. Raises BadRequest or StorageError."""
    if not _NAME.fullmatch(options.name):
        raise BadRequest(command_messages.BAD_NAME)
    profile = options.as_profile or environment.profile
    known = (DEFAULT_PROFILE, *profile_names(environment.base_path or environment.home_path))
    if profile not in known:
        raise BadRequest(command_messages.no_profile(profile))
    person = Person(options.name, "approver" if options.approver else "user", profile)
    people = People(GatewayDatabase(environment.home))
    done = people.pair(options.code, person, time.time(), shares=options.shared)
    other = done.person or person
    match done.outcome:
        case "admitted":
            sys.stdout.write(f"{command_messages.paired(person.name, done.platform, person.role, profile)}\n")
            return ExitCode.DONE
        case "wrong":
            raise BadRequest(command_messages.WRONG_CODE)
        case "locked":
            raise BadRequest(command_messages.LOCKED)
        case "name_taken":
            raise BadRequest(command_messages.name_taken(other.name, other.role, other.profile))
        case "profile_taken":
            raise BadRequest(command_messages.profile_taken(profile, other.name))


def _remove(name: str, environment: Environment) -> int:
    """Remove a person. Raises BadRequest or StorageError."""
    if not People(GatewayDatabase(environment.home)).remove(name):
        raise BadRequest(messages.unknown_person(name))
    sys.stdout.write(f"{command_messages.removed(name)}\n")
    return ExitCode.DONE


def _status(environment: Environment, *, as_json: bool) -> int:
    """Show the platforms, the people and the queued messages. Raises ConfigError or StorageError."""
    from hermes_acp.frontends.gateway.gateway_status import gateway_status, status_lines, status_report

    status = gateway_status(environment)
    if as_json:
        sys.stdout.write(f"{msgspec.json.encode(status_report(status)).decode()}\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in status_lines(status)))
    return ExitCode.DONE
