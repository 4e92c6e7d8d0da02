"""The `call_tool` tool: call a deferred tool by its name.

Only the model sees calls of this tool. They are recorded, checked, shown and executed as calls of the named tool.
"""

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Proposal
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.tools.deferred.wrapped_calls import CALL_TOOL
from hermes_acp.tools.tool_schemas import schema_of

ABOUT: Final = (
    "Call a tool of an MCP server that is not among your tools, by the name and with the arguments that tool_search "
    "shows."
)


class Arguments(BaseModel):
    """The tool to call and its arguments."""

    model_config = ConfigDict(extra="forbid")

    name: str
    arguments: Annotated[dict[str, Any], Field(description="An object that fits the tool's parameters")] = {}


class CallTool:
    """Call another tool. Valid calls never get here, because they are converted to calls of that tool."""

    name = CALL_TOOL
    kind: ToolKind = "other"
    tool_metadata = ToolMetadata()
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, ABOUT, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Refuse the call, because it names no tool."""
        del workspace
        raise BadRequest(
            f"{CALL_TOOL} cannot call {arguments.name[:80]!r}.", hint="Name one of the other tools."
        )
