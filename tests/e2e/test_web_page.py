"""A person's ways through the web page: in a real Chromium, with a real server, the model scripted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.http_serving import TOKEN
from tests.e2e.web_page import ask, require_page, visiting
from tests.model_server import Reply, ToolCall

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

READ = ToolCall("read_file", {"path": "a.py"})
EDIT = ToolCall("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x = 5"})


@pytest.fixture
def browser(require_all: bool) -> str:
    return require_page(is_required=require_all)


async def test_a_prompt_an_approved_edit_and_nothing_of_the_token_left(tmp_path: Path, browser: str) -> None:
    replies = (Reply("I will.", tool_calls=(READ, EDIT)), Reply("Done as asked."))
    async with visiting(tmp_path, browser, *replies) as visit:
        page = await visit.begin()
        assert page.url == visit.address
        assert TOKEN not in str(await page.evaluate("[location.href, document.referrer, history.state]"))
        await ask(page, "change a.py")
        question = page.get_by_role("group", name="Hermes asks")
        await page.locator(".line.come", has_text="x = 5").wait_for()
        await question.get_by_role("button", name="Allow once").click()
        await page.get_by_text("Done as asked.").wait_for()
        assert (visit.workspace / "a.py").read_text() == "x = 5\ny = 2\nz = 3\n"
        assert visit.complaints == []


async def test_without_a_token_the_page_asks_for_it_and_refuses_another(tmp_path: Path, browser: str) -> None:
    async with visiting(tmp_path, browser) as visit:
        page = await visit.open(token="")
        await page.get_by_label("Token").fill("not-the-token-0123456789")
        await page.get_by_role("button", name="Connect").click()
        await page.get_by_role("alert").get_by_text("does not accept").wait_for()
        await page.get_by_label("Token").fill(TOKEN)
        await page.get_by_role("button", name="Connect").click()
        await page.get_by_role("button", name="New session").wait_for()
