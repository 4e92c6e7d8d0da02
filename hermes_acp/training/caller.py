"""Determine who started this process: its ancestors, its terminal, and the programs at the terminal's other end.

The data comes from /proc on Linux (proc(5), pty(7): `tty-index` in fdinfo), otherwise from psutil, which does not show
the other end. Functions block.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from hermes_acp.workspaces.processes.process_table import ProcessInfo, list_processes
from hermes_acp.workspaces.processes.rlimit_tags import has_any_tag

MASTERS: Final = frozenset({"/dev/ptmx", "/dev/pts/ptmx"})
MAX_ANCESTORS: Final = 64


class SeenProcess(Struct, frozen=True):
    """A process above this one: its command line, its initial variables, and whether it has the tag of a command."""

    pid: int
    argv: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    is_tagged: bool = False


class Caller(Struct, frozen=True):
    """What is known about whoever started this process.

    `holders` are the processes with the other end of its terminal, and `above_holders` their ancestors. `is_confined`
    says that it can never gain privileges.
    """

    variables: Mapping[str, str]
    lineage: tuple[SeenProcess, ...]
    holders: tuple[SeenProcess, ...]
    above_holders: tuple[SeenProcess, ...]
    has_terminal: bool
    is_tagged: bool
    is_confined: bool


def look_at_caller(variables: Mapping[str, str], terminal: int | None) -> Caller:
    """Find out who started this process; `terminal` is the open controlling terminal, if it has one."""
    table = list_processes()
    own = os.getpid()
    holders = list(_holders_of(terminal)) if terminal is not None else []
    above = dict.fromkeys(parent for pid in holders for parent in _ancestors(pid, table))
    return Caller(
        variables,
        tuple(_seen(pid) for pid in _ancestors(own, table)),
        tuple(_seen(pid) for pid in holders if pid != own),
        tuple(_seen(pid) for pid in above),
        terminal is not None,
        has_any_tag(0),
        _is_confined(),
    )


def _ancestors(pid: int, table: Mapping[int, ProcessInfo]) -> Iterator[int]:
    for _ in range(MAX_ANCESTORS):
        known = table.get(pid)
        if known is None or known.parent <= 0:
            return
        pid = known.parent
        yield pid


def _seen(pid: int) -> SeenProcess:
    if not sys.platform.startswith("linux"):
        return _seen_by_psutil(pid)
    return SeenProcess(pid, _words(pid, "cmdline"), _variables(_words(pid, "environ")), has_any_tag(pid))


def _seen_by_psutil(pid: int) -> SeenProcess:
    import psutil

    argv: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    with suppress(OSError, psutil.Error):
        argv = tuple(psutil.Process(pid).cmdline())
    with suppress(OSError, psutil.Error):
        variables = psutil.Process(pid).environ()
    return SeenProcess(pid, argv, variables)


def _words(pid: int, name: str) -> tuple[str, ...]:
    try:
        content = Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return ()
    return tuple(os.fsdecode(word) for word in content.rstrip(b"\0").split(b"\0"))


def _variables(words: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def _is_confined() -> bool:
    with suppress(OSError):
        return "NoNewPrivs:\t1" in Path("/proc/self/status").read_text()
    return False


def _holders_of(terminal: int) -> Iterator[int]:
    """Yield the processes that hold the other end of a pseudo-terminal."""
    name = os.ttyname(terminal)
    if not name.startswith("/dev/pts/"):
        return
    shown = f"tty-index:\t{name.removeprefix('/dev/pts/')}\n"
    for pid in (int(entry) for entry in os.listdir("/proc") if entry.isdigit()):
        if any(_is_master(pid, number, shown) for number in _descriptors(pid)):
            yield pid


def _descriptors(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return []


def _is_master(pid: int, number: str, shown: str) -> bool:
    try:
        if os.readlink(f"/proc/{pid}/fd/{number}") not in MASTERS:
            return False
        return shown in Path(f"/proc/{pid}/fdinfo/{number}").read_text()
    except OSError:
        return False
