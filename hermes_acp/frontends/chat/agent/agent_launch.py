"""Start the chat's agent process, before the rest of the chat is imported, and again after it has ended."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from hermes_acp_client.child import start_child
from hermes_acp_client.errors import AgentGone

from hermes_acp.config.environment import Environment


class AgentLauncher:
    """Starts the agent's command, and starts it again whenever its process has ended."""

    def __init__(self, flags: Sequence[str], environment: Environment) -> None:
        """Start the first agent at once, so that agent and chat load at the same time."""
        self.environment = environment
        self._command = [sys.executable, "-m", "hermes_acp", *flags]
        # Copying sessions is an unstable part of the protocol.
        self._variables = {**environment.variables, "HERMES_ACP_UNSTABLE": "1"}
        self._ready: subprocess.Popen[bytes] | None = None
        with suppress(AgentGone):  # `take` tries again, and raises if that fails too
            self._ready = start_child(self._command, self._variables)

    def take(self) -> subprocess.Popen[bytes]:
        """Return a running agent to which nobody is connected yet. Raises AgentGone."""
        ready, self._ready = self._ready, None
        return ready or start_child(self._command, self._variables)
