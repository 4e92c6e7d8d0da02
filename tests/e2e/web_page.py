"""The web page in a real Chromium, over a real `hermes-acp serve`."""

from __future__ import annotations

import fcntl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, ViewportSize, async_playwright

from hermes_acp.frontends.web.page_files import BUILT
from tests.chromium import chromium, whole_chromium
from tests.e2e.agent_process import agent_environment, configure
from tests.e2e.http_serving import TOKEN, Serving, serving
from tests.e2e.vscode_editor import BUILD_WAIT_S, EXTENSION, ROOT, RUN, run_node
from tests.model_server import ModelServer, Reply, serve

WAIT_MS = 60_000
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
DESKTOP: ViewportSize = {"width": 900, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 780}
AXE = """async () => {
    const rules = {"target-size": {enabled: true}};
    const {passes, violations} = await window.axe.run(document, {resultTypes: ["violations"], rules});
    if (passes.length === 0) throw new Error("axe looked at nothing");
    const told = ({html, any}) => `${html.slice(0, 160)} ${any[0]?.message ?? ""}`;
    return violations.flatMap(({id, nodes}) => nodes.map((node) => `${id}: ${told(node)}`));
}"""


def build_page(browser: str) -> None:
    """Build the page as `make web` does, once per test run."""
    lock, stamp = ROOT / "build" / "web-page.lock", ROOT / "build" / "web-page.run"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if (BUILT / "index.html").exists() and stamp.exists() and stamp.read_text() == RUN:
            return
        done = run_node(["build.mjs", "--web", "--production"], browser=browser, wait_s=BUILD_WAIT_S)
        assert done.returncode == 0, f"{done.stdout}{done.stderr}"
        stamp.write_text(RUN)


def require_page(*, is_required: bool, has_microphone: bool = False) -> str:
    """Return the browser's command; if anything is missing, skip the test, or fail it if nothing may be skipped."""
    browser = whole_chromium() if has_microphone else chromium()
    if browser and (EXTENSION / "node_modules" / ".installed-lock.json").exists():
        return browser
    complaint = "chromium or the extension's packages are not installed; tests/install.sh installs them"
    if is_required:
        pytest.fail(complaint)
    pytest.skip(complaint)


class Visit:
    """A server with a scripted model, a workspace, and a browser with one context."""

    def __init__(self, server: Serving, model: ModelServer, folder: Path, context: BrowserContext) -> None:
        """Store the parts; `folder` contains the workspace and the home."""
        self.server = server
        self.model = model
        self.workspace = folder / "workspace"
        self.home = folder / "home"
        self.context = context
        self.complaints: list[str] = []
        self.address = server.url.removesuffix("acp")
        """The page's address, without the token."""

    async def open(self, *, token: str = TOKEN) -> Page:
        """Open the page at the address that `serve` prints."""
        page = await self.context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self._note("error", str(error)))
        await page.goto(f"{self.address}#token={token}" if token else self.address)
        return page

    async def begin(self) -> Page:
        """Open the page and a session in the workspace."""
        page = await self.open()
        await page.get_by_role("button", name="New session").click()
        await page.get_by_label("Folder on the server").fill(str(self.workspace))
        await page.get_by_role("button", name="Start").click()
        await page.get_by_role("combobox", name="Mode", exact=True).wait_for()
        return page

    async def close(self) -> None:
        """Close every page."""
        for page in self.context.pages:
            await page.close()

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)


async def findings(page: Page) -> list[str]:
    """Return axe's findings in the current page."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate((EXTENSION / "node_modules" / "axe-core" / "axe.min.js").read_text())
    return await page.evaluate(AXE)


async def ask(page: Page, words: str) -> None:
    """Send a prompt."""
    await page.get_by_label("Prompt", exact=True).fill(words)
    await page.keyboard.press("Enter")


@asynccontextmanager
async def visiting(
    tmp_path: Path,
    browser: str,
    *replies: Reply,
    config: str = "",
    arguments: Sequence[str] = (),
    **options: Any,
) -> AsyncGenerator[Visit]:
    """Yield a visit.

    `config` is the settings file; `arguments` are browser arguments besides those of every visit, and `options` those
    of its context.
    """
    workspace, home = tmp_path / "workspace", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    (workspace / "a.py").write_text("x = 1\ny = 2\nz = 3\n")
    if config:
        configure(home, config)
    build_page(browser)
    variables: dict[str, Any] = {"viewport": DESKTOP} | options
    async with (
        serve(list(replies)) as model,
        serving(agent_environment(home, model), tmp_path) as server,
        async_playwright() as driver,
    ):
        launched: Browser = await driver.chromium.launch(
            executable_path=browser, args=[*ARGUMENTS, *arguments]
        )
        try:
            context = await launched.new_context(**variables)
            yield Visit(server, model, tmp_path, context)
        finally:
            await launched.close()
