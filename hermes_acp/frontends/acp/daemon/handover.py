"""Hand an editor's connection over to the resident process, if there is one.

The process that the editor started then only waits for the end. Without a suitable resident process, nothing
happens and the agent runs here. Imports little: every start comes through here, and what is imported stays in
memory for as long as the editor runs.
"""

import os
import sys
from collections.abc import Mapping

from hermes_acp.config.home_folders import home_of, process_variables
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.acp.daemon.daemon_socket import HANDOVER, connect, read_line, socket_path


def hand_over(in_fd: int, out_fd: int, *, allows_bypass: bool) -> int | None:
    """Let the resident process serve a client; return its exit code, or None if the client must be served here."""
    variables = process_variables()
    try:
        home, _, _ = home_of(variables)
    except ConfigError:
        return None  # the server reports it
    if not os.path.exists(socket_path(home)):
        return None
    return _hand_over(home, variables, in_fd, out_fd, allows_bypass=allows_bypass)


def _hand_over(
    home: str, variables: Mapping[str, str], in_fd: int, out_fd: int, *, allows_bypass: bool
) -> int | None:
    import json  # the usual decoder would cost five megabytes here
    import socket

    from hermes_acp import __version__
    from hermes_acp.frontends.acp.messages import daemon

    line = connect(home)
    if line is None:
        return None
    hello = {
        "purpose": "serve",
        "version": __version__,
        "allowsBypass": allows_bypass,
        "variables": {**variables},
    }
    with line:
        try:
            line.sendall(json.dumps(hello).encode() + b"\n")
            answer = json.loads(read_line(line))
            if not answer["isAccepted"]:
                sys.stderr.write(f"hermes-acp: {daemon.works_alone(answer.get('reason', ''))}\n")
                return None
            socket.send_fds(line, [HANDOVER], [in_fd, out_fd])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        for descriptor in {in_fd, out_fd}:
            os.close(descriptor)
        line.settimeout(None)
        try:
            code = line.recv(1)
        except OSError:
            code = b""
        if code:
            return code[0]
        sys.stderr.write(f"hermes-acp: {daemon.LOST}\n")
        return ExitCode.BUSY
