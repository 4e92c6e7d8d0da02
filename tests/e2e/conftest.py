"""Fixtures shared by several end-to-end tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.chat_environment import Place, make_place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a home and a project."""
    return make_place(tmp_path)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return an empty home."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace with a file of two lines."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\ny = 2\n")
    return folder
