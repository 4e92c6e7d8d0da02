"""Detection of how hermes-acp was installed, and advice for installations that it cannot update itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes_acp.config.installation import first_environment
from hermes_acp.updates.installation_kinds import Kind, Machine, kind_of, require_updatable
from hermes_acp.updates.installed_package import installed_package
from hermes_acp.updates.update_errors import NotUpdatable
from tests.unit.updates.installations import environment

HERE = Machine()


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("uv-receipt.toml", "uv_tool"),
        ("pipx_metadata.json", "pipx"),
        ("hermes-wheel.txt", "extension"),
        ("conda-meta/history", "conda"),
        ("pipx_expire_env", "temporary"),
        ("other", "venv"),
    ],
)
def test_a_file_written_by_the_installer_names_the_kind(tmp_path: Path, file: str, kind: str) -> None:
    root = environment(tmp_path / "app")
    (root / file).parent.mkdir(exist_ok=True)
    (root / file).touch()
    assert kind_of(root, installed_package(root), HERE) == kind


def test_other_kinds(tmp_path: Path) -> None:
    root = environment(tmp_path / "app", origin='{"url": "file:///", "dir_info": {"editable": true}}')
    assert kind_of(root, installed_package(root), HERE) == "editable"
    cached = environment(tmp_path / "archive-v0" / "x7")
    assert kind_of(cached, installed_package(cached), HERE) == "temporary"
    inside = environment(tmp_path / "in")
    assert kind_of(inside, installed_package(inside), Machine(os.stat(inside).st_dev)) == "container"
    (inside / "pyvenv.cfg").unlink()
    assert kind_of(inside, installed_package(inside), HERE) == "system"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("editable", "git pull"),
        ("system", "package manager"),
        ("conda", "same command"),
        ("container", "newer image"),
        ("extension", "Update the extension"),
        ("temporary", "newer wheel"),
    ],
)
def test_installations_that_something_else_updates_say_what_to_do(
    tmp_path: Path, kind: Kind, words: str
) -> None:
    root = environment(tmp_path / "app")
    with pytest.raises(NotUpdatable) as caught:
        require_updatable(root, kind, installed_package(root))
    assert words in caught.value.sentence()


def test_a_versions_environment_leads_to_the_first_environment(tmp_path: Path) -> None:
    root = environment(tmp_path / "app")
    assert first_environment(root / "versions" / "0.2.0-ab") == root
    assert first_environment(root) == root
    assert first_environment(tmp_path / "versions" / "mine") == tmp_path / "versions" / "mine"
