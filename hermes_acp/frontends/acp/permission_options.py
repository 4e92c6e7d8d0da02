"""What a user is offered as answers to a question of permission.

Knows: the answers, their names, which ones last. Does not know: how a question travels.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.tools.safe_display import escape_invisible

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
    """One answer: its id, its name, and of which of the protocol's kinds it is."""

    id: str
    name: str
    kind: OptionKind


def answer_options(permission_scope: PermissionScope) -> tuple[AnswerOption, ...]:
    """List the answers to a question; lasting ones only where they can be remembered, and saying for what.

    Of the two that allow for good the narrower one comes first: some clients take the first of a kind.
    """
    offers = [AnswerOption("allow_once", "Allow once", "allow_once")]
    if permission_scope.session:
        offers.append(
            AnswerOption(
                "allow_always",
                f"Allow {permission_scope.session} for this session{permission_scope.manner}",
                "allow_always",
            )
        )
    if permission_scope.workspace:
        offers.append(
            AnswerOption(
                "allow_workspace",
                f"Always allow {permission_scope.workspace} in this folder{permission_scope.manner}",
                "allow_always",
            )
        )
    offers.append(AnswerOption("reject_once", "Reject", "reject_once"))
    if permission_scope.session:
        offers.append(
            AnswerOption(
                "reject_always", f"Reject {permission_scope.session} for this session", "reject_always"
            )
        )
    return tuple(offers)


def reason_for(call: CallProposed) -> str:
    """Return the sentence that says why a call is asked about; empty where nothing is known of that."""
    return f"Asked because {escape_invisible(call.why)}." if call.why else ""


def answer_of(option_id: str) -> PermissionAnswer:
    """Return the answer behind an option; one that was never offered says nothing at all."""
    return ANSWERS.get(option_id, "unavailable")
