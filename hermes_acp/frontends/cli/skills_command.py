"""hermes-acp skills: which there are and how they did, their versions, and the way back.

Knows: the flags, how skills are shown. Does not know: how one is kept, scanned or fetched (`skills_hub` installs them).
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import bold, escaped, print_json
from hermes_acp.frontends.cli.skills_hub import add_hub, practice_of, run_hub
from hermes_acp.frontends.cli.skills_search import search_skills_of, twins_of

if TYPE_CHECKING:
    from hermes_acp.storage.version_history import VersionHistory


def add_skills(parser: argparse.ArgumentParser) -> None:
    """Describe the subcommands and their flags."""
    _add_place(parser, ".")
    _add_json(parser, is_given=False)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=type(parser))
    listing = actions.add_parser("list", help="list the skills of this folder and how they did (the default)")
    search = actions.add_parser("search", help="find skills by their names, descriptions and texts")
    search.add_argument("words", nargs="+", metavar="WORD", help="any of these, the best first")
    search.add_argument(
        "--by-meaning",
        action="store_true",
        help="also those that are about the like, where `recall.embeddings` is set",
    )
    history = actions.add_parser("history", help="list the versions of a skill: who changed it, when and why")
    rollback = actions.add_parser("rollback", help="make a skill what it was in an earlier version")
    for action in (history, rollback):
        action.add_argument("name", metavar="NAME", help="the skill")
    for action in (listing, search, history, rollback):
        _add_place(action)
    for action in (listing, search, history):
        _add_json(action)
    rollback.add_argument(
        "version",
        nargs="?",
        type=int,
        metavar="VERSION",
        help="a number of its history (default: the one before)",
    )
    add_hub(actions.add_parser)


def _add_place(parser: argparse.ArgumentParser, default: str = argparse.SUPPRESS) -> None:
    parser.add_argument("--cwd", default=default, metavar="DIR", help="the workspace (default: this folder)")


def _add_json(parser: argparse.ArgumentParser, *, is_given: bool | str = argparse.SUPPRESS) -> None:
    parser.add_argument("--json", action="store_true", default=is_given, help="one JSON document")


def run_skills(options: argparse.Namespace) -> int:
    """Do what was asked; give the exit code."""
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
        case _:
            return run_hub(environment, place, options)


def _list(environment: Environment, place: Path, *, as_json: bool) -> int:
    from hermes_acp.policy.workspace_trust import WorkspaceTrust
    from hermes_acp.skills.skill_commands import trust_item
    from hermes_acp.skills.skill_overview import line_text, overview
    from hermes_acp.skills.skill_service import SkillService
    from hermes_acp.world import RandomIds

    skill_service = SkillService(environment, lambda _: None)  # looked up here, and not followed
    workspace_trust = WorkspaceTrust(environment, RandomIds(), skill_service.brings)
    collection = skill_service.library.collection(str(place))
    found = overview(
        collection,
        practice_of(environment),
        lambda skill: skill.scope != "workspace" or workspace_trust.is_trusted(str(place), trust_item(skill)),
        twins_of(environment, collection.skills),
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
    """Find the versions of a skill: of the one in use here, or of one that was put away. Raises BadRequest."""
    from hermes_acp.skills.skill_service import SkillService

    usage_tracker = practice_of(environment)
    skill = SkillService(environment, lambda _: None).library.collection(str(place)).find(name)
    named = [each for each in usage_tracker.histories() if each.folder.name == name]
    if skill and (history := usage_tracker.history(skill.folder)).versions():
        return history
    if len(named) == 1:
        return named[0]
    if named:
        listed = ", ".join(str(each.folder) for each in named)
        raise BadRequest(
            f"Versions of several skills {name} are kept: {listed}.", hint="Use --cwd to say which."
        )
    told = f"No version of the skill {name!r} is kept." if skill else f"There is no skill {name!r}."
    raise BadRequest(told, hint="Versions are kept of skills that the agent changed or you installed.")


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
    from hermes_acp.storage.version_history import ChangeCause, origin_of
    from hermes_acp.world import SystemClock

    versions = history.versions()
    if number is None:
        newest = origin_of(versions) or versions[-1]
        earlier = [each.number for each in versions if each.number < newest.number and not each.is_gone]
        if not earlier:
            raise BadRequest(
                f"There is no version of {history.folder.name} before this one.",
                hint="`hermes-acp skills history` lists all; 0 puts the skill away.",
            )
        number = earlier[-1]
    version = history.restore(number, ChangeCause("user", SystemClock().now(), "rolled back by hand"))
    what = "was put away" if version.is_gone else f"is again what it was in version {number}"
    print(f"{escaped(history.folder.name)} {what}; that is version {version.number} now.")
    return 0
