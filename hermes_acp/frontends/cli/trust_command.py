"""hermes-acp trust: what a folder contains, trusted or not.

Knows: how it is shown. Does not know: what trust does, or what there is to trust.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.trust_types import TrustItem
from hermes_acp.frontends.cli.cli_output import bold, escaped

if TYPE_CHECKING:
    from hermes_acp.policy.workspace_trust import WorkspaceTrust


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help="the folder (default: this one)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--list", action="store_true", help="only show what there is, and whether it is trusted"
    )
    which.add_argument("--revoke", action="store_true", help="trust nothing of it any more")


def run_trust(options: argparse.Namespace) -> int:
    """Trust what is there now, or do what a flag says; give the exit code."""
    from hermes_acp.app.service_factories import custom_tools_of
    from hermes_acp.policy.workspace_trust import WorkspaceTrust
    from hermes_acp.skills.skill_service import SkillService
    from hermes_acp.world import RandomIds

    place = Path(options.path).resolve()
    if not place.is_dir():
        raise BadRequest(f"{options.path!r} is not a folder.", hint="Name an existing folder.")
    environment = read_environment()
    skills = SkillService(environment, lambda _: None)  # looked up here, and not followed
    tools = custom_tools_of(environment)
    workspace_trust = WorkspaceTrust(
        environment, RandomIds(), lambda folder: (*skills.brings(folder), *tools.brings(folder))
    )
    if options.revoke:
        workspace_trust.revoke(str(place))
        print(f"Nothing that {escaped(str(place))} brings along is trusted any more.")
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
        print(f"{escaped(place)} brings nothing along that would need to be trusted.")
    for item in items:
        word = bold("trusted") if workspace_trust.is_trusted(place, item) else "not trusted"
        kind = escaped(item.kind.replace("_", " "))
        what = kind if item.name == item.kind else f"{kind} {escaped(item.name)}"
        print(f"{word}: {what}: {escaped(item.about)}")
