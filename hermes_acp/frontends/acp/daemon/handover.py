"""Hand an editor's connection over to the resident process, if there is one.

The process that the editor started then only waits for the end. Without a resident process, or with one that does not
fit, nothing happens and the agent runs here. Imports little: every start comes through here.
"""

import os
import sys
from typing import TYPE_CHECKING, Final

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.acp.daemon.daemon_socket import socket_path

if TYPE_CHECKING:
    from hermes_acp.config.environment import Environment

LOST: Final = ExitCode.BUSY


def hand_over(in_fd: int, out_fd: int, *, allows_bypass: bool) -> int | None:
    """Let the resident process serve a client; return its exit code, or None if the client is to be served here."""
    try:
        environment = read_environment()
    except ConfigError:
        return None  # the server reports it
    if not os.path.exists(socket_path(environment.home_path)):
        return None
    return _hand_over(environment, in_fd, out_fd, allows_bypass=allows_bypass)


def _hand_over(environment: "Environment", in_fd: int, out_fd: int, *, allows_bypass: bool) -> int | None:
    import socket

    import msgspec

    from hermes_acp import __version__
    from hermes_acp.frontends.acp.daemon.daemon_client import connect, read_line
    from hermes_acp.frontends.acp.daemon.daemon_socket import HANDOVER, Answer, Hello
    from hermes_acp.frontends.acp.messages import daemon

    line = connect(environment.home_path)
    if line is None:
        return None
    with line:
        hello = Hello("serve", __version__, allows_bypass, dict(environment.variables))
        try:
            line.sendall(msgspec.json.encode(hello) + b"\n")
            answer = msgspec.json.decode(read_line(line), type=Answer)
            if not answer.is_accepted:
                sys.stderr.write(f"hermes-acp: {daemon.works_alone(answer.reason)}\n")
                return None
            socket.send_fds(line, [HANDOVER], [in_fd, out_fd])
        except (OSError, msgspec.MsgspecError):
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
        return LOST
