"""Start the agent processes of a chat, the first one before the rest of the chat is imported."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from hermes_acp_client.child import start_child
from hermes_acp_client.errors import AgentGone

from hermes_acp.config.environment import Environment


class AgentLauncher:
    """Start one command, again each time its process has ended."""

    def __init__(self, flags: Sequence[str], environment: Environment) -> None:
        """Start the first agent at once, so that it loads while the chat does."""
        self.environment = environment
        self._command = [sys.executable, "-m", "hermes_acp", *flags]
        # Copying sessions belongs to the protocol's unstable half.
        self._variables = {**environment.variables, "HERMES_ACP_UNSTABLE": "1"}
        self._ready: subprocess.Popen[bytes] | None = None
        with suppress(AgentGone):  # `take` tries again and raises
            self._ready = start_child(self._command, self._variables)

    def take(self) -> subprocess.Popen[bytes]:
        """Return a running agent that is not connected yet. Raises AgentGone."""
        ready, self._ready = self._ready, None
        return ready or start_child(self._command, self._variables)
