"""The `schedule` tool: schedule work that runs without the user.

It is offered only by processes that drive runs, and every change to a schedule needs the user's approval in every mode.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import Diff, ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.schedule_ports import AgentSchedules, ListedSchedule
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Action, Progress, Proposal, Remembers, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.store_failures import store_errors_as_refusals
from hermes_acp.tools.tool_schemas import schema_of


class Arguments(BaseModel):
    """The action on a schedule."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["add", "list", "remove"]
    """What to do."""
    prompt: Annotated[str, Field(description="What to do then: complete, you will not see this session")] = ""
    """The prompt of each run. It has a session of its own in this folder."""
    cron: Annotated[str, Field(description="minute hour day month weekday: 0 7 * * 1-5")] = ""
    """When, as a cron expression."""
    at: Annotated[str, Field(description="Once, at this local time: 2026-12-24T18:00")] = ""
    """When, for a single run."""
    tz: Annotated[str, Field(description="Time zone, such as Europe/Berlin; empty: the user's")] = ""
    """The time zone; without one, that of the machine."""
    name: Annotated[str, Field(description="What the schedule is called")] = ""
    """The schedule's name."""


class Schedule:
    """Start work at certain times."""

    name = "schedule"
    kind: ToolKind = "other"
    tool_metadata = ToolMetadata(capabilities=frozenset({"memory"}))
    arguments: type[BaseModel] = Arguments

    def __init__(self, schedules: AgentSchedules | None = None) -> None:
        self._schedules = schedules

    def bind(self, schedules: AgentSchedules) -> "Schedule":
        """Return the tool bound to the schedules of a home folder."""
        return Schedule(schedules)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        text = "Have prompts run later or regularly, without the user. Only when the user wants that."
        return schema_of(self.name, text, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call; changes need approval in every mode. Raises BadRequest."""
        schedules = self._schedules
        assert schedules, "an unbound tool is never in a toolbox"
        match arguments.action:
            case "list":
                return Proposal("List schedules", self.kind, lambda _: _list(schedules))
            case "remove":
                return await self._removal(schedules, arguments.name)
            case "add":
                return self._addition(schedules, arguments, workspace.cwd)

    def _addition(self, schedules: AgentSchedules, arguments: Arguments, cwd: str) -> Proposal:
        if not arguments.prompt.strip():
            raise BadRequest("A schedule needs a prompt.")
        timing, when = schedules.timing(arguments.cron, arguments.at, arguments.tz)

        async def add(progress: Progress) -> Result:
            with store_errors_as_refusals():
                listed = await schedules.add(
                    arguments.prompt, cwd, timing, arguments.name, progress.session_id
                )
            return Result(f"Added: {listed.view.schedule.id}. {when}.")

        text = f"{when}\nIn {cwd}:\n\n{arguments.prompt}\n"
        return self._change(schedules, f"Schedule: {when}", add, arguments.name or "new", None, text)

    async def _removal(self, schedules: AgentSchedules, name: str) -> Proposal:
        with store_errors_as_refusals():
            listed = await schedules.find(name)

        async def remove(progress: Progress) -> Result:
            with store_errors_as_refusals():
                await schedules.remove(name)
            return Result(f"Removed: {name}.")

        return self._change(schedules, f"Remove the schedule {name}", remove, name, _text(listed), "")

    def _change(
        self,
        schedules: AgentSchedules,
        title: str,
        perform: Action,
        name: str,
        before: str | None,
        after: str,
    ) -> Proposal:
        """Return the proposal for a change, with its full text."""
        diff = Diff(f"{schedules.place}/{name}", before, after, is_deleted=not after)
        effects = (Remembers(schedules.place, is_asked=True, is_user_wide=True),)
        return Proposal(escape_invisible(title), self.kind, perform, effects, diffs=(diff,))


def _text(listed: ListedSchedule) -> str:
    return f"{listed.when}\nIn {listed.view.schedule.template.cwd}:\n\n{listed.prompt}\n"


async def _list(schedules: AgentSchedules) -> Result:
    with store_errors_as_refusals():
        found = await schedules.list()
    lines = [
        f"- {each.view.schedule.id}{' (paused)' if each.view.is_paused else ''}: {each.when}. {each.prompt}"
        for each in found
    ]
    return Result("\n".join(lines) or "No schedules.")


TOOL = Schedule()
