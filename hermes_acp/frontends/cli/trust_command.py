"""The `hermes-acp trust` command: list what a folder contains that needs trust, and trust it or revoke trust."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.trust_ports import TrustItem
from hermes_acp.frontends.cli.cli_output import bold, escaped
from hermes_acp.frontends.cli.messages import command_messages, trust_messages

if TYPE_CHECKING:
    from hermes_acp.policy.workspace_trust import WorkspaceTrust


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add the flags to the parser."""
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help=command_messages.FOLDER_HELP)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--list", action="store_true", help=trust_messages.LIST_HELP)
    which.add_argument("--revoke", action="store_true", help=trust_messages.REVOKE_HELP)


def run_trust(options: argparse.Namespace) -> int:
    """Trust the folder's current content, or list it or revoke trust, as the flags say; return the exit code."""
    from hermes_acp.app.service_factories import custom_tools_of
    from hermes_acp.ids import RandomIds
    from hermes_acp.policy.workspace_trust import WorkspaceTrust
    from hermes_acp.skills.skill_service import SkillService

    place = Path(options.path).resolve()
    if not place.is_dir():
        raise BadRequest(trust_messages.not_a_folder(options.path), hint=trust_messages.FOLDER_HINT)
    environment = read_environment()
    skills = SkillService(environment, lambda _: None)  # read once; later changes are not watched
    tools = custom_tools_of(environment)
    workspace_trust = WorkspaceTrust(
        environment, RandomIds(), lambda folder: (*skills.trust_items(folder), *tools.trust_items(folder))
    )
    if options.revoke:
        workspace_trust.revoke(str(place))
        print(trust_messages.revoked(escaped(str(place))))
        return 0
    items = workspace_trust.items(str(place))
    if not options.list and items:
        workspace_trust.trust(str(place), items)
    _print(workspace_trust, str(place), items)
    return 0


def _print(workspace_trust: "WorkspaceTrust", place: str, items: Sequence[TrustItem]) -> None:
    found = workspace_trust.settings_of(place)
    for notice in found.notices if found else ():
        print(escaped(notice))
    if not items:
        print(trust_messages.nothing_to_trust(escaped(place)))
    for item in items:
        is_trusted = workspace_trust.is_trusted(place, item)
        state = bold(trust_messages.TRUSTED) if is_trusted else trust_messages.NOT_TRUSTED
        kind = escaped(item.kind.replace("_", " "))
        what = kind if item.name == item.kind else f"{kind} {escaped(item.name)}"
        print(trust_messages.item_line(state, what, escaped(item.about)))
