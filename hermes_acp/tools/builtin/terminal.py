"""The `terminal` tool: run a shell command."""

from typing import Annotated

from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Command, Workspace
from hermes_acp.core.proposals import Progress, Proposal, Result, Runs
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.command_outcomes import describe_end, describe_output
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.tool_schemas import schema_of

DEFAULT_TIMEOUT_S = 120
MAX_TIMEOUT_S = 3600
KILL_TIMEOUT_S = 60
FIRST_POLL_S = 1.0


class Arguments(BaseModel):
    """The command, its folder, and its time limit."""

    model_config = ConfigDict(extra="forbid")

    command: Annotated[str, Field(min_length=1)]
    """The command line."""
    cwd: Annotated[str | None, Field(description="Folder, default the working directory")] = None
    """The folder. Default: the working directory."""
    timeout_s: Annotated[
        float | None,
        Field(gt=0, le=MAX_TIMEOUT_S, allow_inf_nan=False, description=f"Default {DEFAULT_TIMEOUT_S}"),
    ] = None
    """How long the command may run, in seconds. Default: 120."""
    background: Annotated[bool, Field(description="Leave it running; use the process tool for it")] = False
    """Leave the command running. `process` then controls it."""
    pty: Annotated[bool, Field(description="In the background, in a terminal of its own")] = False
    """With `background`: run the command in its own terminal."""
    unsandboxed: Annotated[bool, Field(description="Only if a sandbox prevents it")] = False
    """Run the command outside the sandbox. This needs your approval."""


class Terminal:
    """Run a shell command and report its output and exit code, or leave it running."""

    name = "terminal"
    kind: ToolKind = "execute"
    tool_metadata = ToolMetadata(capabilities=frozenset({"processes"}), quotes="output")
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        text = "Run a shell command without input; returns its output and exit code."
        return schema_of(self.name, text, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call; its title shows the whole command, and the folder if that is not the working directory.

        Raises WorkspaceError for a missing folder, so that the user is not asked about a command that cannot run.
        """
        cwd = workspace.locate(arguments.cwd or ".")
        if "\0" in arguments.command or not arguments.command.strip():
            raise BadRequest("The command is empty or contains NUL characters.", hint="Give a shell command.")
        if cwd != workspace.cwd:
            await workspace.entries(cwd)
        timeout_s = arguments.timeout_s or DEFAULT_TIMEOUT_S
        command = Command(
            arguments.command, cwd, timeout_s, confinement="never" if arguments.unsandboxed else "usual"
        )
        is_left_running = arguments.background or arguments.pty

        def is_let_out(progress: Progress) -> bool:
            return arguments.unsandboxed and progress.confinement == "usual"

        async def run(progress: Progress) -> Result:
            own = command if is_let_out(progress) else replace(command, confinement=progress.confinement)
            if not is_left_running:
                return describe_end(await workspace.run(own, progress), timeout_s)
            process = await workspace.launch(own, in_terminal=arguments.pty)
            return describe_output(process.name, await process.read(FIRST_POLL_S))

        place = "" if cwd == workspace.cwd else f" (in {shown_path(cwd, workspace)})"
        manner = " in the background" if is_left_running else ""
        manner += " without a sandbox" if arguments.unsandboxed else ""
        effect = Runs(
            arguments.command,
            cwd,
            workspace.roots,
            confined=workspace.confines(replace(command, confinement="must")),
            leaves_sandbox=arguments.unsandboxed,
            is_remote=workspace.is_remote,
        )
        title = f"Run{manner} {escape_invisible(arguments.command)}{place}"
        deadline_s = None if is_left_running else timeout_s + KILL_TIMEOUT_S
        return Proposal(title, self.kind, run, (effect,), deadline_s=deadline_s)


TOOL = Terminal()
