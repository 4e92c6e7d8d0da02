"""A real browser with a test's own web server."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from hermes_acp.core.ports.web_ports import BrowserAction, BrowserSnapshot
from hermes_acp.web.browser.browser_pool import BrowserPool
from hermes_acp.web.browser.browser_timeouts import BrowserTimeouts
from tests.chromium import chromium
from tests.contract.web_server import WebServer, web_server

PROGRAM: Final = chromium() or ""
IS_THERE: Final = bool(PROGRAM and shutil.which("node"))


class Session:
    """A browser, with a record of the hosts that its pages requested; `allowed` are those they may contact."""

    def __init__(self, browsers: BrowserPool, name: str = "ses_1") -> None:
        self._browsers = browsers
        self._name = name
        self.asked: list[str] = []
        self.allowed: set[str] = set()

    def beside(self, name: str) -> Session:
        """Return another session with its own browser."""
        return Session(self._browsers, name)

    def _may(self, host: str, url: str) -> bool:
        self.asked.append(url)
        return host in self.allowed

    async def act(self, act: BrowserAction) -> BrowserSnapshot:
        return await self._browsers.act(self._name, act, self._may)

    async def go(self, url: str, *, sees_private: bool = True) -> BrowserSnapshot:
        return await self.act(BrowserAction("navigate", url=url, sees_private=sees_private))

    async def click(self, view: BrowserSnapshot, words: str) -> BrowserSnapshot:
        line = next(line for line in view.text.split("\n") if words in line)
        ref = line.partition("[ref=")[2].partition("]")[0]
        return await self.act(BrowserAction("click", ref=ref))

    async def look(self) -> BrowserSnapshot:
        return await self.act(BrowserAction("snapshot"))

    async def close(self) -> None:
        await self._browsers.close(self._name)


@asynccontextmanager
async def browsing(
    *private: str, timeouts: BrowserTimeouts | None = None
) -> AsyncGenerator[tuple[WebServer, Session]]:
    """Run a browser in which some hosts are private and permanently allowed."""
    browsers = BrowserPool(PROGRAM, frozenset(private), dict(os.environ), timeouts)
    async with web_server() as server:
        session = Session(browsers)
        try:
            yield server, session
        finally:
            await session.close()
