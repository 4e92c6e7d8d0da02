"""Check the locks and sockets of a home folder: which are held, and which ones killed processes have left."""

import os
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from hermes_acp.config.home_folders import GATEWAY_LOCK, RESIDENT_LOCK
from hermes_acp.frontends.cli.doctor.doctor_findings import Finding
from hermes_acp.frontends.cli.messages import doctor_messages
from hermes_acp.storage.private_files import is_lock_held

CHECK: Final = "locks"
RESIDENT_SOCKET: Final = "daemon.sock"
OWN_CHECKS: Final = frozenset({RESIDENT_LOCK, GATEWAY_LOCK})
"""Locks that have checks of their own."""
ANSWER_S: Final = 2.0
MAX_PID_BYTES: Final = 20
MAX_SOCKET_PATH: Final = 100


def check_locks(home: Path) -> Iterator[Finding]:
    """Yield findings about the resident process's lock and socket, and about other locks. Blocks."""
    lock, address = home / RESIDENT_LOCK, home / RESIDENT_SOCKET
    is_held, is_answered = is_lock_held(lock), _answers(home)
    pid = _pid_in(lock)
    if is_held and not is_answered:
        yield Finding(
            CHECK, "problem", doctor_messages.silent_resident(pid), doctor_messages.end_resident(pid)
        )
    elif is_held:
        yield Finding(CHECK, "fine", doctor_messages.resident_answers(pid))
    elif address.is_socket():
        yield Finding(
            CHECK, "note", doctor_messages.left_socket(str(address)), doctor_messages.LEFT_SOCKET_HINT
        )
    elif os.path.lexists(address):
        text = doctor_messages.not_a_socket(str(address))
        yield Finding(CHECK, "problem", text, doctor_messages.remove_it(str(address)))
    for path in sorted(home.glob("*.lock")):
        if path.name != RESIDENT_LOCK and path.is_dir():
            text = doctor_messages.not_a_lock(str(path))
            yield Finding(CHECK, "problem", text, doctor_messages.remove_it(str(path)))
        elif path.name not in OWN_CHECKS and is_lock_held(path):
            yield Finding(
                CHECK, "note", doctor_messages.held_lock(str(path)), doctor_messages.who_holds(str(path))
            )


def _pid_in(path: Path) -> int:
    try:
        with path.open("rb") as file:
            said = file.read(MAX_PID_BYTES).strip()
    except OSError:
        return 0
    return int(said) if said.isdigit() else 0


def _answers(home: Path) -> bool:
    """Return whether a process answers a status request on the socket."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as line:
        line.settimeout(ANSWER_S)
        try:
            folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            path = str(home / RESIDENT_SOCKET)
            is_short = len(os.fsencode(path)) <= MAX_SOCKET_PATH
            line.connect(path if is_short else f"/proc/self/fd/{folder}/{RESIDENT_SOCKET}")
            line.sendall(b'{"purpose": "status"}\n')
            return bool(line.recv(1))
        except OSError:
            return False
        finally:
            os.close(folder)
