"""Serve the editor that started this process, over standard input and output.

The handshake is answered before the event loop is imported.
"""

import sys

from msgspec import structs

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.fast_handshake import greet
from hermes_acp.shutdown import ShutdownGuard, reset_inherited_signals
from hermes_acp.storage.descriptor_limit import raise_limit


def serve_stdio(in_fd: int, out_fd: int, guard: ShutdownGuard, *, allows_bypass: bool = False) -> int:
    """Serve until the client closes its end or a signal asks to stop; return the exit code.

    `guard`, which already runs, ensures that this process ends. `allows_bypass` offers the mode that never asks.
    """
    client = ClientConnection()
    raise_limit()
    try:
        environment = structs.replace(read_environment(), allows_bypass=allows_bypass)
        greeting = greet(client, environment, in_fd, out_fd)
        from hermes_acp.frontends.acp.stdio_process import run

        reset_inherited_signals()
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except ConfigError as error:
        sys.stderr.write(f"hermes-acp: {error.sentence()}\n")
        return error.exit_code
    return run(environment, client, greeting, (in_fd, out_fd), guard)
