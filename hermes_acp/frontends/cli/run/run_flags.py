"""The flags of `hermes-acp run`."""

import argparse

from hermes_acp.frontends.cli.flag_values import positive_number
from hermes_acp.frontends.cli.messages import run_messages
from hermes_acp.frontends.cli.run.run_output import FORMAT_FLAG, FORMATS

MODES = ("ask", "accept_edits", "plan", "auto", "bypass")
EFFORTS = ("default", "none", "minimal", "low", "medium", "high", "xhigh", "max")


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the flags to the parser."""
    parser.epilog, parser.formatter_class = run_messages.EXIT_CODES, argparse.RawDescriptionHelpFormatter
    parser.add_argument("words", nargs="*", metavar="PROMPT", help=run_messages.WORDS_HELP)
    parser.add_argument("-p", "--prompt", help=run_messages.PROMPT_HELP)
    parser.add_argument("--cwd", default=".", help=run_messages.CWD_HELP)
    parser.add_argument(
        "--add-dir", action="append", default=[], metavar="DIR", help=run_messages.ADD_DIR_HELP
    )
    parser.add_argument(FORMAT_FLAG, choices=FORMATS, default="text", help=run_messages.FORMAT_HELP)
    parser.add_argument("-m", "--model", metavar="MODEL", help=run_messages.MODEL_HELP)
    parser.add_argument("--effort", choices=EFFORTS, help=run_messages.EFFORT_HELP)
    parser.add_argument("--append-system-prompt", metavar="TEXT", help=run_messages.APPEND_SYSTEM_PROMPT_HELP)
    _add_permissions(parser)
    parser.add_argument("--backend", metavar="NAME", help=run_messages.BACKEND_HELP)
    for flag, kind, metavar, about in (
        ("--max-steps", int, "N", run_messages.MAX_STEPS_HELP),
        ("--max-tokens", int, "N", run_messages.MAX_TOKENS_HELP),
        ("--max-cost", float, "USD", run_messages.MAX_COST_HELP),
        ("--timeout", float, "S", run_messages.TIMEOUT_HELP),
    ):
        parser.add_argument(flag, type=positive_number(kind), metavar=metavar, help=about)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "-c", "--continue", dest="goes_on", action="store_true", help=run_messages.CONTINUE_HELP
    )
    which.add_argument("--session", metavar="ID", help=run_messages.SESSION_HELP)
    which.add_argument("-r", "--resume", metavar="ID", help=run_messages.RESUME_HELP)


def _add_permissions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mode", choices=MODES, help=run_messages.MODE_HELP)
    parser.add_argument(
        "--allow",
        "--allowed-tools",
        "--allowedTools",
        action="append",
        default=[],
        metavar="CALL",
        help=run_messages.ALLOW_HELP,
    )
    parser.add_argument("--allow-bypass", action="store_true", help=run_messages.ALLOW_BYPASS_HELP)
    parser.add_argument("--trust-workspace", action="store_true", help=run_messages.TRUST_HELP)
