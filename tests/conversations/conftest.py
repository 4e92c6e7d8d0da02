"""A fresh scene for every conversation."""

from pathlib import Path

import pytest

from tests.conversations.house import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path.resolve())
