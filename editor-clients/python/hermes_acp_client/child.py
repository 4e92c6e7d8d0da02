"""Starts an agent's command.

Knows: that its three streams are pipes and that an interrupt at the terminal is not for it. Does not know: an event
loop, which importing takes longer than starting does: whoever imports much starts the agent first.
"""

import subprocess
from collections.abc import Mapping, Sequence

from hermes_acp_client.errors import AgentGone


def start_child(command: Sequence[str], env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start the command in a process group of its own; `env` replaces the environment. Raises AgentGone."""
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            list(command), bufsize=0, env=env, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
    except OSError as error:
        raise AgentGone(f"{command[0]} could not be started: {error}") from error
