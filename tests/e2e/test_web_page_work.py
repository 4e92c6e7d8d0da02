"""Pages without a conversation: runs that ask, schedules; hostile text, both themes, a phone."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from playwright.async_api import Page

from tests.e2e.agent_process import COMMAND, agent_environment
from tests.e2e.web_page import PHONE, Visit, findings, require_page, visiting
from tests.model_server import Reply, ToolCall

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

HOSTILE = "<img src=x onerror=window.pwned=1><script>window.pwned=2</script> [go](javascript:window.pwned=3)"
WRITE = ToolCall("write_file", {"path": "made.txt", "content": "made\n"})
MARKUP = ".overlay script, .overlay iframe, .overlay img, .overlay object, .overlay a"


@pytest.fixture
def browser(require_all: bool) -> str:
    return require_page(is_required=require_all)


async def command(visit: Visit, *words: str) -> None:
    """Run a command in the home of the visited server."""
    environment = agent_environment(visit.home, visit.model)
    await anyio.run_process([COMMAND, *words], env=environment, cwd=visit.workspace, input=b"")


async def check_page(page: Page) -> None:
    """Check that the page ran and rendered nothing in the text it shows, and that it is accessible, also on a phone."""
    assert await page.evaluate("window.pwned") is None
    assert await page.locator(MARKUP).count() == 0
    assert await findings(page) == []
    await page.emulate_media(color_scheme="dark")
    await page.set_viewport_size(PHONE)
    assert await findings(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def check_usage(page: Page) -> None:
    """Check that usage is drawn by day and by any other grouping, with all figures in accessible tables."""
    await page.get_by_role("table", name="By session").get_by_role("button").first.wait_for()
    for measure in ("tokens", "requests"):
        await page.get_by_label("Measure").select_option(measure)
        chart = page.get_by_role("img", name=f"Bar chart: {measure} by day")
        assert await chart.locator("rect").count() == 1
        amount = (await chart.locator("title").text_content() or "").split()[-1]
        assert int(amount) >= 2
        assert f"{amount} in all" in (await chart.get_attribute("aria-label") or "")
    await page.get_by_role("table", name="By day").get_by_role("row", name="Total").wait_for()
    await check_page(page)
    for group, name in (
        ("workspace", "workspace"),
        ("model", "scripted"),
        ("profile", "default"),
        ("tool", "write_file"),
    ):
        await page.get_by_label("Group by").select_option(group)
        table = page.get_by_role("table", name=f"By {group}")
        box = await table.get_by_role("rowheader", name=name).locator("rect").first.bounding_box()
        assert box
        assert box["width"] > 20
        assert await table.evaluate("table => table.scrollWidth <= table.parentElement.clientWidth")
    await check_page(page)


async def test_open_questions_are_counted_and_answered_and_schedules_managed(
    tmp_path: Path, browser: str
) -> None:
    replies = (Reply("I write.", tool_calls=(WRITE,)), Reply("Written."))
    async with visiting(tmp_path, browser, *replies) as visit:
        await command(visit, "runs", "start", "--id", "nightly", "-p", HOSTILE)
        page = await visit.open()
        await page.get_by_role("button", name="Runs: 1 run or session is waiting for your answer").click()
        assert await page.title() == "(1) Hermes"
        await page.get_by_role("button", name=HOSTILE).first.click()
        question = page.get_by_role("group", name="Create made.txt")
        await question.get_by_text("made", exact=True).wait_for()
        await check_page(page)
        await question.get_by_role("button", name="Allow once").click()
        await page.get_by_text("done ·").wait_for()
        await page.get_by_role("button", name="Close").click()
        await page.get_by_role("button", name="Runs", exact=True).wait_for()
        assert (visit.workspace / "made.txt").read_text() == "made\n"

        await page.get_by_role("button", name="Schedules").click()
        await page.get_by_label("Prompt", exact=True).last.fill(HOSTILE)
        await page.get_by_label("Folder on the server").fill(str(visit.workspace))
        await page.get_by_label("Name").fill("morning")
        await page.get_by_role("textbox", name="Cron expression").fill("at seven")
        await page.get_by_role("button", name="Check").click()
        await page.get_by_role("alert").get_by_text("is not a cron expression").wait_for()
        await page.get_by_role("textbox", name="Cron expression").fill("0 7 * * 1-5")
        await page.get_by_label("Time zone").fill("Europe/Berlin")
        await page.get_by_role("button", name="Check").click()
        checked = page.get_by_role("group", name="Add a schedule")
        await checked.get_by_text(HOSTILE).wait_for()
        await checked.get_by_role("button", name="Add this schedule").click()
        one = page.get_by_role("region", name="morning")
        await one.get_by_role("button", name="Pause: morning").click()
        await one.get_by_text("· paused").wait_for()
        await one.get_by_role("button", name="Run now: morning").click()
        await one.get_by_role("button", name="History: morning").click()
        await one.get_by_text("a run was started").wait_for()
        await check_page(page)
        await one.get_by_role("button", name="Remove: morning").click()
        await one.get_by_role("button", name="Remove: morning").click()
        await page.get_by_text("No schedules yet.").wait_for()
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Usage").click()
        await check_usage(page)
        assert visit.complaints == []


async def test_a_board_shows_its_cards_to_everybody_and_accepts_a_users_actions(
    tmp_path: Path, browser: str
) -> None:
    async with visiting(tmp_path, browser) as visit:
        page, other = await visit.open(), await visit.open()
        for each in (page, other):
            await each.get_by_role("button", name="Board").click()
            await each.get_by_text("No cards yet.").wait_for()
        await page.get_by_text("Add a card").click()
        for title, blockers in (("Add a lexer", ""), (HOSTILE, "1")):
            form = page.get_by_role("form", name="Add a card")
            await form.get_by_label("Title", exact=True).fill(title)
            await form.get_by_label("What to do").fill(f"{HOSTILE}\nAll of it.")
            await form.get_by_label("Folder on the server").fill(str(visit.workspace))
            await form.get_by_label("Numbers of cards").fill(blockers)
            await form.get_by_role("button", name="Add the card").click()
            await other.get_by_role("button", name=title).wait_for()
        inbox = other.get_by_role("region", name="Inbox")
        await inbox.get_by_text("waits for #1").wait_for()
        await inbox.get_by_role("button", name="Add a lexer").focus()
        await other.keyboard.press("ArrowDown")
        await other.keyboard.press("Enter")
        card = other.get_by_role("article", name=HOSTILE)
        await card.get_by_text("is blocked by #1 Add a lexer").wait_for()
        await card.get_by_role("region", name="Text").get_by_text("All of it.").wait_for()
        await card.get_by_label("Message").fill(HOSTILE)
        await card.get_by_role("button", name="Comment").click()
        await card.get_by_role("region", name="Comments").get_by_text(HOSTILE).wait_for()
        await check_page(other)
        await page.get_by_role("button", name="Add a lexer").click()
        await page.get_by_role("button", name="Mark as done").click()
        await page.get_by_role("button", name="All cards").click()
        done = page.get_by_role("region", name="Done")
        await done.get_by_role("button", name="Add a lexer").wait_for()
        await page.get_by_role("region", name="Inbox").get_by_text("1 comment").wait_for()
        await check_page(page)
        await card.get_by_role("button", name="Park").wait_for(state="detached")
        await card.get_by_role("button", name="Remove", exact=True).click()
        await other.get_by_role("group").get_by_role("button", name="Remove").click()
        await page.get_by_role("button", name=HOSTILE).wait_for(state="detached")
        assert visit.complaints == []
