"""The install command for an extra names the source of this installation, and never a package on an index."""

import sys
from pathlib import Path

import pytest

from hermes_acp.config.installation import extra_hint, install_command


def test_a_folder_is_reinstalled_from_the_folder(tmp_path: Path) -> None:
    origin = f'{{"url": "file://{tmp_path}", "dir_info": {{}}}}'
    assert install_command("serve", origin) == f"{sys.executable} -m pip install '{tmp_path}[serve]'"


def test_an_editable_folder_stays_editable(tmp_path: Path) -> None:
    origin = f'{{"url": "file://{tmp_path}", "dir_info": {{"editable": true}}}}'
    assert install_command("aws", origin) == f"{sys.executable} -m pip install -e '{tmp_path}[aws]'"


def test_a_wheel_is_reinstalled_from_the_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "with space" / "hermes_acp_server-0.1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    origin = f'{{"url": "{wheel.as_uri()}", "archive_info": {{}}}}'
    assert install_command("serve", origin) == f"{sys.executable} -m pip install '{wheel}[serve]'"


@pytest.mark.parametrize(
    ("origin", "source"),
    [
        ('{"url": "https://example.com/x.whl", "archive_info": {}}', "https://example.com/x.whl"),
        (
            '{"url": "https://example.com/r", "vcs_info": {"vcs": "git", "commit_id": "abc"}}',
            "git+https://example.com/r@abc",
        ),
    ],
)
def test_a_remote_source_is_named_exactly(origin: str, source: str) -> None:
    assert install_command("serve", origin).endswith(f" 'hermes-acp-server[serve] @ {source}'")


@pytest.mark.parametrize(
    "origin", ["", "no JSON", '{"url": "http://example.com/x.whl"}', '{"url": "file:///gone/from/here"}']
)
def test_an_unknown_origin_names_the_clone(origin: str) -> None:
    assert install_command("serve", origin) == "python -m pip install '.[serve]'"


def test_the_hint_of_this_installation_never_names_an_index() -> None:
    assert "hermes-acp-server[" not in extra_hint("recall")
