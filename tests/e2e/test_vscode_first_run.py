"""The extension before any setup: the panel leads to a server, a provider and a first answer; then its pages.

The steps are in `vscode/first_run.mjs`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.e2e.agent_process import COMMAND
from tests.e2e.vscode_editor import (
    DRIVER,
    PICTURES,
    ROOT,
    VSIX,
    Report,
    build_extension,
    play,
    require_editor,
)

pytestmark = pytest.mark.slow

LIST = re.search(r"step of \[(.*?)\]", (DRIVER / "first_run.mjs").read_text(), re.DOTALL)
STEPS = re.findall(r"\w+", LIST[1] if LIST else "")


@pytest.fixture(scope="module")
def played(require_all: bool, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    browser = require_editor(is_required=require_all)
    folder = tmp_path_factory.mktemp("first_run")
    tools = folder / "tools"
    tools.mkdir()
    python = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    (tools / python.name).symlink_to(python)
    build_extension(browser)
    config = {
        "folder": str(folder / "scene"),
        "vsix": str(VSIX),
        "command": COMMAND,
        "python": sys.executable,
        "script": str(DRIVER / "script.json"),
        "shots": str(PICTURES.with_name("vscode-first-run-pictures")),
        "root": str(ROOT),
        "tools": str(tools),
    }
    return play("first_run.mjs", config, browser)


@pytest.mark.parametrize("step", STEPS)
def test_a_user_with_nothing_set_up(played: dict[str, Report], step: str) -> None:
    assert step in played, "the run ended before this step"
    assert not played[step].error
