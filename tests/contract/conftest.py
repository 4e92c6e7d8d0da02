"""A fresh scene for what is tested with real servers."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from hermes_acp.workspaces.processes import Row, list_processes
from tests.conversations.house import Scene

LeftOver = Callable[[], list[Row]]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path.resolve())


@pytest.fixture
def reaped() -> None:
    """Reap what tests before this one left: this process adopts orphans, and some tests count its children."""
    for row in list_processes().values():
        if row.is_dead and row.parent == os.getpid():
            with suppress(ChildProcessError):
                os.waitpid(row.pid, os.WNOHANG)


def children() -> list[Row]:
    """Give this process's children, but for the watcher that is there until the workspace is closed."""
    mine = [row for row in list_processes().values() if row.parent == os.getpid()]
    return [row for row in mine if b"hermes-acp-watch" not in Path(f"/proc/{row.pid}/cmdline").read_bytes()]


@pytest.fixture
def left_over(reaped: None) -> LeftOver:
    """Give the children that a test has left, by and by; a library's own, from tests before, are not its."""
    before = {row.pid for row in children()}
    return lambda: [row for row in children() if row.pid not in before]
