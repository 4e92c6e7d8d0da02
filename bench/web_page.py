"""Measure the web page in a real Chromium: its size, its load time, and loading and scrolling 10,000 items.

Run: python -m bench.web_page [ITEMS]
Long tasks (over 50 ms) are those that the browser itself reports. The floor is the same words as plain text in one
element, scrolled in the same steps, which shows the browser's own cost. The browser and the extension's packages are
those used by the tests (`bash tests/install.sh`).
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
from playwright.async_api import Page, async_playwright

from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    SessionOpened,
    StepEnded,
    TextSaid,
    TitleChanged,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import TextPart, ToolCall
from hermes_acp.core.proposals import Diff
from hermes_acp.frontends.web.page_files import BUILT
from hermes_acp.storage.transcript import Transcript
from tests.e2e.http_serving import TOKEN, serving
from tests.e2e.web_page import ARGUMENTS, DESKTOP, build_page

ITEMS, ITEMS_OF_A_TURN = 10_000, 5
TITLE = "A long session"
GOAL_TASK_MS, GOAL_READY_S, GOAL_BYTES = 100, 1.0, 700_000
ANSWER = (
    "## Answer {0}\n\nIt says **a number**, see `file{0}.txt`.\n\n"
    "```python\ndef f{0}(x):\n    return x + {0}\n```\n"
)
WATCH = """() => {
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({duration}) => duration)))
        .observe({type: "longtask", buffered: false});
}"""
SCROLL = """async (list) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const frames = [];
    window.tasks = [];
    for (const direction of [-1, 1]) {
        for (let step = 0; step < 300; step += 1) {
            const began = performance.now();
            list.scrollTop += direction * (step % 3 === 2 ? 20000 : 700);
            await frame();
            frames.push(performance.now() - began);
        }
    }
    await frame();
    return [frames.sort((one, other) => one - other), window.tasks];
}"""


def turn(number: int) -> Iterator[Event]:
    """Yield a turn of five items: a question, text, a call with a change, its outcome, and an answer with code."""
    call_id, first, second = f"call_{number}", f"msg_{number}a", f"msg_{number}b"
    path = f"/tmp/file{number}.txt"
    diff = Diff(
        path, "".join(f"line {at}\n" for at in range(20)), "".join(f"line {at % 7}\n" for at in range(20))
    )
    yield TurnStarted(f"turn_{number}")
    yield UserSaid(f"msg_{number}", (TextPart(f"question {number}: what does this file say? " * 4),))
    yield TextSaid(first, f"I look into file {number} and tell you.")
    yield StepEnded(first, (ToolCall(call_id, "edit_file", f'{{"path":"{path}"}}'),))
    yield CallProposed(call_id, "edit_file", f"Edit {path}", "edit", {"path": path}, diffs=(diff,))
    yield CallStarted(call_id)
    yield CallEnded(call_id, "edit_file", "completed", f"content {number}\n" * 20, diffs=(diff,))
    yield TextSaid(second, ANSWER.format(number))
    yield StepEnded(second)
    yield TurnEnded(f"turn_{number}", "done")


def store_session(home: Path, cwd: Path, items: int) -> None:
    """Store a session with the given number of items."""
    transcript = Transcript.create(home / ".hermes" / "sessions" / "long.jsonl")
    transcript.append(SessionOpened("long", str(cwd), (str(cwd),), 1_700_000_000.0))
    transcript.append(TitleChanged(TITLE))
    for number in range(items // ITEMS_OF_A_TURN):
        for event in turn(number):
            transcript.append(event)
    transcript.close()


def report(name: str, value: float, unit: str, goal: float | None = None) -> None:
    """Print one line."""
    print(f"{name:42} {value:10,.1f} {unit:5}" + (f" (goal: at most {goal:,.1f})" if goal else ""))


def report_scroll(name: str, measured: tuple[list[float], list[float]]) -> None:
    """Print the results of scrolling."""
    frames, tasks = measured
    report(f"{name}: a frame, median", frames[len(frames) // 2], "ms")
    report(f"{name}: a frame, p99", frames[len(frames) * 99 // 100], "ms")
    report(f"{name}: long tasks", len(tasks), "")
    report(f"{name}: the longest task", max(tasks, default=0.0), "ms", GOAL_TASK_MS)


async def measure(page: Page, address: str, items: int) -> None:
    """Open the page, load the session and scroll it."""
    began = time.perf_counter()
    await page.goto(f"{address}#token={TOKEN}")
    await page.get_by_role("button", name="Past sessions").last.wait_for()
    report("ready", time.perf_counter() - began, "s", GOAL_READY_S)
    await page.evaluate(WATCH)
    await page.get_by_role("button", name="Past sessions").first.click()
    began = time.perf_counter()
    await page.get_by_role("button", name=TITLE).first.click()
    last = items // ITEMS_OF_A_TURN - 1
    await page.get_by_role("heading", name=f"Answer {last}").wait_for()
    report("load", time.perf_counter() - began, "s")
    tasks: list[float] = await page.evaluate("window.tasks")
    report("load: the longest task", max(tasks, default=0.0), "ms")
    report_scroll("scroll", await page.locator(".list").evaluate(SCROLL))
    report("heap", await page.evaluate("performance.memory.usedJSHeapSize") / 1e6, "MB")


async def measure_floor(page: Page, items: int) -> None:
    """Measure scrolling the same words as plain text."""
    words = "\n".join(ANSWER.format(number) + "line\n" * 20 for number in range(items // ITEMS_OF_A_TURN))
    await page.goto("data:text/html,<pre style='height:700px;overflow:auto'></pre>")
    await page.evaluate(WATCH)
    await page.locator("pre").evaluate("(pre, words) => { pre.textContent = words; }", words)
    report_scroll("floor: plain text", await page.locator("pre").evaluate(SCROLL))


async def main(items: int) -> None:
    """Run all measurements."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Chromium is not installed; run: bash tests/install.sh all")
    build_page(browser)
    sent = [path for path in BUILT.iterdir() if path.name.startswith(("page-", "codicon-", "index"))]
    report("size on the wire", sum(path.stat().st_size for path in sent), "bytes", GOAL_BYTES)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        store_session(home, Path(folder), items)
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "HERMES_MODEL": "none",
            "OPENAI_API_KEY": "none",
        }
        async with serving(variables, Path(folder)) as server, async_playwright() as driver:
            chromium = await driver.chromium.launch(executable_path=browser, args=ARGUMENTS)
            page = await chromium.new_page(viewport={"width": DESKTOP["width"], "height": DESKTOP["height"]})
            page.set_default_timeout(120_000)
            await measure(page, server.url.removesuffix("acp"), items)
            await measure_floor(page, items)
            await chromium.close()


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else ITEMS)
