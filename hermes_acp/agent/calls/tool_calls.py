"""Run one step's calls, each to exactly one outcome: parse, propose, check, ask, perform.

This is the only place where tool failures become outcomes.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import anyio
from msgspec import Struct, structs

from hermes_acp.agent.calls.call_cards import raw_input_of, show_card
from hermes_acp.agent.calls.call_checkpoints import checkpoint_before
from hermes_acp.agent.calls.call_filter import CallFilter, RejectedCall
from hermes_acp.agent.calls.call_messages import (
    BEYOND_CAPABILITIES,
    CALL_TIMED_OUT,
    CANCELLED,
    CRASHED,
    ENDED,
    NO_TIME_LEFT,
    NOT_ALLOWED,
    STOPPED_BEFORE_END,
    TURN_TIMED_OUT,
    CallNote,
    note_of,
)
from hermes_acp.agent.calls.call_permission import ask, judge, stage_refusal
from hermes_acp.agent.calls.call_progress import CallProgress
from hermes_acp.agent.calls.call_scheduling import CallOrder, Footprint, footprint_of
from hermes_acp.agent.calls.deadline import Deadline
from hermes_acp.agent.calls.flow_tracking import exposure_of, note_call
from hermes_acp.agent.calls.stale_read_check import stale_read_reason
from hermes_acp.agent.calls.tool_capabilities import undeclared_effects
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_step import CallOutcome
from hermes_acp.core.errors import HermesError, StorageError, first_error
from hermes_acp.core.event_types import CallStatus
from hermes_acp.core.events import CallEnded, CallProposed, CallStarted
from hermes_acp.core.flow_labels import Exposure
from hermes_acp.core.messages import ToolCall
from hermes_acp.core.ports.gate_ports import AnswerAwaited
from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.proposals import Confinement, Proposal, Reads, Result
from hermes_acp.core.untrusted_text import plain
from hermes_acp.policy.verdicts import Verdict
from hermes_acp.tools.toolbox import ParsedCall


class _CallResult(Struct, frozen=True):
    status: CallStatus
    result: Result
    terminal_id: str | None = None
    is_whole: bool = False
    """Whether the call ran to completion."""


class _Clearance(Struct, frozen=True):
    """The decision about a call: why it may not run, if it may not, and how its commands are confined.

    `amended` is the proposal as changed by the user.
    """

    refusal: CallNote | None = None
    confinement: Confinement = "usual"
    amended: Proposal | None = None


async def run_tool_calls(
    turn: Turn, calls: Sequence[ToolCall], *, truncated: bool
) -> tuple[CallOutcome, ...]:
    """Run a step's calls, concurrently unless they conflict; return the outcomes in the model's order.

    If the turn is suspended, calls with open questions (`turn.calls.awaiting`) and all later calls have no outcome. On
    cancellation, every open call gets its outcome first. If the answer was `truncated`, its last call does not run.
    Raises StorageError.
    """
    step_calls = _StepCalls(turn, calls, truncated=truncated)
    try:
        if len(calls) == 1:
            await step_calls.run(0)
        else:
            async with anyio.create_task_group() as tasks:
                for number in range(len(calls)):
                    tasks.start_soon(step_calls.run, number)
    except anyio.get_cancelled_exc_class():
        close_open_calls(turn)
        raise
    except BaseExceptionGroup as group:
        raise first_error(group) from None
    return tuple(outcome for _, outcome in sorted(step_calls.outcomes.items()))


async def run_inner_call(turn: Turn, call: ToolCall) -> CallOutcome:
    """Run a call made by another call; if cancelled, it gets its outcome first. Raises StorageError."""
    step_calls = _StepCalls(turn, (call,), truncated=False)
    try:
        await step_calls.run(0)
    except anyio.get_cancelled_exc_class():
        if call.id in turn.record.calls.inner:
            _end(turn, call, _CallResult("cancelled", _error(STOPPED_BEFORE_END)))
        raise
    return step_calls.outcomes[0]


def close_open_calls(turn: Turn) -> None:
    """Record a "cancelled" outcome for every call that has none after the turn was stopped."""
    for call in turn.record.calls.of_model():
        _end(turn, call, _CallResult("cancelled", _error(STOPPED_BEFORE_END)))


class _StepCalls:
    """The calls of one step while they are running."""

    def __init__(self, turn: Turn, calls: Sequence[ToolCall], *, truncated: bool) -> None:
        self.outcomes: dict[int, CallOutcome] = {}
        self._turn = turn
        self._calls = calls
        self._truncated = truncated
        self._order = CallOrder(len(calls))
        self._filter = CallFilter(turn.deps.toolbox)
        self._exposure = exposure_of(turn)
        """What the model had read when it made these calls."""

    async def run(self, number: int) -> None:
        """Run one call to its outcome when its turn comes."""
        try:
            await self._order.wait_for_turn(number)
            self.outcomes[number] = await self._run(number)
            await self._turn.ledger.drained()
        except AnswerAwaited:
            self._turn.calls.awaiting.append(self._calls[number].id)
        finally:
            self._order.place(number).end()

    async def _run(self, number: int) -> CallOutcome:
        """Run one call if the filter admits it, and record its outcome."""
        turn, call = self._turn, self._calls[number]
        admitted = self._admit(call, number)
        if isinstance(admitted, RejectedCall):
            return await self._refuse(call, admitted)
        ended = await self._carry_out(call, number, admitted)
        _end(turn, call, ended)
        if not admitted.tool.tool_metadata.is_cheap:
            await turn.ledger.settle()
        return CallOutcome(
            admitted.tool.name,
            admitted.spelled(),
            ended.status,
            f"{ended.result.text} {ended.result.advice}".rstrip(),
            is_understood=True,
            is_cheap=admitted.tool.tool_metadata.is_cheap,
        )

    def _admit(self, call: ToolCall, number: int) -> ParsedCall | RejectedCall:
        is_cut_off = self._truncated and number == len(self._calls) - 1
        try:
            return self._filter.admit(call, number, is_cut_off=is_cut_off)
        except Exception as error:
            return RejectedCall(CRASHED.format(kind=type(error).__name__))

    async def _refuse(self, call: ToolCall, refused: RejectedCall) -> CallOutcome:
        """Record the outcome of a rejected call; a duplicate gets the outcome of the call it repeats."""
        status: CallStatus = "failed"
        if refused.repeats is not None:
            await self._order.wait_for_end(refused.repeats)
            status = self.outcomes[refused.repeats].status
        _end(self._turn, call, _CallResult(status, _error(refused.why)))
        return CallOutcome(
            call.name,
            f"{call.name} {call.arguments}",
            status,
            refused.why.text,
            is_understood=refused.is_understood,
            is_repeat=refused.repeats is not None,
        )

    async def _carry_out(self, call: ToolCall, number: int, understood: ParsedCall) -> _CallResult:
        proposal = await self._propose(number, understood)
        if isinstance(proposal, _CallResult):
            return proposal
        if self._turn.calls.awaiting:
            raise AnswerAwaited
        tool, place = understood.tool, self._order.place(number)
        proposed = show_card(self._turn, call, proposal, understood.plain)
        place.is_understood.set()
        clearance = self._fault_of(tool, proposal) or await self._permit(number, tool, proposed, proposal)
        if clearance.refusal:
            return _failed(clearance.refusal)
        place.is_decided.set()
        async with self._order.seats:
            wanted = clearance.amended or proposal
            ended = await _perform(self._turn, proposed, wanted, clearance, tool)
            return await _with_additions(self._turn, call, proposed, wanted, ended)

    async def _propose(self, number: int, understood: ParsedCall) -> Proposal | _CallResult:
        """Propose a call against the state it will run in, after every conflicting earlier call has ended."""
        tool, order = understood.tool, self._order
        await order.wait_for_likely_conflicts(number, tool)
        while True:
            at_work = order.at_work(number)
            proposal = await _proposal_of(self._turn, understood)
            footprint = footprint_of(tool, proposal.effects) if isinstance(proposal, Proposal) else None
            if not await order.wait_for_conflicts(at_work, footprint):
                order.place(number).footprint = footprint or Footprint()
                return proposal

    def _fault_of(self, tool: Tool, proposal: Proposal) -> _Clearance | None:
        """Reject a proposal that has effects for which its tool declares no capability."""
        beyond = undeclared_effects(proposal.effects, tool.tool_metadata.capabilities)
        if not beyond:
            return None
        effect = type(beyond[0]).__name__
        self._turn.deps.log.note("call_beyond_capabilities", tool=tool.name, effect=effect)
        return _Clearance(BEYOND_CAPABILITIES.format(name=tool.name, effect=effect))

    async def _permit(
        self, number: int, tool: Tool, proposed: CallProposed, proposal: Proposal
    ) -> _Clearance:
        """Check a call against policy, and ask a person if policy requires it."""
        turn = self._turn
        verdict = await _judged(turn, tool, proposal, self._exposure)
        if verdict.decision != "deny" and turn.deps.stages.before_call:
            if refusal := await stage_refusal(turn, proposed, proposal):
                return _Clearance(refusal)
            verdict = await _judged(turn, tool, proposal, self._exposure)  # the mode may have changed
        if verdict.decision == "ask":
            # An answer given in the meantime may apply to this call too.
            await self._order.wait_to_ask(number)
            verdict = await _judged(turn, tool, proposal, self._exposure)
        if verdict.decision == "deny":
            return _Clearance(NOT_ALLOWED.format(why=verdict.why))
        if unknown := stale_read_reason(proposal, turn.record):
            return _Clearance(unknown)
        if verdict.decision == "allow":
            return _Clearance(confinement=verdict.confinement)
        async with turn.calls.asking:
            known = turn.grants
            clearance = await _asked(turn, proposed, proposal, verdict)
        if turn.grants != known and not clearance.refusal:
            # An "always" answer lets the call run in the sandbox, starting with this one.
            now_allowed = await _judged(turn, tool, clearance.amended or proposal, self._exposure)
            clearance = structs.replace(clearance, confinement=now_allowed.confinement)
        return clearance


def _end(turn: Turn, call: ToolCall, outcome: _CallResult) -> None:
    """Record a call's outcome; a call that was never proposed is shown first, so that it has a card."""
    if turn.record.calls.card(call.id) is None:
        kind = turn.deps.toolbox.kind_of(call)
        title = plain(call.name) or "unnamed tool"
        turn.emit(
            CallProposed(call.id, call.name, title, kind, raw_input_of(call), within=turn.origin.within)
        )
        if outcome.status == "completed":
            turn.emit(CallStarted(call.id, is_repeatable=True))  # the original call has started
    result, clean = outcome.result, partial(turn.deps.redactor.clean, source=call.arguments)
    output = None if result.output_characters is None else result.text[: result.output_characters]
    turn.emit(
        CallEnded(
            call_id=call.id,
            name=call.name,
            status=outcome.status,
            text=clean(result.text),
            parts=result.parts,
            seen=result.seen,
            diffs=result.diffs,
            locations=result.locations,
            exit_code=result.exit_code,
            signal=result.signal,
            output_characters=None if output is None else len(clean(output)),
            terminal_id=outcome.terminal_id,
            within=turn.origin.within,
            advice=result.advice,
        )
    )


