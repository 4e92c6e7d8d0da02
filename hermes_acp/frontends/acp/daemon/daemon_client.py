"""Talk to the resident process of a home folder from another process of the same user."""

from contextlib import suppress

import msgspec

from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.acp.daemon.daemon_messages import Answer, Hello
from hermes_acp.frontends.acp.daemon.daemon_socket import connect, read_line


def ask(home: str, purpose: str) -> bytes | None:
    """Send a request and return the line that answers it, or None if no resident process answers."""
    line = connect(home)
    if line is None:
        return None
    with line, suppress(OSError):
        line.sendall(msgspec.json.encode(Hello(purpose)) + b"\n")
        return read_line(line) or None
    return None


def stop(home: str, *, at_once: bool, is_replaced: bool = False) -> bool:
    """Ask the resident process to end, and wait until it has ended. Return False if none is running.

    If `is_replaced`, the clients of that process wait for its successor.

    Raises HermesError if it refuses.
    """
    line = connect(home)
    if line is None:
        return False
    with line:
        line.sendall(
            msgspec.json.encode(Hello("kill" if at_once else "stop", is_replaced=is_replaced)) + b"\n"
        )
        answer = msgspec.json.decode(read_line(line), type=Answer)
        if not answer.is_accepted:
            raise HermesError(answer.reason)
        line.settimeout(None)
        with suppress(OSError):
            while line.recv(1 << 10):
                pass  # it sends nothing more, so the end of the stream means that it has ended
    return True
