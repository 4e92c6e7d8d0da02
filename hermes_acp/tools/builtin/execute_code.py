"""The `execute_code` tool: run a Python script that calls tools.

A script that makes a dozen calls costs the model one step, and only what it prints enters the conversation.
"""

from importlib.resources import files
from typing import Annotated, Final

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import InternalError
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.tool_ports import ToolCaller
from hermes_acp.core.ports.workspace_ports import Command, CommandResult, Workspace
from hermes_acp.core.proposals import Progress, Proposal, Result, Runs
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.tools.command_outcomes import describe_end
from hermes_acp.tools.heredocs import with_heredoc
from hermes_acp.tools.scripts.script_calls import ScriptCallServer
from hermes_acp.tools.tool_schemas import schema_of

DEFAULT_TIMEOUT_S: Final = 300
MAX_TIMEOUT_S: Final = 3600
MAX_CALLS: Final = 100
LOADER: Final = "python3 -Iuc 'import sys, json; exec(json.loads(sys.stdin.readline()))'"
DISPLAY_COMMAND: Final = "python3"


class Arguments(BaseModel):
    """The script and its time limit."""

    model_config = ConfigDict(extra="forbid")

    code: Annotated[str, Field(min_length=1, max_length=200_000)]
    """The script."""
    timeout_s: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_S, allow_inf_nan=False)] = DEFAULT_TIMEOUT_S
    """How long the script may run, in seconds."""


class _NoTools:
    """A placeholder until the tool is bound."""

    def names(self, progress: Progress) -> tuple[str, ...]:
        raise InternalError("execute_code was offered without tools to call.")

    async def call(self, name: str, arguments: str, progress: Progress) -> Result:
        raise InternalError("execute_code was offered without tools to call.")


class ExecuteCode:
    """Run a Python script that can call the other tools as functions."""

    name = "execute_code"
    kind: ToolKind = "execute"
    tool_metadata = ToolMetadata(
        capabilities=frozenset({"processes"}), quotes="output", needs=frozenset({"terminal"})
    )
    arguments: type[BaseModel] = Arguments

    def __init__(self, inner_calls: ToolCaller) -> None:
        self._tools = inner_calls

    def bind(self, inner_calls: ToolCaller) -> "ExecuteCode":
        """Return the tool bound to the tools its scripts can call."""
        return ExecuteCode(inner_calls)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        about = (
            "Run a Python script that calls your tools as functions, for many calls or a lot of data at once: "
            'tools.read_file(path="a") gives the text, or raises ToolError. You see what it prints.'
        )
        return schema_of(self.name, about, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call: the script is checked as a command, and each call it makes is checked separately."""
        command = Command(LOADER, workspace.cwd, arguments.timeout_s)
        effect = Runs(
            with_heredoc(DISPLAY_COMMAND, arguments.code),
            workspace.cwd,
            workspace.roots,
            confined=workspace.confines(msgspec.structs.replace(command, confinement="must")),
            is_remote=workspace.is_remote,
        )

        async def run(progress: Progress) -> Result:
            own = msgspec.structs.replace(command, confinement=progress.confinement)
            return await self._run(own, arguments.code, workspace, progress)

        lines = max(1, len(arguments.code.splitlines()))
        title = f"Run a Python script of {lines} line{'s' if lines > 1 else ''}"
        return Proposal(title, self.kind, run, (effect,), deadline_s=arguments.timeout_s)

    async def _run(self, command: Command, code: str, workspace: Workspace, progress: Progress) -> Result:
        """Run a script until it ends; whatever happens, no process is left behind."""

        async def call(name: str, given: str) -> Result:
            return await self._tools.call(name, given, progress)

        process = await workspace.launch(command)
        try:
            source = (files("hermes_acp.tools.scripts") / "runner.py").read_text(encoding="utf-8")
            task = {"code": code, "tools": list(self._tools.names(progress)), "cwd": workspace.cwd}
            answering = ScriptCallServer(process, task, call, MAX_CALLS)
            await process.write(msgspec.json.encode(source).decode() + "\n")
            end = await answering.run()
        finally:
            await process.kill()
        return _told(answering, end)


def _told(answering: ScriptCallServer, end: CommandResult) -> Result:
    """Return the script's output and how it ended, or the error if it never ran."""
    printed = answering.noise if answering.printed is None else answering.printed
    result = describe_end(msgspec.structs.replace(end, output=printed), 0)
    calls = f"[{answering.calls} tool call{'' if answering.calls == 1 else 's'}]"
    return msgspec.structs.replace(result, text=f"{result.text}\n{calls}", is_error=end.exit_code != 0)


TOOL = ExecuteCode(_NoTools())
