"""The extension in the window of a real VS Code, as people use it: by its labels, keys and screenshots.

The scenarios are in `vscode/scenarios.mjs`. They are played once, in one window, in order; screenshots are left in
`build/vscode-pictures`.
"""

from __future__ import annotations

import re

import pytest

from tests.e2e.vscode_editor import DRIVER, Stage, build_extension, play_scenarios, require_editor

pytestmark = pytest.mark.slow

LIST = re.search(r"SCENARIOS = \[(.*?)\]", (DRIVER / "scenarios.mjs").read_text(), re.DOTALL)
SCENARIOS = re.findall(r"\w+", LIST[1] if LIST else "")


@pytest.fixture(scope="module")
def stage(require_all: bool, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    browser = require_editor(is_required=require_all)
    build_extension(browser)
    return Stage(lambda: play_scenarios(tmp_path_factory.mktemp("window"), browser))


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_user_in_the_window(stage: Stage, name: str, request: pytest.FixtureRequest) -> None:
    played = stage.reports(request)
    assert name in played, "the run ended before this scenario"
    assert not played[name].error
