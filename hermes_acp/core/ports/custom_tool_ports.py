"""Custom tools that the agent writes: changes, previews and the port that applies them."""

from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Diff

ToolScope = Literal["user", "workspace"]


class ToolChange(Struct, frozen=True):
    """A change of a tool, and its reason.

    `text` is the whole file, or the replacement for `old_text` in it; `version` is the version to roll back to, 0 for
    the previous one. `scope` says who a new tool belongs to.
    """

    action: Literal["create", "patch", "rollback", "delete"]
    name: str
    reason: str
    text: str = ""
    old_text: str = ""
    version: int = 0
    scope: ToolScope = "user"


class ToolPreview(Struct, frozen=True):
    """A preview of a tool's file after a change; `state` is its current state, and `abilities` is for people."""

    scope: ToolScope
    state: str
    diff: Diff
    abilities: str = ""


class ToolWriter(Protocol):
    """The editor of custom tools, by the agent's working directory."""

    async def preview(self, cwd: str, change: ToolChange) -> ToolPreview:
        """Preview a change of a tool. Raises BadRequest listing every fault."""
        ...

    async def change(self, cwd: str, change: ToolChange, preview: ToolPreview, session_id: str) -> str:
        """Apply the previewed change, and describe the result. Raises BadRequest or StorageError."""
        ...
