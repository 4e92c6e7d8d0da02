"""Talk to the resident process of a home folder from another process of the same user."""

import os
import socket
from contextlib import suppress
from typing import Final

import msgspec

from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.acp.daemon.daemon_socket import MAX_LINE_BYTES, Answer, Hello, socket_address

ANSWER_S: Final = 2.0
"""How long a resident process may take to answer; an editor does not wait longer for one that hangs."""


def connect(home: str) -> socket.socket | None:
    """Connect to the resident process of a home folder, or return None if none listens."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.settimeout(ANSWER_S)
    try:
        folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        line.close()
        return None
    try:
        line.connect(socket_address(home, folder))
    except OSError:
        line.close()
        return None
    finally:
        os.close(folder)
    return line


def read_line(line: socket.socket) -> bytes:
    """Read up to the end of a line or of the stream. Raises OSError if nothing comes in time."""
    said = b""
    while not said.endswith(b"\n") and len(said) < MAX_LINE_BYTES:
        piece = line.recv(1 << 16)
        if not piece:
            break
        said += piece
    return said


def ask(home: str, purpose: str) -> bytes | None:
    """Ask something that is answered with one line; return None if no resident process answers."""
    line = connect(home)
    if line is None:
        return None
    with line, suppress(OSError):
        line.sendall(msgspec.json.encode(Hello(purpose)) + b"\n")
        return read_line(line) or None
    return None


def stop(home: str, *, at_once: bool) -> bool:
    """Ask the resident process to end, and wait until it has; return False if there is none.

    Raises HermesError if it refuses.
    """
    line = connect(home)
    if line is None:
        return False
    with line:
        line.sendall(msgspec.json.encode(Hello("kill" if at_once else "stop")) + b"\n")
        answer = msgspec.json.decode(read_line(line), type=Answer)
        if not answer.is_accepted:
            raise HermesError(answer.reason)
        line.settimeout(None)
        with suppress(OSError):
            while line.recv(1 << 10):
                pass  # it says nothing more; the end of the stream is its end
    return True
