"""JupyterLab as it is published on PyPI, used through its page: our persona, the pickers, a diff approved in the
chat.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from playwright.async_api import Page, async_playwright, expect

from tests.chromium import chromium
from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment
from tests.e2e.foreign_clients import AFTER, BEFORE, PYTHON, conversation, python_of
from tests.model_server import serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX"),
]

PERSONA = Path(__file__).parents[2] / "editor-clients" / "jupyter"
PICTURES = Path(__file__).parents[2] / "build" / "jupyterlab-pictures"
QUIET = (
    "--LabApp.expose_app_in_browser=False",
    "--LabApp.extension_manager=readonly",
    "--ServerApp.terminals_enabled=False",
)
BROWSER = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking")


def set_up(home: Path) -> Path:
    """Create a folder with our persona, an empty chat, and a file to change."""
    folder = home / "notebooks"
    personas = folder / ".jupyter" / "personas"
    personas.mkdir(parents=True)
    for name in ("hermes_persona.py", "icon.svg"):
        shutil.copy(PERSONA / name, personas)
    (folder / "talk.chat").write_text("{}")
    (folder / "a.py").write_text(BEFORE)
    return folder


@asynccontextmanager
async def lab(folder: Path, environment: dict[str, str]) -> AsyncGenerator[str]:
    """Start JupyterLab; return the address of the chat."""
    variables = environment | {
        "PATH": f"{Path(COMMAND).parent}:{environment['PATH']}",
        "PYTHONUNBUFFERED": "1",
    }
    root = ("--allow-root", "--no-browser", "--ip=127.0.0.1", "--port=0", "--IdentityProvider.token=open")
    process = await anyio.open_process(
        [str(PYTHON), "-m", "jupyterlab", *root, *QUIET],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=variables, cwd=folder,
    )  # fmt: skip
    async with process, anyio.create_task_group() as tasks:
        assert process.stderr
        said = b""
        try:
            while b"/lab?token=" not in said:
                said += await process.stderr.receive()
            (line, *_) = [each for each in said.decode().splitlines() if "http://127.0.0.1" in each]
            address = line[line.index("http://127.0.0.1") :].split("/lab")[0]
            tasks.start_soon(_drain, process.stderr)
            yield f"{address}/lab/tree/talk.chat?token=open&reset"
        finally:
            process.terminate()
            with anyio.CancelScope(shield=True):
                await process.wait()
            tasks.cancel_scope.cancel()


async def _drain(source: anyio.abc.ByteReceiveStream) -> None:
    async for _ in source:
        pass


@asynccontextmanager
async def page_of(address: str) -> AsyncGenerator[Page]:
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=chromium(), args=list(BROWSER))
        page = await browser.new_page(viewport={"width": 1300, "height": 850})
        page.set_default_timeout(WAIT_S * 1000)
        expect.set_options(timeout=WAIT_S * 1000)
        await page.goto(address)
        yield page
        await browser.close()


async def test_an_edit_is_shown_approved_and_made(tmp_path: Path, require_all: bool) -> None:
    python_of("jupyterlab", is_required=require_all)
    folder = set_up(tmp_path)
    with anyio.fail_after(4 * WAIT_S):
        async with serve(conversation()) as server:
            environment = agent_environment(tmp_path, server)
            async with lab(folder, environment) as address, page_of(address) as page:
                for shown in ("Hermes", "scripted-large", "Ask", "Queue"):
                    await expect(page.get_by_role("button", name=shown, exact=True).first).to_be_visible()
                words = page.locator(".jp-chat-input-container textarea:not([readonly])").first
                await words.fill("edit the file")
                await words.press("Enter")
                await page.get_by_role("button", name="Allow once").click()
                await expect(page.get_by_text("The file is changed.")).to_be_visible()
                assert (folder / "a.py").read_text() == AFTER
                await page.screenshot(path=PICTURES / "edit.png")
