"""List all MCP servers that sessions in a folder can use, whoever configured them, running or not."""

import os
import shlex
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

if TYPE_CHECKING:
    from hermes_acp.config.settings import McpServerSettings, Settings
    from hermes_acp.config.workspace_settings import WorkspaceSettings
    from hermes_acp.core.ports.trust_ports import TrustItem
    from hermes_acp.mcp.server_pool import ServerState

Scope = Literal["user", "editor", "workspace"]


class ServerOverview(Struct, frozen=True):
    """A server: who configured it and in which file, how it is reached and, if it was started, its state.

    `target` is its command line or address, without variables and headers.
    """

    name: str
    scope: Scope
    file: str = ""
    target: str = ""
    is_enabled: bool = True
    is_trusted: bool = True
    state: "ServerState | None" = None


def server_overviews(
    settings: "Settings",
    config_file: str,
    workspace: "WorkspaceSettings | None",
    cwd: str,
    trusted: "Collection[TrustItem]",
    states: "tuple[Iterable[ServerState], Iterable[ServerState], Iterable[ServerState]]",
) -> tuple[ServerOverview, ...]:
    """Return the editor's servers, the user's own and the folder's.

    `states` contains the states of the running servers, in the same order.
    """
    editors, users, folders = ({state.name: state for state in each} for each in states)
    return (
        *(ServerOverview(name, "editor", state=state) for name, state in editors.items()),
        *_users(settings, config_file, users),
        *(
            ServerOverview(
                each.name,
                "workspace",
                os.path.join(cwd, each.file),
                target_of(each.settings),
                is_trusted=each.item in trusted,
                state=folders.get(each.name),
            )
            for each in (workspace.servers if workspace else ())
        ),
    )


def _users(settings: "Settings", file: str, states: "dict[str, ServerState]") -> Iterator[ServerOverview]:
    for name, section in sorted(settings.mcp_servers.items()):
        yield ServerOverview(
            name, "user", file, target_of(section), is_enabled=section.enabled, state=states.get(name)
        )


def target_of(section: "McpServerSettings") -> str:
    """Return the command line or the address; an address without its query, which may contain a secret."""
    if section.command:
        return shlex.join((section.command, *section.args))
    parts = urlsplit(section.url or "")
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
