"""The flags of `hermes-acp scan`.

Knows: which there are, what `--help` says. Does not know: what they do.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from msgspec import Struct

EXIT_CODES = "exit codes: 0 nothing to block, 1 something is blocked, 2 usage, or a file that cannot be read, 4 storage"


class ScanFlags(Struct, frozen=True):
    """What was asked for; at most one of the ways."""

    files: tuple[str, ...]
    all: bool
    jsonl: bool
    allow: bool
    forbid: bool


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        from hermes_acp.frontends.cli.cli_output import note

        note(f"{message}. Try `{self.prog} --help`.")
        sys.exit(2)


def add_scan(parser: argparse.ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="files and folders to judge; - reads standard input"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="of a folder judge every text, not only those that agents read as instructions",
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--jsonl",
        action="store_true",
        help="read lines {id, text} from standard input and answer each with {id, verdict, categories, findings}",
    )
    ways.add_argument(
        "--allow", action="store_true", help="let these files pass as they are, until they change"
    )
    ways.add_argument("--forbid", action="store_true", help="take that back")


def parse_flags(arguments: Sequence[str]) -> ScanFlags:
    """Read the command line; what it does not know ends the process with exit code 2."""
    parser = _Parser(prog="hermes-acp scan", epilog=EXIT_CODES)
    add_scan(parser)
    options = parser.parse_args(arguments)
    return ScanFlags(tuple(options.files), options.all, options.jsonl, options.allow, options.forbid)
