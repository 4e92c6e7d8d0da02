"""Refuse actions of a host function that exceed its tool's declared capabilities, using Python's audit events.

This finds mistakes, not attacks: it sees what Python code does in the call's own thread or task. It does not see
threads that the function starts, C code that does not raise audit events, connections that were open before, or the
programs that a function with `processes` starts.
"""

import os
import re
import sys
import sysconfig
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from hermes_acp.frontends.library import messages
from hermes_acp.frontends.library.tool import FunctionCapability

WRITE_FLAGS: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
SYSTEM_FILES: Final = re.compile(
    r"/etc/(hosts|host\.conf|resolv\.conf|nsswitch\.conf|gai\.conf|services|protocols|localtime|timezone|mime\.types"
    r"|os-release|(ssl|pki|ca-certificates)/.*)"
    r"|/usr/(share|lib)/(zoneinfo|ssl|ca-certificates)/.*|/usr/lib/locale/.*|/dev/(null|urandom|random)"
    r"|/proc/(cpuinfo|meminfo|self/(status|maps|cgroup|mountinfo))"
)
"""Files that libraries read to look up names, times and certificates."""
CODE: Final = re.compile(r".*(\.py|\.pyc|\.pyi|\.so|\.pyd|\.zip|/METADATA|/RECORD|/entry_points\.txt)")
BYTECODE: Final = re.compile(r".*/__pycache__/[^/]+")
EVENTS: Final = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo",
                "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo",
            ),
            "network",
        ),
        **dict.fromkeys(
            (
                "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty",
                "os.kill", "os.killpg", "pty.spawn", "os.startfile",
            ),
            "processes",
        ),
        **dict.fromkeys(
            (
                "open", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate",
                "os.chmod", "os.chown", "os.utime", "os.listdir", "os.scandir", "os.chdir", "os.setxattr",
                "os.removexattr", "shutil.copyfile", "shutil.move", "shutil.rmtree", "sqlite3.connect",
            ),
            "files",
        ),
    }
)  # fmt: skip
"""The audit events that need a capability. Source: the table of audit events in Python's documentation."""


class CapabilityRefused(PermissionError):
    """A function tried to do something that its tool has not declared."""


class CapabilityGuard:
    """The permissions of one call of a host function."""

    def __init__(
        self,
        tool: str,
        capabilities: tuple[FunctionCapability, ...],
        on_refusal: Callable[[str, str, str], None],
    ) -> None:
        """Prepare the guard; `on_refusal` is called with the tool, the capability and the event of each refusal."""
        self.tool = tool
        self.refusals: list[str] = []
        self._capabilities = frozenset[str](capabilities)
        self._on_refusal = on_refusal
        self._is_reporting = False

    def check(self, event: str, args: tuple[Any, ...]) -> None:
        """Raise CapabilityRefused if an audit event needs an undeclared capability."""
        needed = EVENTS.get(event)
        if needed is None or needed in self._capabilities or self._is_reporting:
            return
        if needed == "files" and _is_harmless(event, args):
            return
        sentence = messages.beyond_capabilities(self.tool, needed, _what(event, args))
        self.refusals.append(sentence)
        self._is_reporting = True  # the report itself writes to a file
        try:
            self._on_refusal(self.tool, needed, event)
        finally:
            self._is_reporting = False
        raise CapabilityRefused(sentence)


_GUARD: Final[ContextVar[CapabilityGuard | None]] = ContextVar("hermes_acp_capability_guard", default=None)


@contextmanager
def guarded(guard: CapabilityGuard) -> Generator[None]:
    """Check what the current thread or task does in the block, and what the tasks do that it starts there."""
    _watch()
    token = _GUARD.set(guard)
    try:
        yield
    finally:
        _GUARD.reset(token)


def guarded_tool() -> str:
    """Return the name of the tool whose function is running in this context, or an empty string."""
    guard = _GUARD.get()
    return guard.tool if guard else ""


@cache
def _watch() -> None:
    """Watch the audit events of this process from now on; Python cannot remove an audit hook."""
    sys.addaudithook(_on_event)


def _on_event(event: str, args: tuple[Any, ...]) -> None:
    guard = _GUARD.get()
    if guard is not None:
        guard.check(event, args)


def _is_harmless(event: str, args: tuple[Any, ...]) -> bool:
    """Return whether a file access is of a kind that imports or name lookups need."""
    path = _path_in(args)
    if path is None:
        return True  # the descriptor is already open
    path = os.path.abspath(path) if os.path.isabs(path) else path
    if event in ("os.listdir", "os.scandir"):
        return _is_in(path, _code_folders())
    if event == "os.mkdir":
        return path.endswith("/__pycache__") and _is_in(path, _code_folders())
    if event == "os.rename":
        return bool(BYTECODE.fullmatch(path)) and _is_in(path, _code_folders())
    if event != "open":
        return False
    if SYSTEM_FILES.fullmatch(path):
        return True
    is_written = _is_written(args)
    if is_written or not _is_in(path, _installed_folders()):
        kinds = BYTECODE if is_written else CODE
        return bool(kinds.fullmatch(path)) and _is_in(path, _code_folders())
    return True


def _is_written(args: tuple[Any, ...]) -> bool:
    mode = args[1] if len(args) > 1 else None
    flags = args[2] if len(args) > 2 and isinstance(args[2], int) else 0
    return bool(isinstance(mode, str) and set(mode) & set("wax+")) or bool(flags & WRITE_FLAGS)


def _path_in(args: tuple[Any, ...]) -> str | None:
    path = args[0] if args else None
    if path is None:
        return "."
    if isinstance(path, int):
        return None
    try:
        return os.fsdecode(path)
    except TypeError:
        return str(path)


def _what(event: str, args: tuple[Any, ...]) -> str:
    """Describe an event by its name and its path, program or address."""
    about = (
        args[1] if event in ("socket.connect", "socket.bind") and len(args) > 1 else args[0] if args else ""
    )
    if event == "socket.getaddrinfo" and len(args) > 1:
        about = f"{args[0]}:{args[1]}"
    if isinstance(about, bytes):
        about = os.fsdecode(about)
    return f"{event} {about!s:.200}".rstrip()


def _is_in(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


@cache
def _installed_folders() -> tuple[str, ...]:
    """Return the folders of Python and of the installed packages."""
    found = (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())
    return tuple(dict.fromkeys(path for path in found if path not in ("", "/", "/usr")))


def _code_folders() -> tuple[str, ...]:
    """Return the folders that modules are imported from."""
    return (*_installed_folders(), *(path.rstrip("/") for path in sys.path if path not in ("", "/")))
