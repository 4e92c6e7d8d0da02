"""The cards of calls: what a call does, shown before it runs."""

import msgspec

from hermes_acp.agent.turn.secret_masking import masked
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.core.events import CallProposed
from hermes_acp.core.messages import ToolCall
from hermes_acp.core.proposals import Proposal


def show_card(turn: Turn, call: ToolCall, proposal: Proposal, raw_input: object) -> CallProposed:
    """Show a proposed call and return its card; a call that was suspended is shown again only if its card has
    changed.
    """
    card = CallProposed(
        call_id=call.id,
        name=call.name,
        title=proposal.title,
        kind=proposal.kind,
        raw_input=raw_input,
        locations=proposal.locations,
        diffs=proposal.diffs,
        within=turn.origin.within,
    )
    shown = turn.record.calls.card(call.id)
    return shown if shown and shown == masked(card, turn.ledger.redactor.clean) else turn.emit(card)


def raw_input_of(call: ToolCall) -> object:
    """Return a call's arguments as far as they can be read."""
    try:
        return msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        return {"text": call.arguments}
