"""Build and show the card that describes a tool call before it runs."""

import msgspec

from hermes_acp.agent.turn.secret_masking import masked
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.core.events import CallProposed
from hermes_acp.core.messages import ToolCall
from hermes_acp.core.proposals import Proposal


def show_card(turn: Turn, call: ToolCall, proposal: Proposal, raw_input: object) -> CallProposed:
    """Show the card of a proposed call and return it; a resumed call is shown again only if its card has changed."""
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
    """Return a call's arguments as parsed JSON, or as much of them as can be parsed."""
    try:
        return msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        return {"text": call.arguments}
