"""Decide which custom tools each session may use, and ask the user about those not trusted yet.

The folders are read before each turn; a turn keeps the tools it started with.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import HermesError, StorageError
from hermes_acp.core.ports.gate_ports import Gate
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.ports.trust_ports import TrustItem
from hermes_acp.workspaces.sandbox_setup import ConfinementInputs

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.ports.custom_tool_ports import ToolScope
    from hermes_acp.core.ports.session_ports import EquippedSession
    from hermes_acp.policy.workspace_trust import WorkspaceTrust
    from hermes_acp.tools.custom.tool_editor import ToolEditor
    from hermes_acp.tools.custom.tool_failures import ToolFailureLog
    from hermes_acp.tools.custom.tool_folders import ToolFile, ToolFolders
    from hermes_acp.tools.custom.tool_sandbox import ToolSandboxes

TOOL_DISABLED = (
    "The tool {name} failed {count} times in a row and is disabled; "
    "`hermes-acp tools allow {name}` enables it again."
)
NOT_A_TOOL = (
    "{path} is not used, because it is not a valid tool: {fault} (`hermes-acp tools check {path}` shows all.)"
)
ELSEWHERE = "The tool {name} is not used here, because this session's files are on another machine."


class CustomToolManager:
    """Provides sessions with the custom tools that they may use."""

    def __init__(
        self,
        environment: Environment,
        workspace_trust: "WorkspaceTrust",
        settings: "Callable[[], Settings | None]",
        clock: Clock,
        *,
        confinement: ConfinementInputs,
    ) -> None:
        """Read nothing until first use; `settings` returns the settings once they are loaded."""
        self._confinement = confinement
        self._environment = environment
        self._workspace_trust = workspace_trust
        self._settings = settings
        self._clock = clock

    @cached_property
    def tool_folders(self) -> "ToolFolders":
        """The folders that contain tools."""
        from hermes_acp.tools.custom.tool_folders import ToolFolders

        return ToolFolders(self._environment.home, self._environment.is_foreign)

    @cached_property
    def tool_failures(self) -> "ToolFailureLog":
        """The log of tool failures."""
        from hermes_acp.tools.custom.tool_failures import ToolFailureLog

        return ToolFailureLog(self._environment.home)

    @cached_property
    def workshop(self) -> "ToolEditor":
        """The editor that writes tools."""
        from hermes_acp.tools.custom.tool_editor import ToolEditor

        home, now = self._environment.home, self._clock.now
        return ToolEditor(home, self.tool_folders, self.tool_failures, now, self._trust)

    @cached_property
    def _sandboxes(self) -> "ToolSandboxes":
        from hermes_acp.tools.custom.tool_sandbox import ToolSandboxes
        from hermes_acp.workspaces.command_environment import command_environment
        from hermes_acp.workspaces.sandbox_setup import sandbox_bounds

        variables = command_environment(self._environment.variables)
        private = str(self._environment.private_folder.resolve())
        return ToolSandboxes(
            variables,
            lambda: sandbox_bounds(self._settings(), self._confinement.guarded()),
            self._confinement.is_public,
            private,
            denied_paths_for=self._confinement.denied_paths,
        )

    def trust_items(self, place: str) -> tuple[TrustItem, ...]:
        """Return the tools that a workspace contains, as items for the user to trust. Blocks."""
        if not os.path.isdir(os.path.join(place, ".hermes", "tools")):
            return ()
        return tuple(
            file.trust_item() for file in self.tool_folders.files("workspace", place) if file.declaration
        )

    def place_of(self, scope: "ToolScope", cwd: str) -> str:
        """Return the folder name under which the tools of a scope are trusted."""
        return str(self._environment.home / "tools") if scope == "user" else cwd

    def is_trusted(self, file: "ToolFile", cwd: str) -> bool:
        """Return whether a tool is trusted with exactly its current content."""
        return self._workspace_trust.is_trusted(self.place_of(file.scope, cwd), file.trust_item())

    def allow(self, file: "ToolFile", cwd: str) -> None:
        """Trust a tool's current content and clear its failures. Raises StorageError."""
        self._workspace_trust.trust(self.place_of(file.scope, cwd), [file.trust_item()])
        self.tool_failures.forget(file.folder, file.name)
        self._keep(file)

    def _trust(self, file: "ToolFile", cwd: str) -> None:
        place, item = self.place_of(file.scope, cwd), file.trust_item()
        try:
            self._workspace_trust.trust(place, [item])
        except StorageError:
            self._workspace_trust.trust_for_process(place, [item])

    async def welcome(
        self, session: "EquippedSession", gate: Gate, files: "Sequence[ToolFile]", elsewhere: str
    ) -> None:
        """Make the trusted tools available to a session before a turn, and ask once about each of the others.

        `files` are all existing tool files. `elsewhere` is the backend that has the session's files if they are not on
        this machine.
        """
        cwd = session.record.cwd
        if not files and session.sources.written is None:
            return
        await self._introduce(session, gate, files)
        from hermes_acp.tools.custom.custom_tool_source import CustomToolSource

        source = session.sources.written
        if not isinstance(source, CustomToolSource):
            source = session.sources.written = CustomToolSource()
        roots = tuple(os.path.realpath(root) for root in session.record.roots)
        source.renew(*await run_sync(self._usable, files, cwd, roots, elsewhere))

    def files(self, cwd: str) -> "tuple[ToolFile, ...]":
        """Return all tool files for sessions in a folder, the user's own first. Blocks."""
        home = self._environment.home / "tools"
        if not home.is_dir() and not os.path.isdir(os.path.join(cwd, ".hermes", "tools")):
            return ()
        return (*self.tool_folders.files("user", cwd), *self.tool_folders.files("workspace", cwd))

    async def _introduce(self, session: "EquippedSession", gate: Gate, files: "Sequence[ToolFile]") -> None:
        """Ask about the tools that are not trusted yet, and store those that the user trusts as versions."""
        cwd = session.record.cwd
        scopes: tuple[ToolScope, ...] = ("user", "workspace")
        for scope in scopes:
            items = {
                file.trust_item(): file
                for file in files
                if file.scope == scope and file.declaration and not self.is_trusted(file, cwd)
            }
            await self._workspace_trust.introduce(session, gate, self.place_of(scope, cwd), list(items))
            trusted = [file for file in items.values() if self.is_trusted(file, cwd)]
            if trusted:
                await run_sync(self._keep, trusted[0])

    def _keep(self, file: "ToolFile") -> None:
        from hermes_acp.storage.version_history import ChangeCause

        cause = ChangeCause("user", self._clock.now(), "trusted as it was found")
        with suppress(HermesError):  # the tool works without a version; a later change reports the reason
            self.workshop.history(file.folder).keep(cause)

    def _usable(
        self, files: "Sequence[ToolFile]", cwd: str, roots: tuple[str, ...], elsewhere: str
    ) -> tuple[Mapping[str, Tool], Sequence[str]]:
        """Return the usable tools and notices for the user about the others. Blocks."""
        from hermes_acp.tools.custom.custom_tool import CustomTool
        from hermes_acp.tools.custom.tool_sandbox import SessionFolders
        from injection_scanner.foreign_text import InjectionScanner

        session_folders = SessionFolders(os.path.realpath(cwd), roots)
        tools: dict[str, Tool] = {}
        news: list[str] = []
        for file in files:
            declared = file.declaration
            if declared is None:
                news.append(
                    NOT_A_TOOL.format(path=file.path, fault=file.checked.faults[0].told(file.path.name))
                )
                continue
            if file.name in tools or not self.is_trusted(file, cwd):
                continue
            if elsewhere and declared.files != "none":
                news.append(ELSEWHERE.format(name=file.name))
                continue
            tool_failure = self.tool_failures.of(file.folder, file.name, file.digest)
            if tool_failure and tool_failure.is_disabled:
                news.append(TOOL_DISABLED.format(name=file.name, count=tool_failure.in_a_row))
                continue
            tools[file.name] = CustomTool(
                file, declared, session_folders, self._sandboxes, self.tool_failures, InjectionScanner()
            )
        return tools, news
