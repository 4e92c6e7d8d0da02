"""A fresh scene for what is tested with real servers."""

from pathlib import Path

import pytest

from tests.conversations.house import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path.resolve())
