"""The server an editor starts: one client over standard input and output.

Knows: the order greeting, event loop, serving; how signals end it. Does not know: what is served.
"""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.greeting import greet


def serve_stdio(in_fd: int, out_fd: int) -> int:
    """Serve until the client closes its end or a signal asks to stop; give the exit code."""
    desk = Desk()
    try:
        pending = greet(desk, in_fd, out_fd)
    except KeyboardInterrupt:
        return 130
    from hermes_acp.faces.acp.process import run

    return run(desk, in_fd, out_fd, pending)
