"""Apply the user's edits to a call before it runs, and tell the model what changed."""

import os
from collections.abc import Mapping
from typing import Final

from msgspec import structs

from hermes_acp.agent.calls.call_messages import CallNote
from hermes_acp.core.ports.gate_ports import PermissionResponse
from hermes_acp.core.proposals import Action, Progress, Proposal, Result

EDIT_NOTE: Final = "The user accepted only a part of this edit. The files now contain what they want."
CHANGED: Final = "The user changed this edit before they accepted it. The files now contain what they want."
LEFT_OUT: Final = "Left out in {path}:\n{parts}"
COMMENT: Final = "The user says: {comment}"


def apply_call_edits(proposal: Proposal, answer: PermissionResponse, place: str) -> Proposal:
    """Return the proposal with the user's edits applied; its result tells the model about them.

    Raises WorkspaceError or BadRequest.
    """
    if answer.texts and proposal.amend is not None:
        proposal = proposal.amend(answer.texts)
        told = [
            EDIT_NOTE if any(answer.left_out.values()) else CHANGED,
            *_describe_left_out(answer.left_out, place),
        ]
    else:
        told = []
    if answer.comment:
        told.append(COMMENT.format(comment=answer.comment))
    if not told:
        return proposal
    return structs.replace(proposal, perform=_with_note(proposal.perform, "\n".join(told)))


def with_comment(refusal: CallNote, answer: PermissionResponse) -> CallNote:
    """Add the user's comment to a refusal."""
    if not answer.comment:
        return refusal
    return CallNote(f"{refusal.text} {COMMENT.format(comment=answer.comment)}", refusal.advice)


def _describe_left_out(left_out: Mapping[str, tuple[str, ...]], place: str) -> list[str]:
    return [
        LEFT_OUT.format(path=os.path.relpath(path, place), parts="\n".join(parts))
        for path, parts in left_out.items()
        if parts
    ]


def _with_note(perform: Action, told: str) -> Action:
    async def perform_and_report(progress: Progress) -> Result:
        result = await perform(progress)
        return structs.replace(result, text=f"{result.text}\n{told}")

    return perform_and_report