async def _asked(turn: Turn, card: CallProposed, proposal: Proposal, verdict: Verdict) -> _Clearance:
    try:
        answer = await ask(turn, card, proposal, verdict)
    except StorageError:
        raise
    except HermesError as error:
        return _Clearance(note_of(error))
    if isinstance(answer, CallNote):
        return _Clearance(answer)
    return _Clearance(amended=answer)


async def _judged(turn: Turn, tool: Tool, proposal: Proposal, exposure: Exposure) -> Verdict:
    """Check a call against policy; if the check itself fails, the call is denied. Raises StorageError."""
    try:
        return await judge(turn, tool, proposal, exposure)
    except StorageError:
        raise
    except Exception as error:
        return Verdict("deny", f"the check failed ({type(error).__name__}), which is a bug in the agent")


async def _proposal_of(turn: Turn, understood: ParsedCall) -> Proposal | _CallResult:
    """Propose a call; if that fails, the failure becomes its outcome. Raises StorageError."""
    try:
        with anyio.move_on_after(turn.limits.tool_timeout_s):
            return await understood.tool.propose(understood.arguments, turn.workspace)
    except StorageError:
        raise
    except HermesError as error:
        return _failed(note_of(error))
    except Exception as error:
        return _failed(CRASHED.format(kind=type(error).__name__))
    return _failed(CALL_TIMED_OUT.format(seconds=turn.limits.tool_timeout_s, ending=ENDED))


