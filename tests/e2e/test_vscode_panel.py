"""The panel and the pages in a browser, without an editor: keys, widths, and messages to the host.

The checks are in `vscode/panel_checks.mjs`; all are made in one browser.
"""

from __future__ import annotations

import re

import pytest

from tests.e2e.vscode_editor import DRIVER, EXTENSION, Stage, build_extension, play, require_editor

pytestmark = pytest.mark.slow

LIST = re.search(r"CHECKS = \[(.*?)\]", (DRIVER / "panel_checks.mjs").read_text(), re.DOTALL)
CHECKS = re.findall(r"\w+", LIST[1] if LIST else "")


@pytest.fixture(scope="module")
def stage(require_all: bool) -> Stage:
    browser = require_editor(is_required=require_all)
    build_extension(browser)
    return Stage(lambda: play("panel_page.mjs", {"extension": str(EXTENSION)}, browser))


@pytest.mark.parametrize("name", CHECKS)
def test_a_page_without_an_editor(stage: Stage, name: str, request: pytest.FixtureRequest) -> None:
    played = stage.reports(request)
    assert name in played, "the run ended before this check"
    assert not played[name].error
