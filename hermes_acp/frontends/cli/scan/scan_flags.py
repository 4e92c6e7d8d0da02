"""The flags of `hermes-acp scan`."""

import argparse
import sys
from collections.abc import Sequence

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import note
from hermes_acp.frontends.cli.messages import scan_messages
from hermes_acp.frontends.command_line.command_parser import CommandParser


class ScanFlags(Struct, frozen=True):
    """The parsed command line; at most one of the modes is set."""

    files: tuple[str, ...]
    all: bool
    jsonl: bool
    allow: bool
    forbid: bool


def add_scan(parser: argparse.ArgumentParser) -> None:
    """Add the flags to the parser."""
    parser.add_argument("files", nargs="*", metavar="FILE", help=scan_messages.FILES_HELP)
    parser.add_argument(
        "--all",
        action="store_true",
        help=scan_messages.ALL_HELP,
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--jsonl",
        action="store_true",
        help=scan_messages.JSONL_HELP,
    )
    ways.add_argument("--allow", action="store_true", help=scan_messages.ALLOW_HELP)
    ways.add_argument("--forbid", action="store_true", help=scan_messages.FORBID_HELP)


def parse_flags(arguments: Sequence[str]) -> ScanFlags:
    """Parse the command line; unknown arguments end the process with exit code 2."""
    parser = CommandParser(prog="hermes-acp scan", epilog=scan_messages.EXIT_CODES)
    add_scan(parser)
    try:
        options = parser.parse(arguments)
    except BadRequest as error:
        note(error.sentence())
        sys.exit(error.exit_code)
    return ScanFlags(tuple(options.files), options.all, options.jsonl, options.allow, options.forbid)
