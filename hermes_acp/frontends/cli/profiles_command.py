"""The `hermes-acp profiles` command: manage a user's profiles, each of which has its own home folder."""

import argparse
import sys
from pathlib import Path
from typing import Any

from hermes_acp.config.environment import KEYS_FROM, Environment, environment_of_profile
from hermes_acp.config.home_folders import DEFAULT_PROFILE, current_profile, profile_home, profile_names
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import escaped, print_json
from hermes_acp.frontends.cli.messages import command_messages, profile_messages
from hermes_acp.frontends.command_line.line_input import is_agreed


def add_profiles(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands to the parser."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    parser.set_defaults(action="list", json=False)
    listing = actions.add_parser("list", help=profile_messages.LIST_HELP)
    show = actions.add_parser("show", help=profile_messages.SHOW_HELP)
    show.add_argument("name", nargs="?", metavar="NAME", help=profile_messages.SHOWN_HELP)
    create = actions.add_parser("create", help=profile_messages.CREATE_HELP)
    create.add_argument("name", metavar="NAME", help=profile_messages.NAME_HELP)
    create.add_argument("--keys-from", metavar="PROFILE", default="", help=profile_messages.KEYS_FROM_HELP)
    link = actions.add_parser("link-keys", help=profile_messages.LINK_HELP)
    link.add_argument("name", metavar="NAME", help=profile_messages.NAME_HELP)
    source = link.add_mutually_exclusive_group()
    source.add_argument(
        "--from", dest="source", metavar="PROFILE", default=DEFAULT_PROFILE, help=profile_messages.FROM_HELP
    )
    source.add_argument("--remove", action="store_true", help=profile_messages.UNLINK_HELP)
    remove = actions.add_parser("remove", help=profile_messages.REMOVE_HELP)
    remove.add_argument("name", metavar="NAME", help=profile_messages.NAME_HELP)
    remove.add_argument("--yes", action="store_true", help=profile_messages.YES_HELP)
    for action in (listing, show):
        action.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)


def run_profiles(options: argparse.Namespace) -> int:
    """Run the subcommand; return the exit code. Raises ConfigError, BadRequest, Busy or StorageError."""
    from hermes_acp.storage.profile_folders import create_profile, link_keys

    base = environment_of_profile(DEFAULT_PROFILE).home
    match options.action:
        case "list":
            return _list(base, options)
        case "show":
            return _show(options)
        case "create":
            home = create_profile(base, options.name, options.keys_from)
            print(profile_messages.created(options.name, str(home)))
            print(profile_messages.next_step(options.name, has_keys=bool(options.keys_from)))
        case "link-keys":
            link_keys(base, options.name, "" if options.remove else options.source)
            print(
                profile_messages.unlinked(options.name)
                if options.remove
                else profile_messages.linked(options.name, options.source)
            )
        case _:
            return _remove(base, options)
    return 0


def _list(base: Path, options: argparse.Namespace) -> int:
    facts = [_facts(environment_of_profile(name)) for name in (DEFAULT_PROFILE, *profile_names(str(base)))]
    if options.json:
        print_json(facts)
        return 0
    current = current_profile()
    for each in facts:
        mark = "*" if each["name"] == current else " "
        print(
            f"{mark} {each['name']:<20}  {profile_messages.sessions(each['sessions'])}  {escaped(each['home'])}"
        )
    return 0


def _show(options: argparse.Namespace) -> int:
    facts = _facts(environment_of_profile(options.name or current_profile()))
    if options.json:
        print_json(facts)
        return 0
    keys = profile_messages.keys(facts["keys_from"], facts["link"], has_own=facts["keys"])
    settings = "config.yaml" if facts["settings"] else profile_messages.NONE
    values = (facts["name"], facts["home"], settings, keys, str(facts["sessions"]))
    for label, value in zip(profile_messages.LABELS, values, strict=True):
        print(f"{label + ':':<10} {escaped(value)}")
    return 0


def _remove(base: Path, options: argparse.Namespace) -> int:
    """Remove a profile if the user agrees; return the exit code, which is 1 if not."""
    from hermes_acp.storage.profile_folders import remove_profile

    home = profile_home(str(base), options.name)
    if not options.yes and options.name != DEFAULT_PROFILE:
        if not sys.stdin.isatty():
            raise BadRequest(profile_messages.REMOVE_NEEDS_YES, hint=profile_messages.REMOVE_HINT)
        count = _facts(environment_of_profile(options.name))["sessions"]
        if not is_agreed(profile_messages.may_remove(options.name, count, home)):
            print(profile_messages.NOTHING_REMOVED)
            return 1
    remove_profile(base, options.name)
    print(profile_messages.removed(options.name))
    return 0


def _facts(environment: Environment) -> dict[str, Any]:
    """Describe a profile: its location and its contents, but never a key."""
    home = environment.home
    return {
        "name": environment.profile,
        "home": str(home),
        "sessions": sum(1 for _ in (home / "sessions").glob("*.jsonl")),
        "settings": environment.config_file.is_file(),
        "keys": environment.secrets_file.is_file(),
        "keys_from": environment.keys_profile,
        "link": str(home / KEYS_FROM) if environment.keys_profile else "",
    }
