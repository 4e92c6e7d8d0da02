"""The agent's questions to the program's user, as typed values: approvals and forms."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from hermes_protocol import salvage, v1
from hermes_protocol.errors import INVALID_PARAMS, PeerError


class Permission(Struct, frozen=True):
    """An answer to a permission request: the ID of the chosen option, or None for no answer.

    `is_unattended` means that no user was available to answer. `comment` is the user's comment. `edits` maps the path
    of a diff to the text that the file should have instead of the proposed one, and `rejected` describes in words what
    was left out. If a diff was sent as hunks, `changes` contains the lines to change instead: the first line, counted
    from 1, the number of lines, and the new lines. Agents that do not support these fields ignore them; see
    `agent.accepts_partial_edits`.
    """

    option_id: str | None
    comment: str = ""
    edits: dict[str, str] = {}
    rejected: dict[str, tuple[str, ...]] = {}
    is_unattended: bool = False
    changes: dict[str, tuple[tuple[int, int, tuple[str, ...]], ...]] = {}


Chosen = Permission | str | None
OnPermission = Callable[[v1.RequestPermissionRequest], Awaitable[Chosen]]
OnElicitation = Callable[[v1.CreateElicitationRequest], Awaitable[v1.CreateElicitationResponse]]


def option_named(request: v1.RequestPermissionRequest, kind: str) -> str | None:
    """Return the ID of the first option of a kind, such as `allow_once` or `reject_once`."""
    return next((option.option_id for option in request.options if option.kind == kind), None)


async def answer_permission(params: Raw, ask: OnPermission | None) -> v1.RequestPermissionResponse:
    """Pass a request to the given callable; without one, or for an option that was not offered, reject it."""
    request = _decoded(v1.RequestPermissionRequest, params)
    chosen = await ask(request) if ask else option_named(request, "reject_once")
    answer = chosen if isinstance(chosen, Permission) else Permission(chosen)
    if answer.option_id not in {option.option_id for option in request.options}:
        meta = {"hermes": {"isUnattended": True}} if answer.is_unattended else v1.UNSET
        return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled(), meta=meta)
    outcome = v1.SelectedPermissionOutcome(option_id=answer.option_id or "")
    return v1.RequestPermissionResponse(outcome=outcome, meta=_said_beside(answer))


async def answer_elicitation(params: Raw, ask: OnElicitation) -> v1.CreateElicitationResponse:
    """Pass a form or a page to the given callable and return its answer."""
    return await ask(_decoded(v1.CreateElicitationRequest, params))


def _said_beside(answer: Permission) -> dict[str, Any] | v1.UnsetType:
    said: dict[str, Any] = {"comment": answer.comment} if answer.comment else {}
    edits: list[dict[str, Any]] = [{"path": path, "newText": text} for path, text in answer.edits.items()]
    for path, changes in answer.changes.items():
        told = [{"start": start, "count": count, "lines": lines} for start, count, lines in changes]
        edits.append({"path": path, "changes": told})
    if edits:
        said["edits"] = [{**edit, "rejected": list(answer.rejected.get(edit["path"], ()))} for edit in edits]
    return {"hermes": said} if said else v1.UNSET


def _decoded(type_: Any, params: Raw) -> Any:
    try:
        return salvage.decode(type_, params)
    except msgspec.MsgspecError as error:
        raise PeerError(INVALID_PARAMS, str(error)) from error
