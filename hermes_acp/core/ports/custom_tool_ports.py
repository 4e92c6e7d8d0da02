"""What is handed through the seam behind which the agent writes tools of its own, and the seam.

Knows: changes and what they would make, as plain values. Does not know: where tools lie, what makes a file one.
"""

from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Diff

ToolScope = Literal["user", "workspace"]


class ToolChange(Struct, frozen=True):
    """One change of a tool, and why it is made.

    `text` is the whole file, or what takes the place of `old_text` in it; `version` is the one to go back to, 0 for the
    one before. `scope` is whose a new tool is.
    """

    action: Literal["create", "patch", "rollback", "delete"]
    name: str
    reason: str
    text: str = ""
    old_text: str = ""
    version: int = 0
    scope: ToolScope = "user"


class ToolPreview(Struct, frozen=True):
    """What a change would make of a tool's file, which is in the state `state` now; `abilities` for people."""

    scope: ToolScope
    state: str
    diff: Diff
    abilities: str = ""


class ToolWorkshop(Protocol):
    """Where the agent writes tools, by the folder it works in."""

    async def preview(self, cwd: str, change: ToolChange) -> ToolPreview:
        """Show what a change would make of a tool. Raises BadRequest for one that cannot be made, with all faults."""
        ...

    async def change(self, cwd: str, change: ToolChange, preview: ToolPreview, session_id: str) -> str:
        """Make the very change that was shown, and say what came of it. Raises BadRequest, StorageError."""
        ...
