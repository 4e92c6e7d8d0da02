"""Turns started by a run, and how they handle questions that nobody answered."""

from typing import Final

from msgspec import Struct, structs

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.agent.turn.turn import TurnOrigin
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.core.events import CallEnded
from hermes_acp.core.ports.run_ports import RunBudget
from hermes_acp.telemetry.trace_context import TurnTrace
from hermes_acp.tools.toolbox import Toolbox

NOT_ANSWERED: Final = "Not run: the question about this call was not answered."
NEW_MESSAGE: Final = "The user sent a new message instead. This is not a refusal."


class Commission(Struct, frozen=True):
    """What a run passes to its turns: its ID for the record, the remaining budget, and the `traceparent`.

    A child agent in its own process may use only `tools`; `agents_above` counts its ancestors.
    """

    run_id: str = ""
    budget: RunBudget = RunBudget()
    trace_parent: str = ""
    tools: tuple[str, ...] | None = None
    agents_above: int = 0

    def origin(self, *, is_exported: bool) -> TurnOrigin:
        """Return the origin of the turn, with its trace context."""
        trace = TurnTrace(self.trace_parent, self.run_id, self.trace_parent, is_exported)
        return TurnOrigin(trace=trace, agents_above=self.agents_above)

    def narrowed(self, toolbox: Toolbox) -> Toolbox:
        """Restrict a toolbox to the tools that the turn may use."""
        if self.tools is None:
            return toolbox
        return toolbox.only(name for name in self.tools if name in toolbox.names)

    def limited(self, limits: TurnLimits) -> TurnLimits:
        """Restrict a turn's limits to those of the run."""
        own = {name: value for name, value in structs.asdict(self.budget).items() if value is not None}
        return structs.replace(limits, **own)


UNCOMMISSIONED: Final = Commission()


def close_suspended_calls(ledger: Ledger) -> None:
    """Close the calls of a suspended turn with an outcome: the conversation continues without them.

    Raises StorageError.
    """
    for call in ledger.record.calls.suspended():
        ledger.emit(CallEnded(call.id, call.name, "cancelled", NOT_ANSWERED, advice=NEW_MESSAGE))
