"""The MCP servers at work in this process: the user's own for all sessions, an editor's for one.

Knows: who named which server, and in which surroundings it is started. Does not know: how a server is spoken to.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment
from hermes_acp.core.ports import ToolSource
from hermes_acp.sessions.session import Session
from hermes_acp.sessions.tool_sources import Workshop

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings
    from hermes_acp.mcp.servers import Servers
    from hermes_acp.mcp.specs import ServerSpec


class Employer:
    """Starts the servers people name, and lets them go."""

    def __init__(self, environment: Environment, on_change: Callable[[], None]) -> None:
        """Prepare; `on_change` is called whenever the user's own servers offer something else than before."""
        self._environment = environment
        self._on_change = on_change
        self._workshop = Workshop()
        self._shared: Servers | None = None

    async def run(self) -> None:
        """Be at work for as long as the process serves."""
        await self._workshop.run()

    def shared(self) -> ToolSource | None:
        """Give the tools of the user's own servers."""
        return self._shared

    async def equip(self, session: Session, specs: "Sequence[ServerSpec]") -> None:
        """Let a session use the servers its editor named; they are connected to in the background."""
        if not specs and session.sources.own is None:
            return
        from hermes_acp.mcp.servers import Servers

        own = session.sources.own
        if isinstance(own, Servers) and own.specs == tuple(specs):
            return
        place = session.workspace
        await session.sources.replace(self._employ(specs, place.cwd, place.roots, session.commands.announce))
        session.commands.announce()

    async def share(self, settings: "Settings") -> None:
        """Connect to the servers of the user's own, once for all sessions."""
        before, specs = self._shared, _server_specs(settings)
        if specs == (before.specs if before else ()):
            return
        self._shared = self._employ(specs, str(self._environment.home), (), self._on_change)
        if before:
            await before.close()

    def _employ(
        self,
        specs: "Sequence[ServerSpec]",
        cwd: str,
        roots: tuple[str, ...],
        on_change: Callable[[], None],
    ) -> "Servers | None":
        if not specs:
            return None
        from hermes_acp.mcp.servers import Servers
        from hermes_acp.mcp.specs import Surroundings
        from hermes_acp.workspaces.surroundings import command_environment

        environment = command_environment(self._environment.variables)
        logs = self._environment.home / "logs" / "mcp"
        servers = Servers(specs, Surroundings(cwd, roots, environment, logs, _clean), on_change)
        self._workshop.take_in(servers)
        return servers

    async def aclose(self) -> None:
        """Let the user's own servers go; an editor's end with their session."""
        if self._shared:
            await self._shared.close()


def _clean(text: str) -> str:
    from hermes_acp.knowledge.injection import scan

    return scan(text).clean_text


def _server_specs(settings: "Settings") -> "tuple[ServerSpec, ...]":
    """Give the MCP servers of the user's own, by name."""
    if not settings.mcp_servers:
        return ()
    from hermes_acp.mcp.specs import HttpServer, SseServer, StdioServer

    specs: list[ServerSpec] = []
    for name, section in sorted(settings.mcp_servers.items()):
        if section.command:
            specs.append(StdioServer(name, section.command, section.args, tuple(section.env.items())))
        elif section.url:
            way = SseServer if section.transport == "sse" else HttpServer
            specs.append(way(name, section.url, tuple(section.headers.items())))
    return tuple(specs)
