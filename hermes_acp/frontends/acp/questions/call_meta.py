"""Build the `_meta` of a call's card: its parent call, the full text to approve, and why the user is asked."""

from typing import Any

from msgspec import UNSET, UnsetType

from hermes_acp.core.event_types import WARNING_EFFECTS
from hermes_acp.core.events import CallProposed
from hermes_acp.frontends.acp.questions.permission_options import reason_for
from hermes_acp.tools.approval_text import approval_text


def call_meta(call: CallProposed, *, is_asked: bool = False) -> dict[str, Any] | UnsetType:
    """Return the `_meta` of a call's card; if the user `is_asked`, it includes the reason."""
    said: dict[str, Any] = {"within": call.within} if call.within else {}
    if (is_asked or call.kind == "execute") and (text := approval_text(call)):
        said["approvalText"] = text
    if is_asked and (reason := reason_for(call)):
        said["reason"] = reason
    if is_asked and call.effects:
        said["effects"] = [{"kind": each.kind, "targets": list(each.targets)} for each in call.effects]
        said["isWarning"] = any(each.kind in WARNING_EFFECTS for each in call.effects)
    return {"hermes": said} if said else UNSET
