"""A clean environment for tests with real servers."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from hermes_acp.workspaces.processes.process_table import ProcessInfo, list_processes
from tests.conversations.app_scene import Scene

LeftOver = Callable[[], list[ProcessInfo]]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path.resolve())


@pytest.fixture
def reaped() -> None:
    """Reap processes left by earlier tests: this process adopts orphans, and some tests count its children."""
    for row in list_processes().values():
        if row.is_dead and row.parent == os.getpid():
            with suppress(ChildProcessError):
                os.waitpid(row.pid, os.WNOHANG)


def children() -> list[ProcessInfo]:
    """Return this process's children, except the watcher that stays until the workspace is closed."""
    mine = [row for row in list_processes().values() if row.parent == os.getpid()]
    return [row for row in mine if b"hermes-acp-watch" not in words_of(row) and is_there(row)]


def is_there(row: ProcessInfo) -> bool:
    """Return whether a process still exists, even as a zombie."""
    now = list_processes().get(row.pid)
    return now is not None and now.started == row.started


def words_of(row: ProcessInfo) -> bytes:
    """Return the command line of a process; wait if the process is just starting."""
    words, pause = b"", threading.Event()
    with suppress(OSError, KeyError):
        while not (words := Path(f"/proc/{row.pid}/cmdline").read_bytes()):
            if list_processes()[row.pid].is_dead:
                break
            pause.wait(0.01)
    return words


@pytest.fixture
def left_over(reaped: None) -> LeftOver:
    """Return the children that a test has left, excluding those that libraries started in earlier tests."""
    before = {row.pid for row in children()}
    return lambda: [row for row in children() if row.pid not in before]
