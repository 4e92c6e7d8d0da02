"""The calls of one step: understood, judged, asked about, carried out, each with exactly one outcome.

Knows: the order understand → propose → judge → ask → perform, that nothing skips a part of it, and that an action
which takes too long is ended.
Does not know: any tool, any rule, any editor. This is the one boundary where a tool's failure becomes an outcome.
"""

from collections.abc import Awaitable, Callable, Sequence

import anyio
import msgspec
from msgspec import Struct, structs

from hermes_acp.agent.deadline import Deadline
from hermes_acp.agent.progress import CallProgress
from hermes_acp.agent.sieve import Refused, Sieve
from hermes_acp.agent.turn import Outcome, Turn
from hermes_acp.core.errors import HermesError, StorageTrouble
from hermes_acp.core.events import CallEnded, CallProposed, CallStarted, PermissionAnswered, PermissionAsked
from hermes_acp.core.messages import ToolCall
from hermes_acp.core.proposals import Proposal, Reads, Result
from hermes_acp.core.terms import CallStatus
from hermes_acp.tools.toolbox import Understood

CANCELLED = "The turn was stopped before this call came to its end."
STOPPED = (
    "Cancelled by the user while it ran; what it had begun was ended and may be half done. The turn goes on: look at "
    "the present state, and do not simply make this call again."
)
CRASHED = "The tool failed unexpectedly ({kind}). Nothing is known of its effect; try another way."
TOO_LONG = (
    "Stopped after {seconds:g} s, the most this call may take; what it had begun was ended and may be half done. "
    "Look at the present state, then try a smaller piece or another way."
)


class _End(Struct, frozen=True):
    status: CallStatus
    result: Result
    terminal_id: str | None = None


async def run_tool_calls(turn: Turn, calls: Sequence[ToolCall], *, truncated: bool) -> tuple[Outcome, ...]:
    """Run a step's calls in order; on cancellation every call still open gets its outcome first.

    Of an answer that was `truncated` the last call is not run.
    """
    sieve = Sieve(turn.kit.toolbox)
    outcomes: list[Outcome] = []
    for number, call in enumerate(calls):
        is_cut_off = truncated and number == len(calls) - 1
        try:
            outcomes.append(await _run_one(turn, sieve, call, is_cut_off=is_cut_off))
            await turn.ledger.drained()
        except anyio.get_cancelled_exc_class():
            close_open_calls(turn)
            raise
    return tuple(outcomes)


def close_open_calls(turn: Turn) -> None:
    """Give every call its outcome that has none and will get no other, as the turn was stopped."""
    for call in turn.record.open_calls():
        _end(turn, call, _End("cancelled", Result(CANCELLED, is_error=True)))


async def _run_one(turn: Turn, sieve: Sieve, call: ToolCall, *, is_cut_off: bool) -> Outcome:
    """Run one call that the sieve lets pass, and give every call its outcome."""
    try:
        admitted = sieve.admit(call, is_cut_off=is_cut_off)
    except Exception as error:
        admitted = Refused(CRASHED.format(kind=type(error).__name__))
    if isinstance(admitted, Refused):
        _end(turn, call, _End(admitted.status, Result(admitted.why, is_error=True)))
        return Outcome(
            call.name,
            f"{call.name} {call.arguments}",
            admitted.status,
            admitted.why,
            is_understood=admitted.is_understood,
            is_repeat=admitted.is_repeat,
        )
    ended = await _carry_out(turn, call, admitted)
    _end(turn, call, ended)
    if not admitted.tool.is_cheap:
        await turn.ledger.settle()
    sieve.note(admitted, ended.status)
    return Outcome(
        admitted.tool.name,
        admitted.spelled(),
        ended.status,
        ended.result.text,
        is_understood=True,
        is_cheap=admitted.tool.is_cheap,
    )


def _end(turn: Turn, call: ToolCall, outcome: _End) -> None:
    """Give a call its outcome; one that was never understood is shown first, so that there is a card to close."""
    if not turn.record.was_proposed(call.id):
        kind = turn.kit.toolbox.kind_of(call)
        turn.emit(CallProposed(call.id, call.name, call.name or "unnamed tool", kind, _raw_input(call)))
    result, clean = outcome.result, turn.kit.redactor.clean
    output = None if result.output_characters is None else result.text[: result.output_characters]
    turn.emit(
        CallEnded(
            call_id=call.id,
            name=call.name,
            status=outcome.status,
            text=clean(result.text),
            diffs=result.diffs,
            locations=result.locations,
            exit_code=result.exit_code,
            signal=result.signal,
            output_characters=None if output is None else len(clean(output)),
            terminal_id=outcome.terminal_id,
        )
    )


