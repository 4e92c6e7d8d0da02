"""Packages installed besides hermes-acp are kept: its extras, and what the user added."""

from __future__ import annotations

from pathlib import Path

from hermes_acp.updates.installed_package import Additions, installed_package, read_additions
from tests.unit.updates.installations import distribution


def test_extras_and_added_packages(tmp_path: Path) -> None:
    needs = (
        "anyio>=4",
        'hypercorn>=0.18; extra == "serve"',
        'starlette>=1; extra == "serve"',
        'modal; extra == "modal"',
        'psutil; sys_platform == "other"',
    )
    distribution(
        tmp_path,
        "hermes-acp-server",
        "0.1.0",
        needs=needs,
        extras=("modal", "serve"),
        RECORD="a.py,sha256=x,1\nRECORD,,\n",
    )
    distribution(tmp_path, "anyio", "4.0", needs=("idna",))
    for name in ("idna", "Hypercorn", "starlette", "pip", "setuptools"):
        distribution(tmp_path, name, "1.0")
    distribution(tmp_path, "my-tools", "2.0", needs=("helper-of-mine",))
    distribution(tmp_path, "helper-of-mine", "3.0")
    distribution(
        tmp_path,
        "from-git",
        "1.0",
        direct_url_json='{"url": "https://h/r", "vcs_info": {"vcs": "git", "commit_id": "abc"}}',
    )
    found = installed_package(tmp_path)
    assert found
    assert found.version == "0.1.0"
    assert found.build == {("a.py", "sha256=x")}
    assert read_additions(tmp_path) == Additions(
        ("serve",), ("from-git @ git+https://h/r@abc", "my-tools==2.0")
    )


def test_an_environment_without_hermes_acp(tmp_path: Path) -> None:
    assert installed_package(tmp_path) is None
    assert read_additions(tmp_path) == Additions()
