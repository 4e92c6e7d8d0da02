"""What several end-to-end tests begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.chat_place import Place, make_place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give a home and a project."""
    return make_place(tmp_path)
