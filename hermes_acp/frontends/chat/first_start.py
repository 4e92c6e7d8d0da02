"""Offer to run setup if a chat starts without a model or with invalid settings."""

import subprocess
import sys
from typing import Final

from hermes_acp_client.errors import AgentError, AgentRefused, SignInNeeded

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.command_line.line_input import read_line

BAD_CONFIG: Final = "bad_config"
"""The agent's error code for invalid settings."""


class SetupWanted(Exception):
    """The user wants to run setup and then chat."""


def offer_setup(failure: AgentError | None) -> None:
    """If setup would help, ask the user at a terminal whether to start it. Raises SetupWanted."""
    if isinstance(failure, SignInNeeded):
        question = messages.OFFER_SETUP
    elif isinstance(failure, AgentRefused) and failure.reason == BAD_CONFIG:
        question = messages.OFFER_MENDING
    else:
        return
    try:
        answer = read_line(question).lower()
    except EOFError:
        answer = "n"
    if answer in ("", "y", "yes"):
        raise SetupWanted


def run_setup() -> int:
    """Run `hermes-acp setup` in this terminal; return its exit code."""
    return subprocess.run([sys.executable, "-m", "hermes_acp", "setup"], check=False).returncode
