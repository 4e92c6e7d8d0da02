"""Close or suspend the calls that a killed process left open; calls with open questions are suspended."""

from collections.abc import Mapping
from typing import Final

from hermes_acp.core.events import CallEnded, CallProposed, Event
from hermes_acp.core.messages import ToolCall
from hermes_acp.core.record.child_outcomes import ChildOutcome, describe_interrupted_call, resolve_child_end
from hermes_acp.core.record.open_calls import OpenCalls

ASKING_TOOLS: Final = frozenset({"ask_user"})
"""The tools that do nothing but ask the user something."""
NOT_STARTED = (
    "The process ended before this call was started: nothing happened. Make it again if it is still wanted."
)
REPEATABLE = (
    "The process ended while this call was running, so its outcome is lost. It is safe to make it again."
)
IN_DOUBT = (
    "The process ended while this call was running. It may have taken effect, fully or in part: check the current "
    "state before making it again."
)


def waits_for_user(calls: OpenCalls) -> bool:
    """Return whether a question is open about one of the model's calls, or was asked by such a call."""
    return any(
        may_be_suspended(calls, call) and (call.id in calls.asked or call.id in calls.started)
        for call in calls.of_model()
    )


def may_be_suspended(calls: OpenCalls, call: ToolCall) -> bool:
    """Return whether a call can be carried out later because it has not started or only asks the user something."""
    return call.id not in calls.started or call.name in ASKING_TOOLS


def calls_closed(
    calls: OpenCalls,
    accounts: Mapping[str, ChildOutcome],
    lost: str,
    *,
    keeps_questions: bool = False,
    keeps_suspended: bool = True,
) -> list[Event]:
    """List the events that close the open calls of a killed process.

    `accounts` contains the outcomes from the children's own records, by child ID; `lost` is the text for a child
    without one. With `keeps_questions`, calls that may be suspended stay open; with `keeps_suspended`, those that are
    already suspended do.
    """
    ends: list[Event] = [
        resolve_child_end(child, accounts.get(child.child_id), lost) for child in calls.unended_children()
    ]
    for card in calls.inner.values():
        outcome = _lost_outcome(calls, card.call_id, accounts)
        ends.append(CallEnded(card.call_id, card.name, "failed", outcome, within=card.within))
    suspended = calls.suspended() if keeps_suspended else ()
    for call in calls.of_model():
        if call in suspended or (keeps_questions and may_be_suspended(calls, call)):
            continue
        if calls.card(call.id) is None:
            ends.append(CallProposed(call.id, call.name, call.name, "other"))
        ends.append(CallEnded(call.id, call.name, "failed", _lost_outcome(calls, call.id, accounts)))
    return ends


def _lost_outcome(calls: OpenCalls, call_id: str, accounts: Mapping[str, ChildOutcome]) -> str:
    if children := calls.children_of(call_id):
        return describe_interrupted_call(children, accounts)
    started = calls.started.get(call_id)
    if started is None:
        return NOT_STARTED
    return REPEATABLE if started.is_repeatable else IN_DOUBT
