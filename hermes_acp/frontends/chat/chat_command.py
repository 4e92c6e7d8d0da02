"""The `hermes-acp chat` command.

It starts the agent as soon as the flags are valid, and imports the rest of the chat afterwards.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

from hermes_acp.config.environment import read_environment
from hermes_acp.config.installation import extra_hint
from hermes_acp.core.errors import BadRequest, ConfigError, HermesError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.command_line.command_parser import CommandParser
from hermes_acp.frontends.command_line.deleted_folder import explain_deleted_folder
from hermes_acp.frontends.command_line.profile_flag import add_profile_flag

PROGRAM: Final = "hermes-acp chat"
NEEDED: Final = ("rich", "prompt_toolkit")


def chat_command(arguments: Sequence[str]) -> int:
    """Run a chat in the terminal; return the exit code."""
    try:
        options = _parser().parse(arguments)
        _require_packages(is_full=options.full)
        with explain_deleted_folder():
            cwd = os.path.abspath(options.cwd)
        if options.resume is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise BadRequest(messages.RESUME_WHICH, hint=messages.RESUME_WHICH_HINT)
        if not os.path.isdir(cwd):
            raise BadRequest(messages.not_a_folder(options.cwd), hint=messages.NOT_A_FOLDER_HINT)
        environment = read_environment()
        from hermes_acp.frontends.chat.agent.agent_launch import AgentLauncher

        launch = AgentLauncher(_agent_flags(options), environment)
        from hermes_acp.frontends.chat.chat_process import run_chat
        from hermes_acp.frontends.chat.first_start import SetupWanted, run_setup

        try:
            return run_chat(environment, cwd, options, launch)
        except SetupWanted:
            return run_setup() or chat_command(arguments)
    except HermesError as error:
        sys.stderr.write(f"{messages.fatal(error.sentence())}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def _agent_flags(options: argparse.Namespace) -> Sequence[str]:
    return ["--allow-bypass"] if options.allow_bypass else []


def _require_packages(*, is_full: bool) -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigError(messages.missing_packages(missing), hint=messages.MISSING_PACKAGES_HINT)
    if is_full and find_spec("textual") is None:
        raise ConfigError(messages.FULL_NEEDS_TEXTUAL, hint=extra_hint("tui"))


def _parser() -> CommandParser:
    parser = CommandParser(prog=PROGRAM, description=messages.COMMAND_DESCRIPTION)
    parser.add_argument("prompt", nargs="*", metavar="PROMPT", help=messages.FLAG_PROMPT)
    add_profile_flag(parser)
    parser.add_argument("--cwd", default=".", help=messages.FLAG_CWD)
    parser.add_argument("--model", default="", help=messages.FLAG_MODEL)
    parser.add_argument(
        "--mode",
        choices=("ask", "accept_edits", "plan", "auto", "bypass"),
        default="",
        help=messages.FLAG_MODE,
    )
    parser.add_argument("--allow-bypass", action="store_true", help=messages.FLAG_ALLOW_BYPASS)
    parser.add_argument("--private", action="store_true", help=messages.FLAG_PRIVATE)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--plain", action="store_true", help=messages.FLAG_PLAIN)
    kind.add_argument("--full", action="store_true", help=messages.FLAG_FULL)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--resume", nargs="?", metavar="ID", default="", help=messages.FLAG_RESUME)
    which.add_argument("-c", "--continue", dest="goes_on", action="store_true", help=messages.FLAG_CONTINUE)
    return parser
