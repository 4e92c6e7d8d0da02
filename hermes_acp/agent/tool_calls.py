"""The calls of one step: understood, judged, asked about, carried out, each with exactly one outcome.

Knows: the order understand → propose → judge → ask → perform, and that nothing skips a part of it.
Does not know: any tool, any rule, any editor. This is the one boundary where a tool's failure becomes an outcome.
"""

from collections.abc import Sequence

import anyio
import msgspec
from msgspec import Struct

from hermes_acp.agent.progress import CallProgress
from hermes_acp.agent.turn import Turn
from hermes_acp.core.errors import HermesError, StorageTrouble
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    CallStatus,
    PermissionAnswered,
    PermissionAsked,
)
from hermes_acp.core.messages import ToolCall
from hermes_acp.core.proposals import Proposal, Result
from hermes_acp.policy.rules import grants_for

CANCELLED = "The turn was stopped before this call came to its end."
CUT_OFF = "Your answer was cut off at its length limit, so this call may be incomplete. Say it again, in smaller parts."
CRASHED = "The tool failed unexpectedly ({kind}). Nothing is known of its effect; try another way."


class _Outcome(Struct, frozen=True):
    status: CallStatus
    result: Result
    terminal_id: str | None = None


async def run_tool_calls(turn: Turn, calls: Sequence[ToolCall], *, truncated: bool) -> None:
    """Run a step's calls in order; on cancellation every call still open gets its outcome first."""
    for number, call in enumerate(calls):
        try:
            outcome = await _run_one(turn, call, cut_off=truncated and number == len(calls) - 1)
        except anyio.get_cancelled_exc_class():
            for open_call in calls[number:]:
                _end(turn, open_call, _Outcome("cancelled", Result(CANCELLED, is_error=True)))
            raise
        _end(turn, call, outcome)
        await turn.ledger.drained()


def _end(turn: Turn, call: ToolCall, outcome: _Outcome) -> None:
    """Give a call its outcome; one that was never understood is shown first, so that there is a card to close."""
    if not turn.record.was_proposed(call.id):
        kind = turn.kit.toolbox.kind_of(call)
        turn.emit(CallProposed(call.id, call.name, call.name or "unnamed tool", kind, _raw_input(call)))
    result = outcome.result
    turn.emit(
        CallEnded(
            call_id=call.id,
            name=call.name,
            status=outcome.status,
            text=turn.kit.redactor.clean(result.text),
            diffs=result.diffs,
            locations=result.locations,
            exit_code=result.exit_code,
            terminal_id=outcome.terminal_id,
        )
    )


async def _run_one(turn: Turn, call: ToolCall, *, cut_off: bool) -> _Outcome:
    try:
        tool, arguments = turn.kit.toolbox.understand(call)
        if cut_off:
            return _failed(CUT_OFF)
        proposal = await tool.propose(arguments, turn.workspace)
    except StorageTrouble:
        raise
    except HermesError as error:
        return _failed(error.sentence())
    except Exception as error:
        return _failed(CRASHED.format(kind=type(error).__name__))
    proposed = turn.emit(_card(call, proposal))
    if refusal := await _permit(turn, proposed, proposal):
        return _failed(refusal)
    await turn.ledger.settle()
    turn.emit(CallStarted(call.id))
    outcome = await _perform(turn, call, proposal)
    await turn.ledger.settle()
    return outcome


async def _permit(turn: Turn, proposed: CallProposed, proposal: Proposal) -> str:
    """Give why the call must not run, in words for the model; empty when it may."""
    verdict = turn.kit.policy.judge(proposal.effects, turn.record.mode, turn.record.grants)
    if verdict.decision == "allow":
        return ""
    if verdict.decision == "deny":
        return f"Not allowed: {verdict.why}. Do not try to reach the same by other means."
    turn.emit(PermissionAsked(proposed.call_id))
    await turn.ledger.drained()
    answer = await turn.gate.ask(proposed, can_last=bool(grants_for(proposal.effects, allowed=True)))
    grants = ()
    if answer in ("allow_always", "reject_always"):
        grants = grants_for(proposal.effects, allowed=answer == "allow_always")
    turn.emit(PermissionAnswered(proposed.call_id, answer, grants))
    if answer in ("allow_once", "allow_always"):
        return ""
    if answer == "unavailable":
        return (
            f"Not done: this needs a person's approval ({verdict.why}), "
            "and nobody could be asked, or the answer made no sense."
        )
    return "The user refused this. Ask what they want instead, or go on without it."


async def _perform(turn: Turn, call: ToolCall, proposal: Proposal) -> _Outcome:
    progress = CallProgress(turn, call.id)
    try:
        async with progress.shown():
            result = await proposal.perform(progress)
    except StorageTrouble:
        raise
    except HermesError as error:
        return _failed(error.sentence())
    except Exception as error:
        return _failed(CRASHED.format(kind=type(error).__name__))
    return _Outcome("failed" if result.is_error else "completed", result, progress.terminal_id)


def _card(call: ToolCall, proposal: Proposal) -> CallProposed:
    return CallProposed(
        call_id=call.id,
        name=call.name,
        title=proposal.title,
        kind=proposal.kind,
        raw_input=_raw_input(call),
        locations=proposal.locations,
        diffs=proposal.diffs,
    )


def _failed(why: str) -> _Outcome:
    return _Outcome("failed", Result(why, is_error=True))


def _raw_input(call: ToolCall) -> object:
    try:
        return msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        return {"text": call.arguments}
