"""Drop access to all but a few folders for the calling thread and everything that it starts.

Uses Landlock (landlock(7)), seccomp(2) and capabilities(7), whose system calls affect a single thread.
"""

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Mapping, Sequence
from typing import Literal

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
NO_NEW_PRIVS, SET_SECCOMP, FILTER_MODE = 38, 22, 2
BOUNDING_SET_READ, BOUNDING_SET_DROP, LAST_CAPABILITY = 23, 24, 63
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REFER, TRUNCATE, IOCTL = 1 << 13, 1 << 14, 1 << 15
READING = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL

OWN_TERMINAL = "/dev/tty"

Right = Literal["list", "read", "use", "write"]
"""The rights to list names, to read contents, to use a device, and to do everything."""


def landlock_abi(libc: ctypes.CDLL) -> int:
    """Return this kernel's Landlock version, or 0 if it has none."""
    return max(0, libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def all_rights(version: int) -> int:
    """Return all file and folder rights that a Landlock version supports."""
    rights = (1 << 13) - 1
    rights |= REFER if version >= 2 else 0
    rights |= TRUNCATE if version >= 3 else 0
    return rights | (IOCTL if version >= 5 else 0)


def give_up(
    rules: Mapping[Right, Sequence[str]], program: bytes, terminal: str = "", *, network: bool
) -> None:
    """Drop all rights except those on these paths; calls go through a seccomp `program`, TCP only with `network`.

    Of the machine's terminals, only `terminal` can be opened.

    This is irreversible. If it raises OSError, some rights may already be dropped, and nothing may be started.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    version = landlock_abi(libc)
    if version < 1:
        raise OSError(errno.ENOSYS, "it could not be confined: this kernel has no Landlock")
    own = (*rules["use"], *((terminal, OWN_TERMINAL) if terminal else ()))
    restrict(libc, version, {**rules, "use": own}, network=network)
    drop_capabilities(libc)
    load_filter(libc, program)


def restrict(libc: ctypes.CDLL, version: int, rules: Mapping[Right, Sequence[str]], *, network: bool) -> None:
    """Drop all rights except the given ones. Raises OSError."""
    rights = all_rights(version)
    refused = 0 if network or version < 4 else 3
    scope = 3 if version >= 6 else 0
    size = 8 if version < 4 else 16 if version < 6 else 24
    attributes = struct.pack("<QQQ", rights, refused, scope)[:size]
    ruleset = checked(libc, libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), 0), "landlock")
    try:
        # A folder's rights apply to everything beneath it, so the right to list names must not include reading
        # contents.
        for path in rules["list"]:
            allow(libc, ruleset, path, READ_DIR & rights)
        for path in rules["read"]:
            allow(libc, ruleset, path, READING & rights)
        for path in rules["use"]:
            allow(libc, ruleset, path, (READ_FILE | WRITE_FILE | TRUNCATE | IOCTL | READ_DIR) & rights)
        for path in rules["write"]:
            allow(libc, ruleset, path, rights)
        checked(libc, libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        checked(libc, libc.syscall(RESTRICT_SELF, ruleset, 0), "landlock")
    finally:
        os.close(ruleset)


def allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    """Grant rights on one resolved path; skip it if it is missing or has become a link."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if os.readlink(f"/proc/self/fd/{place}") != path:
            return
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= OF_FILES
        if not rights:  # a file that may only be listed
            return
        rule = struct.pack("<Qi", rights, place)
        checked(libc, libc.syscall(ADD_RULE, ruleset, 1, rule, 0), path)
    finally:
        os.close(place)


def drop_capabilities(libc: ctypes.CDLL) -> None:
    """Deny root privileges to the next program, because they bypass some of the rules; other users have none anyway."""
    if os.geteuid() == 0:
        for capability in range(LAST_CAPABILITY + 1):
            if libc.prctl(BOUNDING_SET_READ, capability, 0, 0, 0) == 1:
                checked(libc, libc.prctl(BOUNDING_SET_DROP, capability, 0, 0, 0), "capabilities")


def load_filter(libc: ctypes.CDLL, words: bytes) -> None:
    """Load a seccomp program. Raises OSError."""
    program = ctypes.create_string_buffer(words, len(words))
    header = struct.pack("HxxxxxxP", len(words) // 8, ctypes.addressof(program))
    checked(libc, libc.prctl(SET_SECCOMP, FILTER_MODE, header, 0, 0), "seccomp")


def checked(libc: ctypes.CDLL, result: int, what: str) -> int:
    """Return a system call's result if it is not an error. Raises OSError."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"it could not be confined: {what}: {os.strerror(number)}")
    return result
