"""The servers of a session, or of the whole process, as one source of tools, prompts and resources."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import anyio
from msgspec import Struct

from hermes_acp.core.ports.tool_ports import PromptTemplate, ResourceLibrary, Tool
from hermes_acp.mcp.server_connection import ServerConnection
from hermes_acp.mcp.server_definitions import ServerContext, ServerSpec, ServerTimeouts, slugs_of
from hermes_acp.mcp.sign_in.server_login import ServerLogin

SHUTDOWN_TIMEOUT_S: Final = 1.0
CONNECTED: Final = "connected"
"""The state of a server to which calls can be sent."""


class ServerState(Struct, frozen=True):
    """The state of a server in words, and what it offers. `server_login` is its login, if it has one."""

    name: str
    stands: str
    tools: tuple[str, ...]
    prompts: int
    server_login: ServerLogin | None = None
    is_connected: bool = False


class McpServerPool:
    """A group of servers that stay connected while `run` is running."""

    def __init__(
        self,
        specs: Sequence[ServerSpec],
        server_context: ServerContext,
        on_change: Callable[[], None],
        timeouts: ServerTimeouts | None = None,
    ) -> None:
        """Create the pool; `on_change` is called whenever the tools, prompts or resources change."""
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
        """Keep the servers connected until closed or cancelled; afterwards, none of their processes is left."""
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
        """Return the tools listed so far, including those of servers that are now disconnected."""
        return {name: tool for connection in self._connections for name, tool in connection.tools.items()}

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return the prompts listed so far."""
        return {
            name: prompt for connection in self._connections for name, prompt in connection.prompts.items()
        }

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return the servers that have resources."""
        return {connection.slug: connection.library for connection in self._connections if connection.library}

    def news(self) -> Sequence[str]:
        """Return the current notices for users."""
        return [line for connection in self._connections for line in connection.news]

    @property
    def may_want_sign_in(self) -> bool:
        """Return whether there is a server to which users can sign in."""
        return any(each.server_login for each in self._connections)

    def logins(self) -> Sequence[ServerLogin]:
        """Return the logins of servers that currently require sign-in."""
        return [
            each.server_login
            for each in self._connections
            if each.server_login and each.server_login.needs_sign_in
        ]

    def states(self) -> Sequence[ServerState]:
        """Return the state of each server."""
        return [
            ServerState(
                each.name,
                each.stands,
                tuple(each.tools),
                len(each.prompts),
                each.server_login,
                each.stands == CONNECTED,
            )
            for each in self._connections
        ]

    async def revive(self, name: str) -> None:
        """Try to connect to a server by name, and wait for a while for the result."""
        for connection in self._connections:
            if connection.name == name:
                await connection.wait_connected()

    async def settled(self) -> None:
        """Wait until the first connection attempt of each server has ended."""
        for connection in self._connections:
            await connection.settled.wait()

    async def close(self) -> None:
        """Disconnect from every server, and wait until all are disconnected."""
        self._is_closed = True
        for connection in self._connections:
            connection.end()
        if self._is_running:
            with anyio.move_on_after(SHUTDOWN_TIMEOUT_S):
                await self._ended.wait()
            for connection in self._connections:
                connection.end_now()
            await self._ended.wait()
