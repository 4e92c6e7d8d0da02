"""Manage this process's MCP servers: the user's own for all sessions, those of an editor or workspace for one."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import structs

from hermes_acp.config.environment import Environment
from hermes_acp.core.ports.tool_ports import ToolSource

if TYPE_CHECKING:
    from hermes_acp.config.settings import McpServerSettings, Settings
    from hermes_acp.config.workspace_settings import ServerEntry
    from hermes_acp.core.ports.session_ports import EquippedSession
    from hermes_acp.mcp.description_scans import DescriptionScans
    from hermes_acp.mcp.server_definitions import ServerContext, ServerProcessRegistry, ServerSpec
    from hermes_acp.mcp.server_pool import McpServerPool


class SourceRunner(Protocol):
    """Runs tool sources, each in a separate task."""

    def adopt(self, source: ToolSource) -> None:
        """Schedule the start of a source, which runs until it is closed or the process exits."""
        ...

    def release(self, source: ToolSource) -> None:
        """Schedule the closing of a source without waiting for it."""
        ...


class McpServerManager:
    """Starts and stops the configured servers."""

    def __init__(
        self,
        environment: Environment,
        on_change: Callable[[], None],
        runner: SourceRunner,
        *,
        variables: Callable[[], Mapping[str, str]],
        process_registry: "Callable[[], ServerProcessRegistry]",
    ) -> None:
        """Create the manager.

        `on_change` is called whenever the tools, prompts or resources of the user's own servers change. `variables`
        returns the variables that servers may see; `process_registry` creates the registry that ends their processes.
        Both are called when the first server is added.
        """
        self._environment = environment
        self._on_change = on_change
        self._runner = runner
        self._variables = variables
        self._make_process_registry = process_registry
        self._shared: McpServerPool | None = None
        self._can_ask = False
        self._process_registry: ServerProcessRegistry | None = None
        self._scans: DescriptionScans | None = None
        self.is_attended = False
        """Whether there is a client that can open a page for its user."""

    def shared(self) -> ToolSource | None:
        """Return the tools of the user's own servers."""
        return self._shared

    def servers_of(self, session: "EquippedSession | None") -> "tuple[McpServerPool, ...]":
        """Return all servers that a session can use or, without a session, only the user's own."""
        own, workspace = (session.sources.own, session.sources.workspace) if session else (None, None)
        named = (own, self._shared, workspace)
        if not any(named):
            return ()
        from hermes_acp.mcp.server_pool import McpServerPool

        return tuple(each for each in named if isinstance(each, McpServerPool))

    def expect_questions(self) -> None:
        """Let the user's own servers ask questions from now on, because a client can show them to its user."""
        before, self._can_ask = self._shared, True
        if before and not before.server_context.can_ask:
            self._shared = self._open_for_all(before.specs)
            self._runner.release(before)

    async def equip(
        self, session: "EquippedSession", specs: "Sequence[ServerSpec] | None", *, can_ask: bool
    ) -> None:
        """Set the servers configured by a session's editor (None keeps the current ones); connect in the background.

        If nothing has changed, they stay connected; otherwise, for example after a change of folders, all are
        restarted.
        """
        if not specs and session.sources.own is None:
            return
        from hermes_acp.mcp.server_pool import McpServerPool

        own = session.sources.own if isinstance(session.sources.own, McpServerPool) else None
        named = own.specs if own and specs is None else tuple(specs or ())
        place = session.workspace
        server_context = self._server_context(place.cwd, place.roots, can_ask=can_ask)
        if own and (own.specs, own.server_context) == (named, server_context):
            return
        await session.sources.replace(self._open(named, server_context, session.commands.announce))
        session.commands.announce()

    async def equip_from_workspace(
        self, session: "EquippedSession", servers: "Sequence[ServerEntry]", may_start: Callable[[str], bool]
    ) -> None:
        """Let a session use the trusted servers of its workspace; any change restarts all of them.

        `may_start` is called each time a server is about to start, and says whether it is still trusted.
        """
        before = session.sources.workspace
        if not servers and before is None:
            return
        from hermes_acp.mcp.server_pool import McpServerPool

        specs = _specs_of({server.name: server.settings for server in servers})
        place = session.workspace
        server_context = self._server_context(place.cwd, place.roots, can_ask=self._can_ask)
        server_context = structs.replace(server_context, may_start=may_start)
        if isinstance(before, McpServerPool) and (before.specs, before.server_context) == (
            specs,
            server_context,
        ):
            return
        await session.sources.replace_workspace(self._open(specs, server_context, session.commands.announce))
        session.commands.announce()

    async def share(self, settings: "Settings") -> None:
        """Connect to the user's own servers, once for all sessions."""
        before, specs = self._shared, server_specs(settings)
        if specs == (before.specs if before else ()):
            return
        self._shared = self._open_for_all(specs)
        if before:
            await before.close()

    def _open_for_all(self, specs: "Sequence[ServerSpec]") -> "McpServerPool | None":
        home = str(self._environment.home)
        return self._open(specs, self._server_context(home, (), can_ask=self._can_ask), self._on_change)

    def _open(
        self, specs: "Sequence[ServerSpec]", server_context: "ServerContext", on_change: Callable[[], None]
    ) -> "McpServerPool | None":
        if not specs:
            return None
        from hermes_acp.mcp.server_pool import McpServerPool

        servers = McpServerPool(specs, server_context, on_change)
        self._runner.adopt(servers)
        return servers

    def _server_context(self, cwd: str, roots: tuple[str, ...], *, can_ask: bool) -> "ServerContext":
        from hermes_acp.mcp.server_definitions import ServerContext

        logs = self._environment.home / "logs" / "mcp"
        keys = self._environment.home / "mcp-tokens"
        return ServerContext(
            cwd,
            roots,
            self._variables(),
            logs,
            _clean,
            can_ask,
            keys,
            self._registry(),
            rules_of=_rules_of,
            is_text_allowed=self._lets_pass,
            clean_description=self._shared_scans().cleaned,
        )

    def _shared_scans(self) -> "DescriptionScans":
        if self._scans is None:
            from hermes_acp.mcp.description_scans import DescriptionScans

            self._scans = DescriptionScans(_clean)
        return self._scans

    def _lets_pass(self, text: str) -> bool:
        from hermes_acp.storage.allowed_texts import digest_of, read_allowed

        allowed = read_allowed(self._environment.home)
        return bool(allowed) and digest_of(text.encode("utf-8", "replace")) in allowed

    def _registry(self) -> "ServerProcessRegistry":
        if self._process_registry is None:
            self._process_registry = self._make_process_registry()
        return self._process_registry

    async def aclose(self) -> None:
        """Disconnect the user's own servers; those of an editor end with their session."""
        if self._shared:
            await self._shared.close()
        if self._process_registry:
            await self._process_registry.aclose()


