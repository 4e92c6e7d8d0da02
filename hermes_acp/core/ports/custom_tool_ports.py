"""Custom tools that the agent writes: changes, previews and the port that makes them."""

from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Diff

ToolScope = Literal["user", "workspace"]


class ToolChange(Struct, frozen=True):
    """One change of a tool, and its reason.

    `text` is the whole file, or what replaces `old_text` in it; `version` is the one to roll back to, 0 for the one
    before. `scope` says whose a new tool is.
    """

    action: Literal["create", "patch", "rollback", "delete"]
    name: str
    reason: str
    text: str = ""
    old_text: str = ""
    version: int = 0
    scope: ToolScope = "user"


class ToolPreview(Struct, frozen=True):
    """What a change would make of a tool's file, whose present state is `state`; `abilities` for people."""

    scope: ToolScope
    state: str
    diff: Diff
    abilities: str = ""


class ToolWorkshop(Protocol):
    """The editor of custom tools, by the folder the agent works in."""

    async def preview(self, cwd: str, change: ToolChange) -> ToolPreview:
        """Show what a change would make of a tool. Raises BadRequest, with every fault."""
        ...

    async def change(self, cwd: str, change: ToolChange, preview: ToolPreview, session_id: str) -> str:
        """Make the previewed change, and describe the result. Raises BadRequest, StorageError."""
        ...
