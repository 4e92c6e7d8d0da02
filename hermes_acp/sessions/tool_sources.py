"""The sources of additional tools and prompts for sessions, and the tasks that run them.

A turn's tools stay the same until it ends.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

import anyio

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.core.events import Noticed
from hermes_acp.core.ports.tool_ports import PromptTemplate, ResourceLibrary, Tool, ToolSource
from hermes_acp.core.ports.workspace_ports import DiagnosticsProvider
from hermes_acp.tools.deferred.deferral import DEFAULT_SCHEMA_TOKENS, deferred_tools, search_tools
from hermes_acp.tools.toolbox import Toolbox

FIRST_WAIT_S: Final = 3.0
TRUSTED_WAIT_S: Final = 10.0
"""The timeout for a workspace's servers, which start only after the user has approved them in the same turn."""
UNATTENDED_WAIT_S: Final = 20.0
"""The timeout for runs, in which no user is waiting and the first turn may well be the last."""


class SharedTools(Protocol):
    """The tools that all sessions share."""

    is_attended: bool
    """Whether a client is connected whose user can be asked."""

    def shared(self) -> ToolSource | None:
        """Return the source of the shared tools, or None."""
        ...


class ToolSources:
    """The sources of one session: its own servers, the shared ones, its workspace's, its skills and custom tools.

    If several sources offer the same name, the first source wins, so a workspace cannot replace other sources' tools.
    """

    def __init__(self, shared_tools: SharedTools) -> None:
        self.own: ToolSource | None = None
        self.workspace: ToolSource | None = None
        self.skills: ToolSource | None = None
        self.written: ToolSource | None = None
        self.diagnoses: DiagnosticsProvider | None = None
        """Provides the errors that the session's editor reports, if it does."""
        self._shared_tools = shared_tools
        self._waited_for: list[ToolSource] = []
        self._told: frozenset[str] = frozenset()
        """The notices that applied at the last turn, which the user has seen."""

    async def equip(
        self, toolbox: Toolbox, ledger: Ledger, max_schema_tokens: int = DEFAULT_SCHEMA_TOKENS
    ) -> Toolbox:
        """Return the tools for one turn and emit the sources' notices. Waits briefly for each source, but only once.

        If the schemas of servers' tools are larger than `max_schema_tokens`, the model searches for these tools.
        """
        if self.diagnoses:
            from hermes_acp.tools.builtin.diagnostics import Diagnostics

            toolbox = toolbox.extended({Diagnostics.name: Diagnostics(self.diagnoses)})
        sources = self._sources()
        if not sources:
            return toolbox
        await self._wait_for(sources)
        tools: dict[str, Tool] = {}
        libraries: dict[str, ResourceLibrary] = {}
        news: dict[str, None] = {}
        for source in reversed(sources):
            tools |= source.tools()
            libraries |= source.libraries()
            news |= dict.fromkeys(source.news())
        for sentence in news:
            if sentence not in self._told:
                ledger.emit(Noticed("warning", sentence))
        self._told = frozenset(news)
        if libraries:
            from hermes_acp.tools.resource_tools import resource_tools

            tools |= resource_tools(libraries)
        deferred = deferred_tools(tools, max_schema_tokens)
        return toolbox.extended(tools | search_tools(deferred), deferred=frozenset(deferred))

    def templates(self) -> dict[str, PromptTemplate]:
        """Return the currently available prompts, by name."""
        return {name: one for source in reversed(self._sources()) for name, one in source.templates().items()}

    async def find_template(self, name: str) -> PromptTemplate | None:
        """Return the prompt with the given name; wait briefly for sources that are still starting."""
        if not (name and self._sources()):
            return None
        if name not in self.templates():
            await self._wait_for(self._sources())
        return self.templates().get(name)

    @property
    def has_servers(self) -> bool:
        """Return whether any tool servers are configured."""
        return bool(self.own or self._shared_tools.shared() or self.workspace)

    def _sources(self) -> list[ToolSource]:
        every = (self.own, self._shared_tools.shared(), self.workspace, self.skills, self.written)
        return [source for source in every if source]

    async def _wait_for(self, sources: list[ToolSource]) -> None:
        with anyio.move_on_after(self._patience_s()):
            for source in sources:
                if source not in self._waited_for:
                    await source.settled()
        self._waited_for = sources

    def _patience_s(self) -> float:
        if not self._shared_tools.is_attended:
            return UNATTENDED_WAIT_S
        is_trusted_now = self.workspace is not None and self.workspace not in self._waited_for
        return TRUSTED_WAIT_S if is_trusted_now else FIRST_WAIT_S

    async def replace(self, own: ToolSource | None) -> None:
        """Replace the session's own source from the next turn on, and close the old one."""
        before, self.own = self.own, own
        if before:
            await before.close()

    async def replace_workspace(self, source: ToolSource | None) -> None:
        """Replace the workspace's source from the next turn on, and close the old one."""
        before, self.workspace = self.workspace, source
        if before:
            await before.close()

    async def close(self) -> None:
        """Close the sources that belong only to this session."""
        await self.replace(None)
        await self.replace_workspace(None)
        if self.skills:
            await self.skills.close()


class ToolSourceRunner:
    """Runs an app's sources, each in a separate task."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._has_waiting = anyio.Event()

    def adopt(self, source: ToolSource) -> None:
        """Schedule a source to run until it is closed or the app ends."""
        self.start(source.run)

    def start(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Schedule the work to run in a separate task."""
        self._waiting.append(work)
        self._has_waiting.set()

    def release(self, source: ToolSource) -> None:
        """Schedule a source to be closed, without waiting for it."""
        self._waiting.append(source.close)
        self._has_waiting.set()

    async def run(self) -> None:
        """Run every scheduled source, and close those that are released; runs in the background."""
        async with anyio.create_task_group() as tasks:
            while True:
                await self._has_waiting.wait()
                self._has_waiting = anyio.Event()
                waiting, self._waiting = self._waiting, []
                for job in waiting:
                    tasks.start_soon(job)
