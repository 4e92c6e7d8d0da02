"""Turns started by a run, and the handling of questions that nobody answered."""

from typing import Final

from msgspec import Struct, structs

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.core.events import CallEnded
from hermes_acp.core.ports.run_ports import RunBudget
from hermes_acp.telemetry.trace_context import TurnTrace

NOT_ANSWERED: Final = "Not run: the question about this call was not answered."
NEW_MESSAGE: Final = "The user sent a new message instead. This is not a refusal."


class Commission(Struct, frozen=True):
    """What is wanted of a turn: a run's ID in the record, with what its turns may still use, and `traceparent`."""

    run_id: str = ""
    budget: RunBudget = RunBudget()
    trace_parent: str = ""

    def trace(self, *, is_exported: bool) -> TurnTrace:
        """Return the turn's place among traces."""
        return TurnTrace(self.trace_parent, self.run_id, self.trace_parent, is_exported)

    def limited(self, limits: TurnLimits) -> TurnLimits:
        """Return the limits of a turn, restricted to those of the run."""
        own = {name: value for name, value in structs.asdict(self.budget).items() if value is not None}
        return structs.replace(limits, **own)


UNCOMMISSIONED: Final = Commission()


def close_suspended_calls(ledger: Ledger) -> None:
    """Close the calls of a suspended turn with an outcome: the conversation continues without them. Raises
    StorageError.
    """
    for call in ledger.record.calls.suspended():
        ledger.emit(CallEnded(call.id, call.name, "cancelled", NOT_ANSWERED, advice=NEW_MESSAGE))
