"""The `delegate` tool: hand tasks to child agents."""

import math
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import InternalError
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.child_ports import DelegatedTask, TaskDelegator
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Result
from hermes_acp.core.record.child_outcomes import format_answers
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.tool_schemas import schema_of


class TaskArguments(BaseModel):
    """One task."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(min_length=1, max_length=100)]
    """What the editor shows."""
    instructions: Annotated[
        str, Field(min_length=1, description="Everything it needs to know: it sees nothing else")
    ]
    """Everything the child needs to know; it sees nothing else."""
    context: str | None = None
    """More material for the task."""


class Arguments(BaseModel):
    """The tasks, and the tools they may use."""

    model_config = ConfigDict(extra="forbid")

    tasks: Annotated[list[TaskArguments], Field(min_length=1)]
    """The tasks."""
    tools: Annotated[list[str] | None, Field(description="The only tools they may use")] = None
    """The only tools the children may use."""


class _NoDelegates:
    """A placeholder until the tool is bound."""

    about = ""

    async def run_tasks(
        self, delegated_tasks: Sequence[DelegatedTask], tools: Sequence[str] | None, progress: Progress
    ) -> Sequence[Result]:
        raise InternalError("delegate was offered without a way to run child agents.")


class Delegate:
    """Delegate tasks and wait for all the answers."""

    name = "delegate"
    kind: ToolKind = "other"
    tool_metadata = ToolMetadata(capabilities=frozenset({"delegation"}), max_per_step=1)
    arguments: type[BaseModel] = Arguments

    def __init__(self, delegates: TaskDelegator) -> None:
        self._delegates = delegates

    def bind(self, delegates: TaskDelegator) -> "Delegate":
        """Return the tool bound to a port that runs tasks."""
        return Delegate(delegates)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        about = "Let child agents do independent tasks at the same time; returns their answers."
        return schema_of(self.name, " ".join(filter(None, (about, self._delegates.about))), Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call, which itself changes nothing: each call made by a child is checked separately.

        The call has no timeout of its own, because the children have theirs.
        """
        del workspace
        delegated_tasks = [
            DelegatedTask(
                escape_invisible(" ".join(task.title.split())), task.instructions, task.context or ""
            )
            for task in arguments.tasks
        ]

        async def hand_over(progress: Progress) -> Result:
            outcomes = await self._delegates.run_tasks(delegated_tasks, arguments.tools, progress)
            titles = (delegated_task.title for delegated_task in delegated_tasks)
            answers = format_answers(zip(titles, (outcome.text for outcome in outcomes), strict=True))
            return Result(answers, is_error=all(outcome.is_error for outcome in outcomes))

        title = f"Delegate: {'; '.join(delegated_task.title for delegated_task in delegated_tasks)}"
        return Proposal(title, self.kind, hand_over, deadline_s=math.inf)


TOOL = Delegate(_NoDelegates())
