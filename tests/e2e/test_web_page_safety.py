"""The web page's safety: text cannot run scripts, load anything or act; the page is accessible."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.e2e.web_page import PHONE, ask, findings, require_page, visiting
from tests.model_server import Reply, ToolCall

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

ELSEWHERE = "http://elsewhere.invalid"
NAME = "<img src=x onerror=window.pwned=2>.py"
MARKDOWN = f"""<script>window.pwned=1</script><img src="{ELSEWHERE}/a.png" onerror="window.pwned=1">
<iframe src="{ELSEWHERE}/frame"></iframe>
<style>@import url({ELSEWHERE}/s.css); *{{background:url({ELSEWHERE}/b)}}</style>
<form action="{ELSEWHERE}"><button formaction="javascript:window.pwned=1">Go</button></form>
<svg><a xlink:href="javascript:window.pwned=1"><text>svg</text></a></svg><math href="javascript:window.pwned=1">x</math>

![picture]({ELSEWHERE}/p.png) [bad](javascript:window.pwned=1) [data](data:text/html,<script>alert(1)</script>)
[ok](https://example.invalid/) `{NAME}:1`

$$\\href{{javascript:window.pwned=1}}{{x}} \\includegraphics{{{ELSEWHERE}/m.png}}$$

```mermaid
graph TD
  A["<img src='{ELSEWHERE}/d.png' onerror='window.pwned=1'>"] --> B
  click A "javascript:window.pwned=1"
  click B call window.alert()
```

Everything was said.
"""
DANGEROUS = Path(__file__).with_name("dangerous_elements.js").read_text().partition("\n")[2].rstrip(";\n")
PARSED = re.compile("^(Applying inline style|Executing inline event handler) violates")
LOOK = ToolCall("mcp__evil__look", {})
WRITE = ToolCall("write_file", {"path": NAME, "content": f"<script>window.pwned=3</script>\n{MARKDOWN}"})
RUN = ToolCall(
    "terminal",
    {"command": "printf '\\033]8;;javascript:window.pwned=4\\a<b onclick=x>\\033]8;;\\a'; rm -rf none"},
)


@pytest.fixture
def browser(require_all: bool) -> str:
    return require_page(is_required=require_all)


async def open_cards(page: Page) -> None:
    """Open every card, so that all its contents are drawn."""
    for card in await page.locator(".card-head[aria-expanded=false]").all():
        await card.click()


async def test_hostile_text_names_and_results_run_load_and_do_nothing(tmp_path: Path, browser: str) -> None:
    server = Path(__file__).with_name("hostile_mcp.py")
    config = f"mcp_servers:\n  evil: {{command: {sys.executable}, args: ['{server}']}}\n"
    calls = (
        Reply(MARKDOWN, tool_calls=(LOOK,)),
        Reply("1", tool_calls=(WRITE,)),
        Reply("2", tool_calls=(RUN,)),
    )
    async with visiting(tmp_path, browser, *calls, Reply("All shown."), config=config) as visit:
        asked_for: list[str] = []
        dialogs: list[str] = []
        visit.context.on("request", lambda request: asked_for.append(request.url))
        page = await visit.begin()
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        await ask(page, f"<img src=x onerror=window.pwned=5> {MARKDOWN[:300]}")
        for _ in calls:
            await page.get_by_role("button", name="Allow once").click()
        await page.get_by_text("All shown.").wait_for()
        await open_cards(page)
        await page.locator(".list").evaluate("list => list.scrollTo(0, 0)")
        await page.locator(".diagram, .diagram-fault").first.wait_for()
        await open_cards(page)
        await page.get_by_role("button", name="Compare").first.click()
        await page.get_by_role("button", name="Close").click()
        await page.get_by_role("button", name="Past sessions").click()
        await page.locator(".past-row").first.wait_for()
        assert await page.evaluate("window.pwned") is None
        assert (
            await page.locator("#root").locator("script, iframe, form, img, style, object, embed").count()
            == 0
        )
        assert [url for url in asked_for if not url.startswith((visit.address, "data:"))] == []
        assert dialogs == []
        assert len(visit.context.pages) == 1
        # Diagrams are parsed in a document in which nothing runs; the policy is checked there too.
        assert [each for each in visit.complaints if not PARSED.search(each)] == []


async def test_the_page_is_accessible_in_both_colour_schemes_and_at_any_width(
    tmp_path: Path, browser: str
) -> None:
    edit = ToolCall("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x = 5"})
    read = ToolCall("read_file", {"path": "a.py"})
    words = "# Title\n\nSome `code`, [a link](https://example.invalid/).\n\n```python\ndef f(): return 1  # one\n```\n"
    async with visiting(tmp_path, browser, Reply(words, tool_calls=(read, edit))) as visit:
        page = await visit.begin()
        await ask(page, "change a.py")
        await page.get_by_role("button", name="Allow once").wait_for()
        await open_cards(page)
        assert await findings(page) == []
        await page.emulate_media(color_scheme="dark")
        await page.set_viewport_size(PHONE)
        assert await findings(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await page.get_by_role("button", name="Past sessions").click()
        await page.locator(".past-row").first.wait_for()
        assert await findings(page) == []
        await page.get_by_role("button", name="Runs").click()
        await page.get_by_text("No runs yet").wait_for()
        assert await findings(page) == []
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="New session").click()
        await page.get_by_label("Folder on the server").wait_for()
        assert await findings(page) == []
