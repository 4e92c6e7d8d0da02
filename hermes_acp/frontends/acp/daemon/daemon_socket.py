"""Where the resident process of a home folder is reached, and what is said there first.

A client sends one line, `Hello`, and gets one line, `Answer`. If its descriptors are accepted, it sends these with one
byte, and waits for a line with an exit code. This module is read by every process that an editor starts, so it imports
little.
"""

import os
from typing import Final

from msgspec import Struct

SOCKET: Final = "daemon.sock"
MAX_PATH_BYTES: Final = 100
"""What fits into a socket's address on every system."""
MAX_LINE_BYTES: Final = 1 << 20
HANDOVER: Final = b"\x01"


class Hello(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a client asks of the resident process.

    `serve` hands a client's descriptors over, with the `variables` its commands are to see; `status` asks what runs;
    `stop` asks it to end once running turns have ended, `kill` to end at once.
    """

    purpose: str
    version: str = ""
    allows_bypass: bool = False
    variables: dict[str, str] = {}


class Answer(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What the resident process answers: whether it does it and, if not, why."""

    is_accepted: bool
    reason: str = ""


class SessionStatus(Struct, frozen=True, rename="camel"):
    """One open session: what it does (`idle`, `running` or `waiting` for an answer), and who is attached."""

    id: str
    title: str
    cwd: str
    state: str
    clients: tuple[str, ...]


class DaemonStatus(Struct, frozen=True, rename="camel"):
    """One resident process; `address` is where it serves HTTP, if it does."""

    pid: int
    version: str
    started_at: float
    address: str
    clients: tuple[str, ...]
    sessions: tuple[SessionStatus, ...]


def socket_path(home: str) -> str:
    """Return the path of the socket."""
    return os.path.join(home, SOCKET)


def socket_address(home: str, folder: int) -> str:
    """Return an address of the socket that is short enough; `folder` is a descriptor of the home folder."""
    path = socket_path(home)
    if len(os.fsencode(path)) <= MAX_PATH_BYTES:
        return path
    return f"/proc/self/fd/{folder}/{SOCKET}"
