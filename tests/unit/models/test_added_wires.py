"""Wire formats that installed packages add."""

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from hermes_acp.config.model_choice import choose_model
from hermes_acp.config.settings import Settings
from hermes_acp.core.errors import ConfigError
from hermes_acp.models.connection_factory import open_connection

MODULE = """
from hermes_acp.models.providers.openai_compatible import OpenAICompatible

class Cloud(OpenAICompatible):
    name = "cloud"
    path = "/cloud/chat"

PROVIDER = Cloud()
"""


@pytest.fixture
def packages(tmp_path: Path) -> Generator[Path]:
    """Install a package with two entry points, one of which is broken."""
    (tmp_path / "cloud_wire.py").write_text(MODULE, encoding="utf-8")
    about = tmp_path / "cloud_wire-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: cloud-wire\nVersion: 1.0\n", encoding="utf-8"
    )
    points = "[hermes_acp.providers]\ncloud = cloud_wire:PROVIDER\nbroken = cloud_wire:NOTHING\n"
    (about / "entry_points.txt").write_text(points, encoding="utf-8")
    sys.path.insert(0, str(tmp_path))
    yield tmp_path
    sys.path.remove(str(tmp_path))


def open_wire_named(name: str) -> object:
    section = {"base_url": "https://llm.example.org/v1", "wire": name}
    settings = Settings.model_validate({"provider": "mine", "model": "m", "providers": {"mine": section}})
    choice = choose_model(settings, {})
    assert choice
    return open_connection(choice, settings.providers["mine"])


def test_a_package_adds_a_wire_format(packages: Path) -> None:
    assert open_wire_named("cloud")
    with pytest.raises(ConfigError, match="'broken' of the package cloud-wire cannot be loaded"):
        open_wire_named("broken")
    with pytest.raises(ValueError, match="openai_responses, broken, cloud"):
        open_wire_named("clouds")
