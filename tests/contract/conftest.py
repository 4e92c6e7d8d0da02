"""A fresh scene for what is tested with real servers."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from hermes_acp.workspaces.processes import list_processes
from tests.conversations.house import Scene


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
