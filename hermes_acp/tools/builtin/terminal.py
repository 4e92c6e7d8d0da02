"""The tool that runs a shell command.

Knows: how an ending is told. Does not know: shells, processes, terminals.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.exchanges import Command, CommandEnd
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Result, Runs
from hermes_acp.core.terms import ToolKind
from hermes_acp.tools.schemas import schema_of
from hermes_acp.tools.titles import shown_path, visible

DEFAULT_TIMEOUT_S = 120
LONGEST_TIMEOUT_S = 3600
ENDING_S = 60


class Arguments(BaseModel):
    """What to run, where, and for how long at most."""

    model_config = ConfigDict(extra="forbid")

    command: Annotated[str, Field(min_length=1)]
    cwd: Annotated[str | None, Field(description="Folder, default the working directory")] = None
    timeout_s: Annotated[
        float | None,
        Field(gt=0, le=LONGEST_TIMEOUT_S, allow_inf_nan=False, description=f"Default {DEFAULT_TIMEOUT_S}"),
    ] = None


class Terminal:
    """Runs a command and tells its output and exit code."""

    name = "terminal"
    kind: ToolKind = "execute"
    is_cheap: bool = False
    is_repeatable: bool = False
    most_per_step: int | None = None
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        text = "Run a shell command without input; gives output and exit code. Redirect background output."
        return schema_of(self.name, text, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Understand a call; its title shows the whole command, and the folder where that is not cwd.

        Raises WorkspaceTrouble for a folder there is not, so that nobody is asked about what cannot run.
        """
        cwd = workspace.locate(arguments.cwd or ".")
        if "\0" in arguments.command or not arguments.command.strip():
            raise BadRequest("The command is empty or holds NUL characters.", hint="Give a shell command.")
        if cwd != workspace.cwd:
            await workspace.entries(cwd)
        timeout_s = arguments.timeout_s or DEFAULT_TIMEOUT_S
        command = Command(arguments.command, cwd, timeout_s)

        async def run(progress: Progress) -> Result:
            return tell_end(await workspace.run(command, progress), timeout_s)

        place = "" if cwd == workspace.cwd else f" (in {shown_path(cwd, workspace)})"
        title = f"Run {visible(arguments.command)}{place}"
        effects = (Runs(arguments.command, cwd, workspace.roots),)
        return Proposal(title, self.kind, run, effects, deadline_s=timeout_s + ENDING_S)


def tell_end(end: CommandEnd, timeout_s: float) -> Result:
    """Give the output and, as the last line, how the command ended."""
    output = end.output.rstrip("\n")
    is_plain = not end.timed_out and (end.signal != "" or end.exit_code is not None)
    return Result(
        f"{output or '(no output)'}\n{_ending(end, timeout_s)}",
        is_error=end.timed_out,
        exit_code=end.exit_code,
        signal=end.signal,
        output_characters=len(output) if is_plain else None,
    )


def _ending(end: CommandEnd, timeout_s: float) -> str:
    if end.timed_out:
        return f"[timed out after {timeout_s:g} s; the command and all it started were ended]"
    if end.signal:
        return f"[killed by {end.signal}]"
    if end.exit_code is None:
        return "[ended from outside, without an exit code]"
    return f"[exit code: {end.exit_code}]"


TOOL = Terminal()
