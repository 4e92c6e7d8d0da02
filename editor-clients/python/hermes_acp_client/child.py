"""Start an agent's command."""

import subprocess
from collections.abc import Mapping, Sequence

from hermes_acp_client.errors import AgentGone


def start_child(command: Sequence[str], env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start the command in its own process group; `env`, if given, replaces the environment. Raises AgentGone."""
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            list(command), bufsize=0, env=env, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
    except OSError as error:
        raise AgentGone(f"{command[0]} could not be started: {error}") from error
