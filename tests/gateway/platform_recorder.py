"""A connection to a platform without the gateway, which records what the platform delivers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

from hermes_acp.frontends.gateway.gateway_process import platform_plugins
from hermes_acp.frontends.gateway.port.platform_port import (
    Incoming,
    IncomingMessage,
    Platform,
    PlatformContext,
    PlatformPlugin,
)

WAIT_S = 20


class NoCursor:
    """A cursor that stores nothing."""

    async def load(self) -> str:
        return ""

    async def save(self, position: str) -> None:
        raise AssertionError(position)


class Recorder:
    """Records what a platform delivers."""

    def __init__(self) -> None:
        self.heard: list[Incoming] = []
        self.is_stuck = False
        """Whether nothing is stored any more."""
        self.rooms: dict[str, str] | None = None
        """The rooms that cannot be joined, as last reported by the platform."""
        self._news = anyio.Event()

    async def receive(self, incoming: Incoming) -> None:
        if self.is_stuck:
            await anyio.sleep_forever()
        self.heard.append(incoming)
        self._news.set()
        self._news = anyio.Event()

    async def report_rooms(self, rooms: Mapping[str, str]) -> None:
        self.rooms = dict(rooms)
        self._news.set()
        self._news = anyio.Event()

    async def see_rooms(self, *rooms: str) -> Mapping[str, str]:
        """Wait until exactly these rooms cannot be joined; return the reasons."""
        with anyio.fail_after(WAIT_S):
            while self.rooms is None or set(self.rooms) != set(rooms):
                await self._news.wait()
        return self.rooms

    async def hear(self, text: str) -> IncomingMessage:
        """Wait for a message."""
        with anyio.fail_after(WAIT_S):
            while True:
                for each in self.heard:
                    if isinstance(each, IncomingMessage) and each.text == text:
                        return each
                await self._news.wait()

    async def hear_file(self, reference: str) -> IncomingMessage:
        """Wait for a message with a file."""
        with anyio.fail_after(WAIT_S):
            while True:
                for each in self.heard:
                    if isinstance(each, IncomingMessage) and reference in [
                        file.reference for file in each.attachments
                    ]:
                        return each
                await self._news.wait()

    @property
    def texts(self) -> list[str]:
        return [each.text for each in self.heard if isinstance(each, IncomingMessage)]


@asynccontextmanager
async def platform_of(
    name: str, settings: Any, password: str, rooms: frozenset[str], plugin: PlatformPlugin | None = None
) -> AsyncGenerator[tuple[Platform, Recorder]]:
    """Connect a platform."""
    recorder = Recorder()
    secrets = {"password": password}
    context = PlatformContext(settings, secrets, recorder.receive, NoCursor(), rooms, recorder.report_rooms)
    connection = (plugin or platform_plugins().open(name)).connect(context)
    async with connection as platform, anyio.create_task_group() as tasks:
        tasks.start_soon(platform.run)
        yield platform, recorder
        tasks.cancel_scope.cancel()
