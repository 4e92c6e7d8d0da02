"""The socket of a home folder's resident process, and the first messages on it.

A client sends one line, `Hello`, and gets one line, `Answer` (`daemon_messages.py`). If its descriptors are accepted,
it sends these with one byte, and waits for a byte with an exit code. This module is read by every process that an
editor starts, so it imports little.
"""

import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import socket

SOCKET: Final = "daemon.sock"
NEW_SOCKET: Final = "daemon.sock.new"
"""The socket on which a process listens before replacing an earlier one."""
MAX_PATH_BYTES: Final = 100
"""The maximum length of a socket address on every system."""
MAX_LINE_BYTES: Final = 1 << 20
HANDOVER: Final = b"\x01"
ANSWER_S: Final = 2.0
"""The timeout for a response of the resident process; editors do not wait longer for one that hangs."""


def socket_path(home: str) -> str:
    """Return the path of the socket."""
    return os.path.join(home, SOCKET)


def socket_address(home: str, folder: int, name: str = SOCKET) -> str:
    """Return an address for a socket that fits the size limit; `folder` is a descriptor of the home folder."""
    path = os.path.join(home, name)
    if len(os.fsencode(path)) <= MAX_PATH_BYTES:
        return path
    return f"/proc/self/fd/{folder}/{name}"


def connect(home: str) -> "socket.socket | None":
    """Connect to the resident process of a home folder; return None if no process of this user listens there."""
    import socket

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
    if not is_own(line):  # a process of another user must not receive this process's environment variables
        line.close()
        return None
    return line


def read_line(line: "socket.socket") -> bytes:
    """Read up to the end of a line or of the stream. Raises OSError if nothing arrives in time."""
    said = b""
    while not said.endswith(b"\n") and len(said) < MAX_LINE_BYTES:
        piece = line.recv(1 << 16)
        if not piece:
            break
        said += piece
    return said


def is_own(line: "socket.socket") -> bool:
    """Ask the kernel whether the process at the other end of the socket belongs to this user."""
    import socket

    if sys.platform == "linux":
        credentials = line.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, 12
        )  # three of 4 bytes: pid, uid, gid
    elif sys.platform == "darwin":
        local, peer_credentials = 0, 1  # SOL_LOCAL and LOCAL_PEERCRED of <sys/un.h>: a version, then the uid
        credentials = line.getsockopt(local, peer_credentials, 76)
    else:
        return True  # only the permissions of the socket and its folder protect it
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.geteuid()
