"""The `hermes-acp skills` command: list skills with their success rates, show versions, roll back."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import bold, escaped, print_json
from hermes_acp.frontends.cli.messages import command_messages, skill_messages
from hermes_acp.frontends.cli.skills.skills_hub import add_hub, run_hub, usage_tracker_of
from hermes_acp.frontends.cli.skills.skills_search import search_skills_of, similar_skills_of
from hermes_acp.frontends.cli.skills.skills_taps import add_taps, run_taps

if TYPE_CHECKING:
    from hermes_acp.storage.version_history import VersionHistory


def add_skills(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their flags to the parser."""
    _add_place(parser, ".")
    _add_json(parser, is_given=False)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=type(parser))
    listing = actions.add_parser("list", help=skill_messages.LIST_HELP)
    search = actions.add_parser("search", help=skill_messages.SEARCH_HELP)
    search.add_argument("words", nargs="+", metavar="WORD", help=skill_messages.WORDS_HELP)
    search.add_argument(
        "--by-meaning",
        action="store_true",
        help=skill_messages.BY_MEANING_HELP,
    )
    history = actions.add_parser("history", help=skill_messages.HISTORY_HELP)
    rollback = actions.add_parser("rollback", help=skill_messages.ROLLBACK_HELP)
    for action in (history, rollback):
        action.add_argument("name", metavar="NAME", help=skill_messages.NAME_HELP)
    for action in (listing, search, history, rollback):
        _add_place(action)
    for action in (listing, search, history):
        _add_json(action)
    rollback.add_argument(
        "version",
        nargs="?",
        type=int,
        metavar="VERSION",
        help=skill_messages.VERSION_HELP,
    )
    add_hub(actions.add_parser)
    add_taps(actions.add_parser)


def _add_place(parser: argparse.ArgumentParser, default: str = argparse.SUPPRESS) -> None:
    parser.add_argument("--cwd", default=default, metavar="DIR", help=command_messages.WORKSPACE_HELP)


def _add_json(parser: argparse.ArgumentParser, *, is_given: bool | str = argparse.SUPPRESS) -> None:
    parser.add_argument("--json", action="store_true", default=is_given, help=command_messages.JSON_HELP)


def run_skills(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code."""
    environment = read_environment()
    place = Path(options.cwd).resolve()
    match options.action:
        case None | "list":
            return _list(environment, place, as_json=options.json)
        case "search":
            return search_skills_of(environment, place, options)
        case "history":
            return _show_history(_history_of(environment, place, options.name), as_json=options.json)
        case "rollback":
            return _roll_back(_history_of(environment, place, options.name), options.version)
        case "taps" | "publish":
            return run_taps(environment, place, options)
        case _:
            return run_hub(environment, place, options)


def _list(environment: Environment, place: Path, *, as_json: bool) -> int:
    from hermes_acp.ids import RandomIds
    from hermes_acp.policy.workspace_trust import WorkspaceTrust
    from hermes_acp.skills.skill_commands import trust_item
    from hermes_acp.skills.skill_overview import line_text, overview
    from hermes_acp.skills.skill_service import SkillService

    skill_service = SkillService(environment, lambda _: None)  # read once; later changes are not watched
    workspace_trust = WorkspaceTrust(environment, RandomIds(), skill_service.trust_items)
    collection = skill_service.library.collection(str(place))
    found = overview(
        collection,
        usage_tracker_of(environment),
        lambda skill: skill.scope != "workspace" or workspace_trust.is_trusted(str(place), trust_item(skill)),
        similar_skills_of(environment, collection.skills),
        skill_service.library.findings(str(place)),
    )
    if as_json:
        print_json(found)
        return 0
    for line in found.lines:
        text = escaped(line_text(line))
        name = escaped(line.name)
        print(f"{bold(name)}{text.removeprefix(name)}" if name else text)
    for remark in found.remarks:
        print(escaped(remark))
    return 0


def _history_of(environment: Environment, place: Path, name: str) -> "VersionHistory":
    """Return the version history of a skill that is used in this folder or archived. Raises BadRequest."""
    from hermes_acp.skills.skill_service import SkillService

    usage_tracker = usage_tracker_of(environment)
    skill = SkillService(environment, lambda _: None).library.collection(str(place)).find(name)
    named = [each for each in usage_tracker.histories() if each.folder.name == name]
    if skill and (history := usage_tracker.history(skill.folder)).versions():
        return history
    if len(named) == 1:
        return named[0]
    if named:
        listed = ", ".join(str(each.folder) for each in named)
        raise BadRequest(skill_messages.several_kept(name, listed), hint=skill_messages.SEVERAL_HINT)
    reason = skill_messages.no_version(name) if skill else skill_messages.no_skill(name)
    raise BadRequest(reason, hint=skill_messages.VERSIONS_HINT)


def _show_history(history: "VersionHistory", *, as_json: bool) -> int:
    from hermes_acp.skills.skill_overview import describe_version

    if as_json:
        print_json(history.versions()[::-1])
        return 0
    print(bold(escaped(str(history.folder))))
    for version in reversed(history.versions()):
        print(escaped(describe_version(version)))
    return 0


def _roll_back(history: "VersionHistory", number: int | None) -> int:
    from hermes_acp.clock import SystemClock
    from hermes_acp.storage.version_history import ChangeCause, origin_of

    versions = history.versions()
    if number is None:
        newest = origin_of(versions) or versions[-1]
        earlier = [each.number for each in versions if each.number < newest.number and not each.is_gone]
        if not earlier:
            raise BadRequest(
                skill_messages.no_earlier_version(history.folder.name), hint=skill_messages.NO_EARLIER_HINT
            )
        number = earlier[-1]
    version = history.restore(number, ChangeCause("user", SystemClock().now(), skill_messages.ROLLED_BACK))
    name = escaped(history.folder.name)
    if version.is_gone:
        print(skill_messages.archived(name, version.number))
    else:
        print(skill_messages.restored(name, number, version.number))
    return 0