async def _perform(
    turn: Turn, card: CallProposed, proposal: Proposal, clearance: _Clearance, tool: Tool
) -> _CallResult:
    """Carry out a call; if the user stops the call, the turn continues."""
    passed_s = turn.deps.clock.monotonic() - turn.spent.started_at_s
    if turn.limits.working_s is not None and passed_s >= turn.limits.working_s:
        return _failed(NO_TIME_LEFT)
    deadline = Deadline(turn.limits.call_s(proposal.deadline_s, passed_s))
    progress = CallProgress(turn, card.call_id, deadline, clearance.confinement)
    ends: list[Result] = []

    async def act() -> Result:
        result: Result | None = None
        with deadline.scope:
            async with progress.shown():
                result = await proposal.perform(progress)
        if result is None:
            is_turns = deadline.seconds < turn.limits.call_s(proposal.deadline_s, 0.0)
            why = TURN_TIMED_OUT if is_turns else CALL_TIMED_OUT
            result = progress.broken_off(why, proposal, seconds=deadline.seconds)
        ends.append(result)
        return result

    outcomes: list[Result] = []
    with turn.calls.running.hold(card) as running:
        turn.emit(CallStarted(card.call_id, tool.tool_metadata.is_repeatable))
        await note_call(turn, tool, proposal, card.call_id, has_network=progress.confinement == "usual")
        if not all(isinstance(effect, Reads) for effect in proposal.effects):
            await turn.ledger.settle()
        await checkpoint_before(turn, proposal.effects)
        outcomes.append(await outcome_of(act))
    if not outcomes:
        stopped = structs.replace(
            progress.broken_off(CANCELLED, proposal), output_characters=len(progress.tail)
        )
        return _CallResult(running.ends_as, stopped, progress.terminal_id)
    (result,) = outcomes
    terminal_id = progress.terminal_id if ends else None
    return _CallResult("failed" if result.is_error else "completed", result, terminal_id, is_whole=True)


async def _with_additions(
    turn: Turn, call: ToolCall, card: CallProposed, proposal: Proposal, ended: _CallResult
) -> _CallResult:
    """Let the stages that follow a call add to its result; if they are cancelled, the call keeps its outcome."""
    result = ended.result
    try:
        for stage in turn.deps.stages.after_call if ended.is_whole else ():
            result = await stage(turn, card, proposal, result)
    except anyio.get_cancelled_exc_class():
        _end(turn, call, ended)
        raise
    return structs.replace(ended, result=result)


async def outcome_of(act: Callable[[], Awaitable[Result]], crashed: CallNote = CRASHED) -> Result:
    """Run an action; convert a failure to a result with text for the model. Raises StorageError."""
    try:
        return await act()
    except (StorageError, AnswerAwaited):
        raise
    except HermesError as error:
        return _error(note_of(error))
    except Exception as error:
        return _error(crashed.format(kind=type(error).__name__))


def _failed(why: CallNote) -> _CallResult:
    return _CallResult("failed", _error(why))


def _error(note: CallNote) -> Result:
    return Result(note.text, is_error=True, advice=note.advice)
