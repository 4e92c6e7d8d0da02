"""marimo as it is published on PyPI, used through its page: the agent panel, and an edit approved in it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest
from playwright.async_api import Page, expect

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment
from tests.e2e.foreign_clients import AFTER, BEFORE, MODULES, PYTHON, conversation, node_for, python_of
from tests.e2e.test_jupyterlab import page_of
from tests.model_server import serve
from tests.ports import quiet_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX"),
]

PORT = 3023
START = Path(__file__).parents[2] / "editor-clients" / "marimo" / "start.sh"
PICTURES = Path(__file__).parents[2] / "build" / "marimo-pictures"
NOTEBOOK = "import marimo\n\napp = marimo.App()\n\n\n@app.cell\ndef _():\n    x = 1\n    return\n"


def set_up(home: Path) -> Path:
    """Create a folder with a notebook and a file to change; the user has enabled marimo's agents."""
    settings = home / ".config" / "marimo"
    settings.mkdir(parents=True)
    (settings / "marimo.toml").write_text("[experimental]\nexternal_agents = true\n")
    folder = home / "notebooks"
    folder.mkdir()
    (folder / "notebook.py").write_text(NOTEBOOK)
    (folder / "a.py").write_text(BEFORE)
    (folder / "node_modules").symlink_to(MODULES)  # Where npx looks first.
    return folder


@asynccontextmanager
async def running(
    command: list[str], until: bytes, environment: dict[str, str], cwd: Path
) -> AsyncGenerator[str]:
    """Run a program until the end of the block; yield its output before it was ready."""
    process = await anyio.open_process(
        command,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=cwd,
        start_new_session=True,
    )
    async with process, anyio.create_task_group() as tasks:
        assert process.stdout
        said = b""
        try:
            with anyio.fail_after(WAIT_S):
                while until not in said:
                    said += await process.stdout.receive()
            tasks.start_soon(_drain, process.stdout)
            yield said.decode()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)  # npx and the programs that it starts.
            with anyio.CancelScope(shield=True):
                await process.wait()
            tasks.cancel_scope.cancel()


async def _drain(source: anyio.abc.ByteReceiveStream) -> None:
    async for _ in source:
        pass


def require_port() -> None:
    """Skip the test if another program uses the port; marimo supports no other."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", PORT)) == 0:
            pytest.skip(f"another program listens at port {PORT}, which marimo expects the agent at")


async def begin_session(page: Page) -> None:
    """Open the panel's agents tab and start a session with the agent on our port."""
    await page.locator("svg.lucide-bot").first.click()
    tab = page.get_by_role("tab", name="Agents")
    await expect(tab).to_be_visible()
    await page.keyboard.press("Escape")  # The click may start to drag the icon, which blocks the page.
    await tab.click()
    await page.get_by_role("button", name="New session").first.click()
    await page.get_by_role("menuitem", name="OpenCode").click()
    await expect(page.get_by_text("Agent is connected")).to_be_visible()


async def test_an_edit_is_shown_approved_and_made(tmp_path: Path, require_all: bool) -> None:
    python_of("marimo", is_required=require_all)
    node = node_for("stdio-to-ws", is_required=require_all)
    require_port()
    folder = set_up(tmp_path)
    with anyio.fail_after(4 * WAIT_S):
        async with serve(conversation()) as server:
            environment = agent_environment(tmp_path, server)
            programs = (Path(COMMAND).parent, Path(node).parent)
            environment["PATH"] = ":".join([*map(str, programs), environment["PATH"]])
            environment["npm_config_offline"] = "true"
            marimo = [str(PYTHON), "-m", "marimo", "edit", "notebook.py", "--headless", "--no-token"]
            marimo += ["--host", "127.0.0.1", "--port", str(quiet_port()), "--skip-update-check"]
            async with (
                running([str(START)], b"listening on port", environment, folder),
                running(marimo, b"http://", environment, folder) as said,
                page_of(next(word for word in said.split() if word.startswith("http://"))) as page,
            ):
                await begin_session(page)
                await page.locator("[contenteditable=true]").first.click()
                await page.keyboard.type("edit the file")
                await page.keyboard.press("Enter")
                allow = page.get_by_role("button", name="Allow once")
                await expect(allow).to_be_visible()
                await page.screenshot(path=PICTURES / "question.png")
                await allow.click()
                await expect(page.get_by_text("The file is changed.")).to_be_visible()
                assert (folder / "a.py").read_text() == AFTER
