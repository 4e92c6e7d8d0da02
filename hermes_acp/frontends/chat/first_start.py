"""Offer the setup to somebody who starts a chat without a model."""

import subprocess
import sys

from hermes_acp_client.errors import AgentError, SignInNeeded

from hermes_acp.frontends.chat import messages


class SetupWanted(Exception):
    """The user wants to set up a model, and then to chat."""


def offer_setup(failure: AgentError | None) -> None:
    """Ask whether to start the setup if that is what a chat at a terminal failed for. Raise SetupWanted."""
    if not isinstance(failure, SignInNeeded):
        return
    try:
        answer = input(messages.OFFER_SETUP).strip().lower()
    except EOFError:
        answer = "n"
    if answer in ("", "y", "yes"):
        raise SetupWanted


def run_setup() -> int:
    """Run `hermes-acp setup` in this terminal; return its exit code."""
    return subprocess.run([sys.executable, "-m", "hermes_acp", "setup"], check=False).returncode
