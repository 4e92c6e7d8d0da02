"""A home folder that others can change is reported; one that only its user can change is not."""

from pathlib import Path

import pytest

from hermes_acp.config.environment import environment_of
from hermes_acp.storage.home_permissions import home_permissions_warning


@pytest.mark.parametrize(
    ("name", "mode", "is_told"),
    [
        ("", 0o777, True),
        ("", 0o755, False),
        ("", 0o700, False),
        ("config.yaml", 0o666, True),
        ("config.yaml", 0o644, False),
        (".env", 0o604, True),
        (".env", 0o600, False),
        ("trust.json", 0o602, True),
    ],
)
def test_a_home_that_others_can_change_is_reported(
    tmp_path: Path, name: str, mode: int, is_told: bool
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    changed = home / name
    if name:
        changed.touch()
    changed.chmod(mode)
    reported = home_permissions_warning(environment_of({"HERMES_HOME": str(home)}))
    assert (str(changed) in reported) is is_told
    assert bool(reported) is is_told


def test_a_missing_home_belongs_to_nobody(tmp_path: Path) -> None:
    assert home_permissions_warning(environment_of({"HERMES_HOME": str(tmp_path / "none")})) == ""
