"""The answers to a permission question."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.event_types import WARNING_EFFECTS, PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.frontends.acp.messages import conversation

OptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
ANSWERS: Final[Mapping[str, PermissionAnswer]] = MappingProxyType(
    {
        "allow_once": "allow_once",
        "allow_always": "allow_always",
        "allow_workspace": "allow_workspace",
        "reject_once": "reject_once",
        "reject_always": "reject_always",
    }
)


class AnswerOption(Struct, frozen=True):
    """One answer: its ID, its name, and its kind in the protocol."""

    id: str
    name: str
    kind: OptionKind


def answer_options(permission_scope: PermissionScope) -> tuple[AnswerOption, ...]:
    """List the possible answers; lasting ones name what they cover, and are offered only if they can be stored.

    The narrower of the two permanent permissions comes first, because some clients use only the first of a kind.
    """
    offers = [AnswerOption("allow_once", conversation.ALLOW_ONCE, "allow_once")]
    if permission_scope.session:
        offers.append(
            AnswerOption(
                "allow_always",
                conversation.allow_in_session(permission_scope.session, permission_scope.manner),
                "allow_always",
            )
        )
    if permission_scope.workspace:
        offers.append(
            AnswerOption(
                "allow_workspace",
                conversation.allow_in_folder(permission_scope.workspace, permission_scope.manner),
                "allow_always",
            )
        )
    offers.append(AnswerOption("reject_once", conversation.REJECT_ONCE, "reject_once"))
    if permission_scope.session:
        offers.append(
            AnswerOption(
                "reject_always", conversation.reject_in_session(permission_scope.session), "reject_always"
            )
        )
    return tuple(offers)


def reason_for(call: CallProposed) -> str:
    """Return the reason why a call needs permission, or an empty string if it is unknown."""
    warned = [
        conversation.effect_reason(effect.kind, effect.targets)
        for effect in call.effects
        if effect.kind in WARNING_EFFECTS
    ]
    reasons = [escape_invisible(reason) for reason in (*warned, call.why) if reason]
    return conversation.asked_because(reasons) if reasons else ""


def answer_of(option_id: str) -> PermissionAnswer:
    """Return the answer that an option ID stands for, or `unavailable` if the option was never offered."""
    return ANSWERS.get(option_id, "unavailable")
