"""Run tool calls made by a running call, such as a script.

Each inner call is checked, approved, shown and recorded like any other. While a person is asked about it, the outer
call's deadline is paused.
"""

from typing import Final

from msgspec import structs

from hermes_acp.agent.calls.call_progress import CallProgress
from hermes_acp.agent.calls.deadline import Deadline
from hermes_acp.agent.calls.tool_calls import run_inner_call
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.core.errors import InternalError
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.messages import ToolCall
from hermes_acp.core.ports.gate_ports import Gate, PermissionResponse, PermissionScope
from hermes_acp.core.proposals import Progress, Question, Reply, Result

WITHHELD: Final = frozenset({"execute_code", "delegate", "ask_user", "call_tool"})
"""Tools that only the model may call: they start their own turns, ask for answers, or give access to other tools."""


class ClockPausingGate:
    """A turn's gate that pauses the outer call's deadline while it waits for a person."""

    def __init__(self, gate: Gate, deadline: Deadline) -> None:
        self._gate = gate
        self._deadline = deadline

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Ask a person for permission to run a call."""
        with self._deadline.paused():
            return await self._gate.ask(call, permission_scope=permission_scope)

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Ask a person a question on behalf of a call."""
        with self._deadline.paused():
            return await self._gate.inquire(call_id, question)


class NestedCalls:
    """Lets a running call use the tools of its turn."""

    def names(self, progress: Progress) -> tuple[str, ...]:
        """List the tools that the call may use."""
        names = _outer(progress).turn.deps.toolbox.names
        return tuple(name for name in names if name not in WITHHELD)

    async def call(self, name: str, arguments: str, progress: Progress) -> Result:
        """Run one call, and return the result as the model would read it, with secrets masked. Raises StorageError."""
        outer = _outer(progress)
        turn = outer.turn
        deps = structs.replace(turn.deps, toolbox=turn.deps.toolbox.only(self.names(progress)))
        inner: Turn = structs.replace(
            turn,
            deps=deps,
            gate=ClockPausingGate(turn.gate, outer.deadline),
            origin=structs.replace(turn.origin, within=outer.call_id),
        )
        outcome = await run_inner_call(inner, ToolCall(turn.deps.ids.fresh("call"), name, arguments))
        text = turn.deps.redactor.clean(outcome.text)
        return Result(text, is_error=outcome.status != "completed")


def _outer(progress: Progress) -> CallProgress:
    if not isinstance(progress, CallProgress):
        raise InternalError("A tool was called from outside of a turn.")
    return progress
