"""Open a folder below another one with openat2(2), so that the kernel itself ensures that nothing leads out.

Source: openat2(2), Linux 5.6; its number is the same on every architecture except Alpha.
"""

import ctypes
import errno
import os
import sys
from functools import cache
from typing import Any, Final

_NUMBER: Final = 437
_NO_MAGIC_LINKS: Final = 0x02
_NO_LINKS: Final = 0x04
_BENEATH: Final = 0x08
_TRIES: Final = 8
_FLAGS: int = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


class _How(ctypes.Structure):
    """`struct open_how`."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_beneath(folder: int, path: str) -> int | None:
    """Open a folder by its path relative to an open one without following links; return None if the kernel cannot.

    Raises OSError as open does: ELOOP if the path contains a link, EXDEV if it would lead out.
    """
    call = _system_call()
    if call is None:
        return None
    how = _How(_FLAGS, 0, _BENEATH | _NO_LINKS | _NO_MAGIC_LINKS)
    for _ in range(_TRIES):
        opened: int = call(_NUMBER, folder, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
        if opened >= 0:
            return opened
        number = ctypes.get_errno()
        if number in (errno.ENOSYS, errno.EPERM, errno.E2BIG, errno.EINVAL):
            return None
        # Folders are being renamed at the same time, so the kernel cannot guarantee the result.
        if number not in (errno.EAGAIN, errno.EINTR):
            raise OSError(number, os.strerror(number), path)
    return None


@cache
def _system_call() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        call = ctypes.CDLL(None, use_errno=True).syscall
    except (OSError, AttributeError):
        return None
    call.restype = ctypes.c_long
    return call
