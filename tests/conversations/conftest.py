"""A new scene for every conversation."""

from pathlib import Path

import pytest

from tests.conversations.app_scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path.resolve())


@pytest.fixture
def draft(scene: Scene) -> Scene:
    """Enable the draft of version 2 in the scene."""
    scene.variables["HERMES_ACP_DRAFT_V2"] = "1"
    return scene
