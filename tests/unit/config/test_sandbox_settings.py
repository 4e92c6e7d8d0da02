"""The sandbox settings as users write them."""

import pytest
from pydantic import ValidationError

from hermes_acp.config.sections.sandbox_settings import SandboxSettings


def test_yaml_booleans_are_read_as_on_and_off() -> None:
    settings = SandboxSettings.model_validate({"mode": True, "network": False})
    assert (settings.mode, settings.network) == ("on", "off")
    assert SandboxSettings.model_validate({"network": True}).network == "on"
    assert SandboxSettings.model_validate({"mode": False}).mode == "off"


def test_hosts_and_sizes() -> None:
    settings = SandboxSettings.model_validate(
        {
            "network": ["PyPI.org.", "*.crates.io", "git.example.com:8443"],
            "memory": "4G",
            "file_size": "500 MB",
        }
    )
    assert settings.network == ("pypi.org", "*.crates.io", "git.example.com:8443")
    assert (settings.memory, settings.file_size) == (4 << 30, 500 << 20)
    assert SandboxSettings.model_validate({"memory": 1 << 30}).memory == 1 << 30


@pytest.mark.parametrize(
    "written",
    [
        {"network": ["https://pypi.org"]},
        {"network": ["*"]},
        {"network": ["a.*.b"]},
        {"network": "some"},
        {"mode": "strict"},
        {"writable": ["/"]},
        {"writable": ["relative"]},
        {"read_only": ["/data/../etc"]},
        {"memory": "lots"},
        {"memory": 5},
        {"max_processes": 1},
        {"docker": True},
    ],
)
def test_invalid_settings_are_rejected(written: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SandboxSettings.model_validate(written)
