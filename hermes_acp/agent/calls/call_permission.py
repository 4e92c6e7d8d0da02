"""Decide whether a tool call may run; ask the user when policy requires it.

An unanswered question is not a refusal: the model is told that nobody decided.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import anyio
from msgspec import structs

from hermes_acp.agent.calls.call_checkpoints import expect_checkpoint
from hermes_acp.agent.calls.call_edits import apply_call_edits, with_comment
from hermes_acp.agent.calls.call_messages import (
    DISMISSED,
    REFUSED,
    REFUSED_BY_STAGE,
    UNANSWERED,
    UNAVAILABLE,
    CallNote,
)
from hermes_acp.agent.calls.flow_tracking import policy_flow_of
from hermes_acp.agent.calls.note_sources import result_with
from hermes_acp.agent.turn.policy_timeout import within_timeout
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.context.context_search import is_context_file
from hermes_acp.core.errors import StorageError
from hermes_acp.core.event_types import Grant, PermissionAnswer
from hermes_acp.core.events import CallProposed, Noticed, PermissionAnswered, PermissionAsked
from hermes_acp.core.flow_labels import Exposure
from hermes_acp.core.messages import Message, user_prompts
from hermes_acp.core.ports.gate_ports import PermissionResponse, PermissionScope
from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.proposals import Effect, Proposal, Remembers
from hermes_acp.memory.note_confidence import is_said
from hermes_acp.policy.call_effects import CallSummary
from hermes_acp.policy.grants import can_be_kept, confinement_note, describe_grants
from hermes_acp.policy.verdicts import Verdict

TOO_HARD: Final = Verdict("ask", "the check timed out, so the effects are not known")


async def judge(turn: Turn, tool: Tool, proposal: Proposal, exposure: Exposure) -> Verdict:
    """Check a call against the current policy state; a check that times out results in a question.

    `exposure` is what the model had read when it made the call.
    """
    policy, mode, grants, place = turn.deps.policy, turn.mode, turn.grants, turn.record.cwd
    folder, flow = turn.remote_folder, policy_flow_of(turn, exposure)

    effects = notes_as_said(
        proposal.effects,
        turn.record.messages,
        is_reflection=bool(turn.origin.reflects_on),
    )

    def look() -> Verdict:
        return policy.judge(effects, mode, grants, tool=tool.name, place=place, folder=folder, flow=flow)

    return await within_timeout(effects, look, TOO_HARD)


async def stage_refusal(turn: Turn, card: CallProposed, proposal: Proposal) -> CallNote | None:
    """Run the stages that precede a call; return the reason if one of them refuses it, else None."""
    for stage in turn.deps.stages.before_call:
        if why := await stage(turn, card, proposal):
            return REFUSED_BY_STAGE.format(why=why)
    return None


def notes_as_said(
    effects: Sequence[Effect], messages: Sequence[Message], *, is_reflection: bool = False
) -> tuple[Effect, ...]:
    """Prepare effects for the policy check: mark each change to notes with whether the user said it in their own words.

    During a reflection, every change to notes requires the user's approval.
    """
    return tuple(
        _note_as_said(effect, messages, is_reflection=is_reflection)
        if isinstance(effect, Remembers)
        else effect
        for effect in effects
    )


def _note_as_said(effect: Remembers, messages: Sequence[Message], *, is_reflection: bool) -> Remembers:
    is_asked = effect.is_asked or is_reflection
    if is_said(effect.note, effect.replaced, user_prompts(messages)):
        return structs.replace(effect, is_asked=is_asked)
    found_in = result_with(effect.note, messages)
    return structs.replace(effect, is_asked=is_asked, is_unsaid=True, found_in=found_in)


async def ask(turn: Turn, card: CallProposed, proposal: Proposal, verdict: Verdict) -> Proposal | CallNote:
    """Ask a person about a call; return the call with their edits, or the reason why it must not run.

    Raises WorkspaceError if their edits cannot be applied.
    """
    if turn.origin.reflects_on and proposal.unasked:
        return proposal.unasked
    why = verdict.why
    expect_checkpoint(turn, proposal.effects)
    grants = await _lasting_grants(turn, proposal)
    scope = _scope(grants, turn.record.cwd)
    question = await _question(turn, card, proposal, why)
    turn.emit(PermissionAsked(card.call_id, question.why, question.effects))
    await turn.ledger.drained()
    said: PermissionAnswer | PermissionResponse | None = None
    with anyio.move_on_after(turn.limits.question_timeout_s):
        said = await turn.gate.ask(question, permission_scope=scope)
    full = said if isinstance(said, PermissionResponse) else PermissionResponse(said or "unavailable")
    answer = full.answer if said is not None else None
    given = _given(turn, proposal, answer, grants)
    comment = turn.deps.redactor.clean(full.comment)
    contents = (
        _approved_contents(turn, proposal) if full.answer.startswith("allow") and not full.texts else ()
    )
    turn.emit(PermissionAnswered(card.call_id, answer or "unavailable", given, comment, contents, full.by))
    if answer == "allow_workspace" and scope.workspace:
        _remember(turn, given)
    match answer:
        case "allow_once" | "allow_always" | "allow_workspace":
            return apply_call_edits(proposal.approved or proposal, full, turn.record.cwd)
        case "reject_once" | "reject_always":
            return with_comment(REFUSED, full)
        case "cancelled":
            return DISMISSED
        case "unavailable" | None if proposal.unasked:
            return proposal.unasked
        case "unavailable":
            return UNAVAILABLE.format(why=why)
        case None:
            return UNANSWERED.format(why=why, seconds=turn.limits.question_timeout_s)


async def _question(turn: Turn, card: CallProposed, proposal: Proposal, why: str) -> CallProposed:
    """Return the card for a permission question: what the call would do, and why the user is asked."""
    policy, place, effects = turn.deps.policy, turn.record.cwd, proposal.effects
    summary = await within_timeout(
        effects, lambda: policy.summarize(effects, why, place), CallSummary(why=why)
    )
    return structs.replace(card, why=summary.why, effects=summary.effects)


def _scope(grants: tuple[Grant, ...], place: str) -> PermissionScope:
    """Return what an "always" answer would cover."""
    words = describe_grants(grants, place)
    return PermissionScope(words, words if can_be_kept(grants) else "", confinement_note(grants))


def _approved_contents(turn: Turn, proposal: Proposal) -> tuple[str, ...]:
    """Return the digests of context files that the call writes and the user has just approved."""
    imports = turn.deps.policy.imports(turn.record.cwd)
    written = [
        diff
        for diff in proposal.diffs
        if not diff.is_deleted and (diff.path in imports or is_context_file(diff.path))
    ]
    return tuple(sha256(diff.new_text.encode("utf-8", "surrogateescape")).hexdigest() for diff in written)


def _given(
    turn: Turn, proposal: Proposal, answer: PermissionAnswer | None, grants: tuple[Grant, ...]
) -> tuple[Grant, ...]:
    match answer:
        case "allow_always" | "allow_workspace":
            return grants
        case "reject_always":
            return turn.deps.policy.grants_for(proposal.effects, allowed=False, place=turn.record.cwd)
        case _:
            return ()


async def _lasting_grants(turn: Turn, proposal: Proposal) -> tuple[Grant, ...]:
    """Return the grants that an "always" answer would store, or none if the policy check timed out."""
    policy, place = turn.deps.policy, turn.record.cwd
    nothing: tuple[Grant, ...] = ()
    effects = proposal.effects
    return await within_timeout(
        effects, lambda: policy.grants_for(effects, allowed=True, place=place), nothing
    )


def _remember(turn: Turn, grants: tuple[Grant, ...]) -> None:
    """Store an answer for later sessions; if that fails, the answer applies only to this session."""
    try:
        turn.deps.policy.remember(turn.record.cwd, grants)
    except StorageError as error:
        turn.emit(Noticed("warning", f"Your answer applies to this session only. {error.sentence()}"))
