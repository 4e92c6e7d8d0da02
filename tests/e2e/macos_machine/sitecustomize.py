"""Make Python on Linux look like Python on macOS: other names, fewer calls.

Imported by every interpreter that starts.

Only what a program can learn from Python changes. The file system stays case-sensitive, and the kernel is still Linux.
So this reveals calls and files that do not exist on macOS, but not different behaviour.
"""

import contextlib
import ctypes
import errno
import importlib
import inspect
import os
import select
import selectors
import signal
import socket
import sys
import sysconfig
import types
from typing import Any

LINUX_ONLY = {
    os: (
        "O_PATH", "O_TMPFILE", "O_NOATIME", "O_DIRECT", "O_RSYNC", "O_LARGEFILE", "RWF_NOWAIT", "RWF_HIPRI",
        "memfd_create", "MFD_CLOEXEC", "pidfd_open", "getxattr", "setxattr", "listxattr", "removexattr",
        "copy_file_range", "splice", "eventfd", "sched_getaffinity", "sched_setaffinity", "posix_fadvise",
        "posix_fallocate", "getrandom", "getresuid", "getresgid", "setresuid", "setresgid", "pipe2", "fdatasync",
        "unshare", "setns",
    ),
    socket: ("SO_PEERCRED", "SOCK_CLOEXEC", "SOCK_NONBLOCK", "AF_NETLINK", "AF_PACKET", "TCP_USER_TIMEOUT"),
    signal: ("pidfd_send_signal", "sigwaitinfo", "sigtimedwait", "SIGRTMIN", "SIGRTMAX", "SIGSTKFLT", "SIGPWR"),
    select: ("epoll", "EPOLLIN", "EPOLLOUT"),
    selectors: ("EpollSelector",),
}  # fmt: skip
LINUX_LIBC = {
    "prctl", "inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch", "syscall", "renameat2",
    "openat2", "sendfile64", "sched_setaffinity", "memfd_create", "unshare", "setns", "mount", "name_to_handle_at",
}  # fmt: skip


class Libc(ctypes.CDLL):
    """A C library without the Linux-only functions."""

    def __getattr__(self, name: str) -> Any:
        if name in LINUX_LIBC:
            raise AttributeError(f"dlsym(RTLD_DEFAULT, {name}): symbol not found")
        return super().__getattr__(name)


def refuse_proc(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse to open or list anything in /proc, except for psutil, which reads other places on macOS."""
    if event not in ("open", "os.listdir", "os.scandir") or not str(arguments[0]).startswith("/proc"):
        return
    caller = inspect.currentframe()
    caller = caller.f_back if caller else None
    if caller is None or "psutil" not in caller.f_code.co_filename:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), arguments[0])


def become_macos() -> None:
    """Remove what exists only on Linux, and name the system as macOS does."""
    with contextlib.suppress(ImportError):
        importlib.import_module("truststore")  # On macOS it loads Apple's Security framework.
        importlib.import_module("psutil")  # Detects its system when it is imported.
    sysconfig.get_config_vars()  # This interpreter's own data has Linux in its name.
    selectors.DefaultSelector = selectors.PollSelector
    for module, names in LINUX_ONLY.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    import resource

    for name in (
        "prlimit",
        "RLIMIT_NICE",
        "RLIMIT_RTPRIO",
        "RLIMIT_SIGPENDING",
        "RLIMIT_MSGQUEUE",
        "RLIMIT_OFILE",
    ):
        if hasattr(resource, name):
            delattr(resource, name)
    proxies = types.ModuleType("_scproxy")  # The system's proxy settings, which urllib queries on macOS.
    proxies.__dict__.update(_get_proxy_settings=dict, _get_proxies=dict)
    sys.modules["_scproxy"] = proxies
    ctypes.CDLL = Libc
    sys.platform = "darwin"
    sys.addaudithook(refuse_proc)
    known = os.uname()
    told = os.uname_result(("Darwin", known.nodename, "24.6.0", "Darwin Kernel Version 24.6.0", "arm64"))
    os.uname = lambda: told


if os.environ.get("HERMES_TEST_PLATFORM") == "darwin":
    become_macos()
