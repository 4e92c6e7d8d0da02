"""The `tool_manage` tool: let the agent create and change custom tools.

A tool is code that later turns will run, so the user is asked about every change and shown its whole diff.
"""

from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.custom_tool_ports import ToolChange, ToolPreview, ToolWriter
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Deletes, Effect, Progress, Proposal, Remembers, Result, Writes
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.tools.store_failures import store_errors_as_refusals
from hermes_acp.tools.tool_schemas import schema_of

DOING = MappingProxyType({"create": "Write", "patch": "Change", "rollback": "Roll back", "delete": "Archive"})
ABOUT = (
    "Write a tool of your own for work that keeps coming back: one Python file, callable from the next turn on. It has "
    'TOOL = {"name": …, "description": …} and def run(typed, arguments), which returns text or JSON; standard library '
    "only. It runs sandboxed in the session's folder and reads files there. What else it needs TOOL declares: "
    '"files": "write", "network": ["host"], "processes": True, "timeout_s". sys.exit("why") fails in words.'
)


class Arguments(BaseModel):
    """The tool, and the change to it."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["create", "patch", "rollback", "delete"]
    """What to do."""
    name: Annotated[str, Field(description="Such as count_lines")]
    """The tool, such as `count_lines`."""
    reason: Annotated[str, Field(description="Why, in a sentence, stored with the version")]
    """Why. Stored with the version."""
    text: Annotated[str, Field(description="The file, or what replaces old_text")] = ""
    """The whole file, or with `patch` the text that replaces `old_text`."""
    old_text: Annotated[str, Field(description="patch: text that occurs there exactly once")] = ""
    """With `patch`: a passage that occurs exactly once."""
    version: Annotated[int, Field(ge=0, description="rollback: 0 is the version before")] = 0
    """With `rollback`: the version. `0` is the previous one."""
    scope: Literal["user", "workspace"] = "user"
    """For this user everywhere, or for this folder."""


class ToolManage:
    """Create, change and archive custom tools."""

    name = "tool_manage"
    kind: ToolKind = "edit"
    tool_metadata = ToolMetadata(capabilities=frozenset({"files", "memory"}))
    arguments: type[BaseModel] = Arguments

    def __init__(self, workshop: ToolWriter | None = None) -> None:
        self._workshop = workshop

    def bind(self, tool_workshop: ToolWriter) -> "ToolManage":
        """Return the tool bound to a tool editor."""
        return ToolManage(tool_workshop)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, ABOUT, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a change and show its effect on the file. Raises BadRequest for an invalid tool."""
        workshop = self._workshop
        assert workshop, "an unbound tool is never in a toolbox"
        change = ToolChange(
            arguments.action,
            arguments.name,
            arguments.reason,
            arguments.text,
            arguments.old_text,
            arguments.version,
            arguments.scope,
        )
        with store_errors_as_refusals():
            preview = await workshop.preview(workspace.cwd, change)

        async def write(progress: Progress) -> Result:
            with store_errors_as_refusals():
                told = await workshop.change(workspace.cwd, change, preview, progress.session_id)
            return Result(told, diffs=(preview.diff,))

        return Proposal(
            _title(change, preview),
            "delete" if preview.diff.is_deleted else self.kind,
            write,
            _effects(preview),
            diffs=(preview.diff,),
        )


def _effects(preview: ToolPreview) -> tuple[Effect, ...]:
    """Return what a change affects: a workspace file, or the user's own tools."""
    path = preview.diff.path
    if preview.scope == "user":
        return (Remembers(path, is_asked=True),)
    return (Deletes(path),) if preview.diff.is_deleted else (Writes(path),)


def _title(change: ToolChange, preview: ToolPreview) -> str:
    whose = "yours, for every workspace" if preview.scope == "user" else "of this workspace"
    able = f"\nIt may: {preview.abilities}." if preview.abilities else ""
    return f"{DOING[change.action]} the tool {change.name}, {whose}: {' '.join(change.reason.split())}{able}"


TOOL = ToolManage()
