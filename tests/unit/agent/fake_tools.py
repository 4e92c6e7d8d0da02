"""Fake tools whose actions a test chooses."""

import math
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Question, Result
from hermes_acp.core.tool_metadata import ToolMetadata

PLAIN = ToolMetadata()
Does = Callable[[Progress, dict[str, Any]], Awaitable[Result]]


class FakeTool:
    """A tool whose action is a function from the test; it counts how often the action ran."""

    kind: ToolKind = "other"

    def __init__(
        self,
        name: str,
        does: Does,
        tool_metadata: ToolMetadata = PLAIN,
        *,
        deadline_s: float | None = None,
        required: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.tool_metadata = tool_metadata
        self.arguments: dict[str, object] = {"type": "object", "required": list(required)}
        self.ran: list[dict[str, Any]] = []
        self._does = does
        self._deadline_s = deadline_s

    def schema(self) -> ToolSchema:
        return ToolSchema(self.name, "A toy.", self.arguments)

    async def propose(self, arguments: dict[str, Any], workspace: Workspace) -> Proposal:
        if arguments.get("impossible"):
            raise WorkspaceError("That cannot be.")

        async def act(progress: Progress) -> Result:
            self.ran.append(arguments)
            return await self._does(progress, arguments)

        return Proposal(f"Toy {self.name}", self.kind, act, deadline_s=self._deadline_s)


async def succeed(progress: Progress, arguments: dict[str, Any]) -> Result:
    return Result(f"Done: {arguments}")


async def fail(progress: Progress, arguments: dict[str, Any]) -> Result:
    return Result("It did not work.", is_error=True)


async def crash(progress: Progress, arguments: dict[str, Any]) -> Result:
    raise ZeroDivisionError(str(arguments))


async def hang(progress: Progress, arguments: dict[str, Any]) -> Result:
    progress.output("so far, so good")
    await anyio.sleep(math.inf)
    raise AssertionError


async def inquire(progress: Progress, arguments: dict[str, Any]) -> Result:
    reply = await progress.inquire(Question("Well?"))
    return Result(reply.text if reply else "nobody")
