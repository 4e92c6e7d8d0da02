"""The port for custom tools that the agent writes: changes, and previews of them."""

from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Diff

ToolScope = Literal["user", "workspace"]


class ToolChange(Struct, frozen=True):
    """A change to a tool, with its reason.

    `text` is the whole file, or the replacement for `old_text` in it; `version` is the version to roll back to, 0 for
    the previous one. `scope` says to whom a new tool belongs.
    """

    action: Literal["create", "patch", "rollback", "delete"]
    name: str
    reason: str
    text: str = ""
    old_text: str = ""
    version: int = 0
    scope: ToolScope = "user"


class ToolPreview(Struct, frozen=True):
    """A preview of a tool's file after a change.

    `state` is its current state, and `abilities` describes to people what it can do.
    """

    scope: ToolScope
    state: str
    diff: Diff
    abilities: str = ""


class ToolWriter(Protocol):
    """Edits custom tools, looked up by the agent's working directory."""

    async def preview(self, cwd: str, change: ToolChange) -> ToolPreview:
        """Preview a change to a tool. Raises BadRequest listing every error."""
        ...

    async def change(self, cwd: str, change: ToolChange, preview: ToolPreview, session_id: str) -> str:
        """Apply the previewed change, and describe the result. Raises BadRequest or StorageError."""
        ...
