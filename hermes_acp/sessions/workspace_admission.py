"""Decide which contents of its workspace a session may use; ask the user about undecided ones before a turn."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.ports.gate_ports import Gate
from hermes_acp.core.ports.session_ports import EquippedSession
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.hooks.hook_manager import HookManager
from hermes_acp.mcp.server_manager import McpServerManager
from hermes_acp.mcp.sign_in.oauth_coordinator import OAuthCoordinator
from hermes_acp.policy.workspace_trust import TrustCheck, WorkspaceTrust
from hermes_acp.tools.custom.custom_tool_manager import CustomToolManager

if TYPE_CHECKING:
    from hermes_acp.config.workspace_settings import WorkspaceSettings
    from hermes_acp.tools.custom.tool_folders import ToolFile


class WorkspaceAdmission(Struct, frozen=True):
    """Lets sessions use the servers, tools and hooks of their workspaces if the user trusts them.

    `elsewhere` returns the name of a workspace's backend if its files are not on this machine.
    """

    workspace_trust: WorkspaceTrust
    mcp_manager: McpServerManager
    oauth_coordinator: OAuthCoordinator
    custom_tools: CustomToolManager
    hook_manager: HookManager
    elsewhere: Callable[[Workspace], str]

    async def welcome(self, session: EquippedSession, gate: Gate) -> None:
        """Check the workspace's contents before a turn, ask the user about untrusted ones, and set up the session."""
        place, trust = session.record.cwd, self.workspace_trust
        found, tools = await run_sync(self._read_contents, place)
        found = await trust.welcome(session, gate, found)
        servers = found.servers if found else ()
        trusted = [server for server in servers if trust.is_trusted(place, server.item)]
        await self.mcp_manager.equip_from_workspace(session, trusted, TrustCheck(trust, place))
        elsewhere = self.elsewhere(session.workspace)
        await self.hook_manager.welcome(session, found, elsewhere)
        await self.oauth_coordinator.welcome(session, gate)
        await self.custom_tools.welcome(session, gate, tools, elsewhere)

    def _read_contents(self, place: str) -> "tuple[WorkspaceSettings | None, tuple[ToolFile, ...]]":
        """Read the folder's contents once for all concurrent callers. Blocks."""
        return self.workspace_trust.settings_of(place, again=True), self.custom_tools.files(place)
