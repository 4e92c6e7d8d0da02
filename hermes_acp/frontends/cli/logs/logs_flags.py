"""The flags of `hermes-acp logs`."""

import argparse
from typing import Final

from hermes_acp.frontends.cli.flag_values import positive_number
from hermes_acp.frontends.cli.logs import messages as log_messages

DEFAULT_ENTRIES: Final = 200
KINDS: Final = (
    "turn",
    "request",
    "call",
    "approval",
    "run",
    "state",
    "notice",
    "change",
    "decision",
    "telemetry",
)


def add_logs(parser: argparse.ArgumentParser) -> None:
    """Add the flags to the parser."""
    parser.add_argument("-f", "--follow", action="store_true", help=log_messages.FOLLOW_HELP)
    parser.add_argument("--since", default="", metavar="DATE", help=log_messages.SINCE_HELP)
    parser.add_argument("--until", default="", metavar="DATE", help=log_messages.UNTIL_HELP)
    parser.add_argument("--session", default="", metavar="ID", help=log_messages.SESSION_HELP)
    parser.add_argument("--kind", action="append", choices=KINDS, default=[], help=log_messages.KIND_HELP)
    parser.add_argument(
        "--limit",
        type=positive_number(int),
        default=DEFAULT_ENTRIES,
        metavar="N",
        help=log_messages.limit_help(DEFAULT_ENTRIES),
    )
    parser.add_argument("--json", action="store_true", help=log_messages.JSON_HELP)
