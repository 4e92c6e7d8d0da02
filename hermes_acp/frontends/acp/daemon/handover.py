"""Hand an editor's connection over to the resident process, if one is running.

The process that the editor started then only waits for the end. Without a suitable resident process, nothing
happens and the agent runs here. Imports little: every start comes through here, and what is imported stays in
memory for as long as the editor runs.
"""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hermes_acp.config.home_folders import home_of, process_variables
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.acp.daemon.daemon_socket import HANDOVER, read_line
from hermes_acp.frontends.acp.daemon.resident_lookup import ResidentLookup

if TYPE_CHECKING:
    import socket


def hand_over(in_fd: int, out_fd: int, *, allows_bypass: bool) -> int | None:
    """Let the resident process serve a client; return its exit code, or None if the client must be served here."""
    variables = process_variables()
    try:
        home, _, _ = home_of(variables)
    except ConfigError:
        return None  # the server reports it
    lookup = ResidentLookup(home, variables, allows_bypass=allows_bypass)
    if not lookup.may_succeed:
        return None
    return _hand_over(lookup, variables, (in_fd, out_fd), allows_bypass=allows_bypass)


def _hand_over(
    lookup: ResidentLookup, variables: Mapping[str, str], wire: tuple[int, int], *, allows_bypass: bool
) -> int | None:
    import json  # importing msgspec would cost five megabytes of memory here

    from hermes_acp import __version__
    from hermes_acp.frontends.acp.messages import daemon

    hello = {
        "purpose": "serve",
        "version": __version__,
        "allowsBypass": allows_bypass,
        "variables": {**variables},
    }
    greeting = json.dumps(hello).encode() + b"\n"
    reason, is_ending = "", True
    while is_ending and (line := lookup.connection()):
        with line:
            try:
                line.sendall(greeting)
                answer = json.loads(read_line(line))
                if answer["isAccepted"]:
                    return _wait_for_end(line, wire)
                reason, is_ending = answer.get("reason", ""), answer.get("isEnding", False)
            except TimeoutError:
                reason, is_ending = daemon.NO_ANSWER, False
            except (OSError, ValueError, KeyError, TypeError):
                reason = daemon.NO_ANSWER  # the resident process has just ended
    if reason or lookup.has_failed:
        sys.stderr.write(f"hermes-acp: {daemon.works_alone(reason or daemon.NO_SUCCESSOR)}\n")
    return None


def _wait_for_end(line: "socket.socket", wire: tuple[int, int]) -> int:
    """Hand the descriptors over, and wait for the exit code. Raises OSError if they cannot be handed over."""
    import socket

    from hermes_acp.frontends.acp.messages import daemon

    socket.send_fds(line, [HANDOVER], [*wire])
    for descriptor in {*wire}:
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
