"""The `plan` tool: show the agent's plan to the user."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.event_types import PlanEntry, ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.tools.tool_schemas import schema_of


class EntryArguments(BaseModel):
    """One line of the plan."""

    model_config = ConfigDict(extra="forbid")

    content: Annotated[str, Field(min_length=1)]
    """What is to be done."""
    status: Literal["pending", "in_progress", "completed"] = "pending"
    """The entry's progress."""
    priority: Literal["high", "medium", "low"] = "medium"
    """The entry's priority."""


class Arguments(BaseModel):
    """The whole plan."""

    model_config = ConfigDict(extra="forbid")

    entries: list[EntryArguments]
    """The whole plan."""


class Plan:
    """Update the plan that the editor shows."""

    name = "plan"
    kind: ToolKind = "think"
    tool_metadata = ToolMetadata(is_cheap=True, is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Show the user your plan; send all entries each time.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call; the call changes nothing."""
        del workspace
        entries = tuple(PlanEntry(each.content, each.status, each.priority) for each in arguments.entries)
        done = sum(1 for entry in entries if entry.status == "completed")

        async def show(progress: Progress) -> Result:
            progress.plan(entries)
            return Result(f"The plan has {len(entries)} entries, {done} completed.")

        return Proposal(f"Update the plan ({done}/{len(entries)} done)", self.kind, show)


TOOL = Plan()
