"""Files and settings of the server on the web page: what is shown and changed there, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.e2e.test_web_page_work import HOSTILE, check_page
from tests.e2e.web_page import ask, require_page, visiting
from tests.model_server import Reply, ToolCall

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

READ = ToolCall("read_file", {"path": "long.py", "offset": 380})
READ_OTHER = ToolCall("read_file", {"path": "other.py"})


@pytest.fixture
def browser(require_all: bool) -> str:
    return require_page(is_required=require_all)


async def test_a_file_is_opened_at_its_line_and_one_that_became_secret_is_not(
    tmp_path: Path, browser: str
) -> None:
    replies = (Reply("I read.", tool_calls=(READ, READ_OTHER)), Reply("Read."))
    async with visiting(tmp_path, browser, *replies) as visit:
        lines = [f"line {number} {HOSTILE}" for number in range(1, 401)]
        (visit.workspace / "long.py").write_text("\n".join(lines))
        other = visit.workspace / "other.py"
        other.write_text("x = 1\n")
        page = await visit.begin()
        await ask(page, "read them")
        await page.get_by_text("Read.", exact=True).wait_for()
        await page.get_by_role("button", name="Read long.py").first.click()
        await page.get_by_role("button", name="long.py:380", exact=True).click()
        content = page.get_by_role("region", name="Content of long.py")
        marked = content.locator("mark")
        await marked.wait_for()
        assert await marked.inner_text() == lines[379]
        assert await marked.evaluate(
            """(mark) => {
                const [inner, outer] = [mark, mark.closest(".file")].map((each) => each.getBoundingClientRect());
                return inner.top >= outer.top && inner.bottom <= outer.bottom;
            }"""
        )
        await check_page(page)
        await page.get_by_role("button", name="Close").click()
        other.unlink()
        (visit.workspace / ".env").write_text("A=1\n")
        other.symlink_to(visit.workspace / ".env")
        await page.get_by_role("button", name="Read other.py").first.click()
        await page.get_by_role("button", name="other.py:1", exact=True).click()
        await page.get_by_text(".env is not shown here").wait_for()
        assert visit.complaints == []


async def test_a_setting_is_changed_rejected_and_reset(tmp_path: Path, browser: str) -> None:
    config = "# mine\nmode: plan\n"
    async with visiting(tmp_path, browser, config=config) as visit:
        file = visit.home / ".hermes" / "config.yaml"
        page = await visit.open()
        await page.get_by_role("button", name="Settings").click()
        steps = page.get_by_role("textbox", name="Steps per turn")
        await steps.fill("many")
        await page.get_by_role("button", name="Save: Steps per turn").click()
        await page.get_by_role("alert").get_by_text("must be a whole number").wait_for()
        assert file.read_text() == config
        await steps.fill("12")
        await steps.press("Enter")
        back = page.get_by_role("button", name="Use the default: 100 (Steps per turn)")
        await back.wait_for()
        await page.get_by_role("combobox", name="Session titles").select_option("model")
        await page.get_by_role("button", name="Use the default: first_line (Session titles)").wait_for()
        assert file.read_text().startswith(config)
        assert yaml.safe_load(file.read_text()) == {
            "mode": "plan",
            "budget": {"max_steps": 12},
            "titles": "model",
        }
        await check_page(page)
        await back.click()
        await back.wait_for(state="detached")
        assert await steps.input_value() == "100"
        assert yaml.safe_load(file.read_text()) == {"mode": "plan", "titles": "model"}
        assert visit.complaints == []
