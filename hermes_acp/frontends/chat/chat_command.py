"""The command `hermes-acp chat`.

Knows: its flags, what must be installed for it. Does not know: the chat, which is imported when the flags are sound and
its agent is on the way.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest, ConfigError, HermesError

NEEDED: Final = ("rich", "prompt_toolkit")


def chat_command(arguments: Sequence[str]) -> int:
    """Hold a chat in the terminal; give the exit code."""
    options = _parser().parse_args(arguments)
    try:
        _require_packages()
        cwd = os.path.abspath(options.cwd)
        if not os.path.isdir(cwd):
            raise BadRequest(f"{options.cwd!r} is not a folder.", hint="Name an existing folder.")
        environment = read_environment()
        from hermes_acp.frontends.chat.agent.agent_launch import AgentLauncher

        launch = AgentLauncher(_agent_flags(options), environment)
        from hermes_acp.frontends.chat.chat_process import run_chat

        return run_chat(environment, cwd, options, launch)
    except HermesError as error:
        sys.stderr.write(f"hermes-acp: {error.sentence()}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return 130


def _agent_flags(options: argparse.Namespace) -> Sequence[str]:
    return ["--allow-bypass"] if options.allow_bypass or options.mode == "bypass" else []


def _require_packages() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"The chat needs packages that are missing from this installation: {', '.join(missing)}.",
            hint="Install hermes-acp-server again, with its dependencies.",
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hermes-acp chat",
        description="Talk to the agent in a terminal. In a pipe every line of standard input is a prompt.",
    )
    parser.add_argument("--cwd", default=".", help="the working directory (default: this one)")
    parser.add_argument("--model", default="", help="the model to begin with")
    parser.add_argument(
        "--mode",
        choices=("ask", "accept_edits", "plan", "auto", "bypass"),
        default="",
        help="what runs unasked (default: the configured one)",
    )
    parser.add_argument("--allow-bypass", action="store_true", help="let the mode `bypass` be chosen")
    parser.add_argument("--private", action="store_true", help="keep no history of what is typed")
    parser.add_argument("--plain", action="store_true", help="lines only, as in a pipe")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--resume", metavar="ID", default="", help="go on with session ID")
    which.add_argument(
        "--continue", dest="goes_on", action="store_true", help="go on with the last session of the folder"
    )
    return parser
