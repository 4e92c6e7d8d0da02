"""The `process` tool: manage background processes."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import LiveProcess, Workspace
from hermes_acp.core.proposals import Action, Progress, Proposal, Result, Runs
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.command_outcomes import describe_output
from hermes_acp.tools.heredocs import with_heredoc
from hermes_acp.tools.tool_schemas import schema_of

MAX_WAIT_S: Final = 300
REPLY_TIMEOUT_S: Final = 1.0
TIMEOUT_MARGIN_S: Final = 60


class Arguments(BaseModel):
    """The action, and the process it applies to."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["list", "read", "write", "kill"]
    """What to do."""
    name: Annotated[str | None, Field(description="As p1")] = None
    """The process, such as `p1`."""
    text: Annotated[str | None, Field(description="Input; \\n sends a line, a final \\u0004 ends it")] = None
    """Input. `\\n` sends a line, a final `\\u0004` ends the input."""
    wait_s: Annotated[float, Field(ge=0, le=MAX_WAIT_S, description="For output")] = 0
    """Seconds to wait for output."""

    @model_validator(mode="after")
    def _is_whole(self) -> "Arguments":
        if self.action != "list" and not self.name:
            raise ValueError(f"{self.action} needs the name of a process")
        if self.action == "write" and self.text is None:
            raise ValueError("write needs a text")
        return self


class Process:
    """List, read, write to or end background commands."""

    name = "process"
    kind: ToolKind = "execute"
    tool_metadata = ToolMetadata(
        capabilities=frozenset({"processes"}), quotes="output", needs=frozenset({"terminal"})
    )
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Manage background commands; read returns new output.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call. Input is checked as if it were part of the command that receives it.

        Raises BadRequest for an unknown process.
        """
        if arguments.action == "list":
            return Proposal("List background commands", "read", _list_action(workspace))
        process = _find(workspace, arguments.name or "")
        text = arguments.text or ""

        async def act(progress: Progress) -> Result:
            del progress
            wait_s = arguments.wait_s
            if arguments.action == "kill":
                await process.kill()
            elif arguments.action == "write":
                await process.write(text)
                wait_s = wait_s or REPLY_TIMEOUT_S
            return describe_output(process.name, await process.read(wait_s))

        which = f"{process.name} ({escape_invisible(process.line)})"
        match arguments.action:
            case "read":
                return Proposal(f"Read {which}", "read", act, deadline_s=arguments.wait_s + TIMEOUT_MARGIN_S)
            case "write":
                effect = Runs(
                    with_heredoc(process.line, text),
                    workspace.cwd,
                    workspace.roots,
                    confined=process.is_confined,
                    is_remote=workspace.is_remote,
                )
                title = f"Write {escape_invisible(text)} to {which}"
                return Proposal(
                    title, self.kind, act, (effect,), deadline_s=arguments.wait_s + TIMEOUT_MARGIN_S
                )
            case _:
                return Proposal(f"Kill {which}", self.kind, act)


def _find(workspace: Workspace, name: str) -> LiveProcess:
    live = workspace.live
    if name not in live:
        there_are = f"Known processes: {', '.join(live)}." if live else "None was started."
        raise BadRequest(f"There is no process {name[:40]!r}.", hint=there_are)
    return live[name]


def _list_action(workspace: Workspace) -> Action:
    async def list_them(progress: Progress) -> Result:
        del progress
        lines = [f"{name}: {escape_invisible(process.line)}" for name, process in workspace.live.items()]
        return Result("\n".join(lines) or "No commands are running in the background.")

    return list_them


TOOL = Process()