def _clean(text: str) -> str:
    from injection_scanner.foreign_text import InjectionScanner

    return InjectionScanner().clean(text)


def _rules_of(text: str) -> tuple[str, ...]:
    from injection_scanner.scanner import scan

    blocked = (each.rule for each in scan(text).findings if each.severity == "block")
    return tuple(dict.fromkeys(blocked))


def server_specs(settings: "Settings") -> "tuple[ServerSpec, ...]":
    """Return the user's own MCP servers, by name."""
    return _specs_of(settings.mcp_servers) if settings.mcp_servers else ()


def _specs_of(sections: "Mapping[str, McpServerSettings]") -> "tuple[ServerSpec, ...]":
    from hermes_acp.mcp.server_definitions import HttpServer, OAuth, SseServer, StdioServer

    specs: list[ServerSpec] = []
    for name, section in sorted(sections.items()):
        if not section.enabled:
            continue
        if section.command:
            variables = tuple(section.env.items())
            specs.append(StdioServer(name, section.command, section.args, variables, section.tools))
        elif section.url:
            way = SseServer if section.transport == "sse" else HttpServer
            told = section.oauth
            oauth = OAuth(told.client_id, told.client_secret, told.client_metadata_url, told.port)
            specs.append(way(name, section.url, tuple(section.headers.items()), oauth, section.tools))
    return tuple(specs)