async def _carry_out(turn: Turn, call: ToolCall, understood: Understood) -> _End:
    proposal: Proposal | None = None
    try:
        with anyio.move_on_after(turn.limits.tool_timeout_s):
            proposal = await understood.tool.propose(understood.arguments, turn.workspace)
    except StorageTrouble:
        raise
    except HermesError as error:
        return _failed(error.sentence())
    except Exception as error:
        return _failed(CRASHED.format(kind=type(error).__name__))
    if proposal is None:
        return _failed(TOO_LONG.format(seconds=turn.limits.tool_timeout_s))
    proposed = turn.emit(_card(call, proposal, understood.plain))
    if refusal := await _permit(turn, proposed, proposal):
        return _failed(refusal)
    return await _perform(turn, proposed, proposal, is_repeatable=understood.tool.is_repeatable)


async def _permit(turn: Turn, proposed: CallProposed, proposal: Proposal) -> str:
    """Give why the call must not run, in words for the model; empty when it may."""
    verdict = turn.kit.policy.judge(proposal.effects, turn.mode, turn.grants)
    if verdict.decision == "allow":
        return ""
    if verdict.decision == "deny":
        return f"Not allowed: {verdict.why}. Do not try to reach the same by other means."
    turn.emit(PermissionAsked(proposed.call_id))
    await turn.ledger.drained()
    answer = await turn.gate.ask(
        proposed, can_last=bool(turn.kit.policy.grants_for(proposal.effects, allowed=True))
    )
    grants = ()
    if answer in ("allow_always", "reject_always"):
        grants = turn.kit.policy.grants_for(proposal.effects, allowed=answer == "allow_always")
    turn.emit(PermissionAnswered(proposed.call_id, answer, grants))
    if answer in ("allow_once", "allow_always"):
        return ""
    if answer == "unavailable":
        return (
            f"Not done: this needs a person's approval ({verdict.why}), "
            "and nobody could be asked, or the answer made no sense."
        )
    return "The user refused this. Ask what they want instead, or go on without it."


async def _perform(turn: Turn, card: CallProposed, proposal: Proposal, *, is_repeatable: bool) -> _End:
    """Do it, unless its user stops it: then what it was for goes on without it."""
    usual_s = turn.limits.tool_timeout_s
    deadline = Deadline(usual_s if proposal.deadline_s is None else proposal.deadline_s)
    progress = CallProgress(turn, card.call_id, deadline)
    ends: list[Result] = []

    async def act() -> Result:
        result: Result | None = None
        with deadline.scope:
            async with progress.shown():
                result = await proposal.perform(progress)
        if result is None:
            result = progress.broken_off(TOO_LONG.format(seconds=deadline.seconds))
        ends.append(result)
        return result

    outcomes: list[Result] = []
    with turn.running.hold(card) as running:
        turn.emit(CallStarted(card.call_id, is_repeatable))
        if not all(isinstance(effect, Reads) for effect in proposal.effects):
            await turn.ledger.settle()
        outcomes.append(await outcome_of(act))
    if not outcomes:
        stopped = structs.replace(progress.broken_off(STOPPED), output_characters=len(progress.tail))
        return _End(running.ends_as, stopped, progress.terminal_id)
    (result,) = outcomes
    terminal_id = progress.terminal_id if ends else None
    return _End("failed" if result.is_error else "completed", result, terminal_id)


async def outcome_of(act: Callable[[], Awaitable[Result]], crashed: str = CRASHED) -> Result:
    """Act; whatever goes wrong is the outcome, in words for the model. Raises StorageTrouble."""
    try:
        return await act()
    except StorageTrouble:
        raise
    except HermesError as error:
        return Result(error.sentence(), is_error=True)
    except Exception as error:
        return Result(crashed.format(kind=type(error).__name__), is_error=True)


def _card(call: ToolCall, proposal: Proposal, raw_input: object) -> CallProposed:
    return CallProposed(
        call_id=call.id,
        name=call.name,
        title=proposal.title,
        kind=proposal.kind,
        raw_input=raw_input,
        locations=proposal.locations,
        diffs=proposal.diffs,
    )


def _failed(why: str) -> _End:
    return _End("failed", Result(why, is_error=True))


def _raw_input(call: ToolCall) -> object:
    try:
        return msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        return {"text": call.arguments}
