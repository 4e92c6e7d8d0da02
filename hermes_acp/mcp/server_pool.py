"""The servers of one session, or of the whole process, as one source of tools, prompts and things to read."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import anyio
from msgspec import Struct

from hermes_acp.core.ports import PromptTemplate, ResourceLibrary, Tool
from hermes_acp.mcp.server_connection import ServerConnection
from hermes_acp.mcp.server_definitions import ServerContext, ServerSpec, ServerTimeouts, slugs_of
from hermes_acp.mcp.server_login import ServerLogin

SHUTDOWN_TIMEOUT_S: Final = 1.0


class ServerState(Struct, frozen=True):
    """How one server stands, in words, and what it offers. `server_login` is where one signs in, if there is one."""

    name: str
    stands: str
    tools: tuple[str, ...]
    prompts: int
    server_login: ServerLogin | None = None


class McpServerPool:
    """Servers that are kept connected while `run` runs."""

    def __init__(
        self,
        specs: Sequence[ServerSpec],
        server_context: ServerContext,
        on_change: Callable[[], None],
        timeouts: ServerTimeouts | None = None,
    ) -> None:
        """Prepare; `on_change` is called whenever something else is offered than before."""
        self.specs = tuple(specs)
        self.server_context = server_context
        self._connections = [
            ServerConnection(spec, slug, server_context, timeouts or ServerTimeouts(), on_change)
            for spec, slug in zip(self.specs, slugs_of(self.specs), strict=True)
        ]
        self._is_running = False
        self._is_closed = False
        self._ended = anyio.Event()

    async def run(self) -> None:
        """Keep the servers connected until this is closed or cancelled; then none of their processes lives."""
        if self._is_closed:
            return
        self._is_running = True
        try:
            async with anyio.create_task_group() as tasks:
                for connection in self._connections:
                    tasks.start_soon(connection.keep)
        finally:
            self._is_closed = True
            self._ended.set()

    def tools(self) -> Mapping[str, Tool]:
        """Return the tools that were listed so far; a server that is away keeps its own."""
        return {name: tool for connection in self._connections for name, tool in connection.tools.items()}

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return the prompts that were listed so far."""
        return {
            name: prompt for connection in self._connections for name, prompt in connection.prompts.items()
        }

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return the servers that have resources."""
        return {connection.slug: connection.library for connection in self._connections if connection.library}

    def news(self) -> Sequence[str]:
        """Return what users should know as things stand."""
        return [line for connection in self._connections for line in connection.news]

    @property
    def may_want_sign_in(self) -> bool:
        """Whether there is a server at which users can sign in."""
        return any(each.server_login for each in self._connections)

    def logins(self) -> Sequence[ServerLogin]:
        """Return the doors of servers that want their user to sign in."""
        return [
            each.server_login
            for each in self._connections
            if each.server_login and each.server_login.needs_sign_in
        ]

    def states(self) -> Sequence[ServerState]:
        """Return how each server stands."""
        return [
            ServerState(each.name, each.stands, tuple(each.tools), len(each.prompts), each.server_login)
            for each in self._connections
        ]

    async def revive(self, name: str) -> None:
        """Try again now to connect to a server by its name, and wait a while for what comes of it."""
        for connection in self._connections:
            if connection.name == name:
                await connection.wait_connected()

    async def settled(self) -> None:
        """Wait until each server has been connected to, or could not be at the first try."""
        for connection in self._connections:
            await connection.settled.wait()

    async def close(self) -> None:
        """Leave every server and wait for that."""
        self._is_closed = True
        for connection in self._connections:
            connection.end()
        if self._is_running:
            with anyio.move_on_after(SHUTDOWN_TIMEOUT_S):
                await self._ended.wait()
            for connection in self._connections:
                connection.end_now()
            await self._ended.wait()
