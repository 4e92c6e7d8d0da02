"""hermes-acp trust: what a folder brings along, trusted or not.

Knows: how it is shown. Does not know: what trust does, or what there is to trust.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.trust import TrustItem
from hermes_acp.faces.cli.lettering import bold, escaped

if TYPE_CHECKING:
    from hermes_acp.assembly.trustee import Trustee


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
    from hermes_acp.assembly.librarian import Librarian
    from hermes_acp.assembly.toolsmith import toolsmith_of
    from hermes_acp.assembly.trustee import Trustee
    from hermes_acp.world import RandomIds

    place = Path(options.path).resolve()
    if not place.is_dir():
        raise BadRequest(f"{options.path!r} is not a folder.", hint="Name an existing folder.")
    environment = read_environment()
    skills = Librarian(environment, lambda _: None)  # looked up here, and not followed
    tools = toolsmith_of(environment)
    trustee = Trustee(
        environment, RandomIds(), lambda folder: (*skills.brings(folder), *tools.brings(folder))
    )
    if options.revoke:
        trustee.revoke(str(place))
        print(f"Nothing that {escaped(str(place))} brings along is trusted any more.")
        return 0
    items = trustee.items(str(place))
    if not options.list and items:
        trustee.trust(str(place), items)
    _print(trustee, str(place), items)
    return 0


def _print(trustee: "Trustee", place: str, items: Sequence[TrustItem]) -> None:
    found = trustee.settings_of(place)
    for notice in found.notices if found else ():
        print(escaped(notice))
    if not items:
        print(f"{escaped(place)} brings nothing along that would need to be trusted.")
    for item in items:
        word = bold("trusted") if trustee.is_trusted(place, item) else "not trusted"
        kind = escaped(item.kind.replace("_", " "))
        what = kind if item.name == item.kind else f"{kind} {escaped(item.name)}"
        print(f"{word}: {what}: {escaped(item.about)}")
