"""Sources of updates: the installation's own origin or a source that the user names, never a default index."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_acp.config.installation import read_origin
from hermes_acp.core.errors import BadRequest
from hermes_acp.updates.configured_index import configured_index
from hermes_acp.updates.update_errors import NotUpdatable
from hermes_acp.updates.update_sources import (
    AddressSource,
    FolderSource,
    GitSource,
    IndexSource,
    WheelsSource,
    named_source,
    source_of,
)

WHEEL = "hermes_acp_server-0.1.0-py3-none-any.whl"


def test_the_source_is_the_origin_of_the_installation(tmp_path: Path) -> None:
    (tmp_path / WHEEL).touch()
    wheel = read_origin(f'{{"url": "file://{tmp_path}/{WHEEL}", "archive_info": {{}}}}')
    assert source_of(wheel, "https://index") == WheelsSource(str(tmp_path))
    folder = read_origin(f'{{"url": "file://{tmp_path}", "dir_info": {{}}}}')
    assert source_of(folder, "") == FolderSource(str(tmp_path))
    cloned = read_origin('{"url": "https://h/r", "vcs_info": {"vcs": "git", "requested_revision": "main"}}')
    assert source_of(cloned, "") == GitSource("https://h/r", "main")
    address = read_origin('{"url": "https://h/x.whl", "archive_info": {}}')
    assert source_of(address, "") == AddressSource("https://h/x.whl")
    assert source_of(read_origin(""), "https://mine/simple") == IndexSource("https://mine/simple")


def test_an_index_that_nobody_chose_is_never_queried() -> None:
    with pytest.raises(NotUpdatable, match="by name") as caught:
        source_of(read_origin(""), "")
    assert "--index URL" in caught.value.hint


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotUpdatable, match="which no longer exists"):
        source_of(read_origin(f'{{"url": "file://{tmp_path}/gone.whl"}}'), "")


def test_a_user_can_name_a_source(tmp_path: Path) -> None:
    wheel = tmp_path / WHEEL
    wheel.touch()
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "pyproject.toml").touch()
    assert named_source(WHEEL, tmp_path) == (WheelsSource(str(tmp_path)), wheel)
    assert named_source(".", tmp_path) == (WheelsSource(str(tmp_path)), None)
    assert named_source("clone", tmp_path) == (FolderSource(str(clone)), None)
    assert named_source("git+https://h/r@v1", tmp_path) == (GitSource("https://h/r", "v1"), None)
    assert named_source("git+https://h/r", tmp_path) == (GitSource("https://h/r"), None)
    assert named_source("git+ssh://git@h/r", tmp_path) == (GitSource("ssh://git@h/r"), None)
    assert named_source("https://h/a.whl#sha256=ab", tmp_path) == (
        AddressSource("https://h/a.whl#sha256=ab"),
        None,
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("http://h/a.whl", "not encrypted"),
        ("https://h/simple", "use --index"),
        ("nowhere", "does not exist"),
        ("", "neither a wheel"),
        ("file.txt", "is not a wheel"),
    ],
)
def test_invalid_sources_are_rejected(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "file.txt").touch()
    with pytest.raises(BadRequest) as caught:
        named_source(text, tmp_path)
    assert words in caught.value.sentence()


def test_only_an_index_that_replaces_the_default_counts(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}
    (tmp_path / "pip.conf").write_text("[global]\nextra-index-url = https://more/simple\n")
    assert configured_index(tmp_path / "app", "pip", home) == ""
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://mine/simple/\n")
    assert configured_index(tmp_path / "app", "pip", home) == "https://mine/simple"
    assert (
        configured_index(tmp_path / "app", "pip", {**home, "PIP_INDEX_URL": "https://v/s"}) == "https://v/s"
    )
    assert configured_index(tmp_path / "app", "uv", home) == ""
    receipt = tmp_path / "app" / "uv-receipt.toml"
    receipt.parent.mkdir()
    receipt.write_text(
        '[tool.options]\nindex = [{ url = "https://more" }, { url = "https://r/s", default = true }]\n'
    )
    assert configured_index(tmp_path / "app", "uv", home) == "https://r/s"
    receipt.write_text("broken = [")
    assert (
        configured_index(tmp_path / "app", "uv", {**home, "UV_DEFAULT_INDEX": "https://u/s"}) == "https://u/s"
    )
