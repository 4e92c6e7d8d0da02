"""What a user is offered as answers to a question of permission.

Knows: the answers, their names, which ones last. Does not know: how a question travels.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.events import CallProposed
from hermes_acp.core.exchanges import Answer, Lasting
from hermes_acp.tools.titles import visible

OptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
ANSWERS: Final[Mapping[str, Answer]] = MappingProxyType(
    {
        "allow_once": "allow_once",
        "allow_always": "allow_always",
        "allow_workspace": "allow_workspace",
        "reject_once": "reject_once",
        "reject_always": "reject_always",
    }
)


class Offer(Struct, frozen=True):
    """One answer: its id, its name, and of which of the protocol's kinds it is."""

    id: str
    name: str
    kind: OptionKind


def offers_for(lasting: Lasting) -> tuple[Offer, ...]:
    """List the answers to a question; lasting ones only where they can be remembered, and saying for what.

    Of the two that allow for good the narrower one comes first: some clients take the first of a kind.
    """
    offers = [Offer("allow_once", "Allow once", "allow_once")]
    if lasting.session:
        offers.append(
            Offer("allow_always", f"Allow {lasting.session} for this session{lasting.manner}", "allow_always")
        )
    if lasting.workspace:
        offers.append(
            Offer(
                "allow_workspace",
                f"Always allow {lasting.workspace} in this folder{lasting.manner}",
                "allow_always",
            )
        )
    offers.append(Offer("reject_once", "Reject", "reject_once"))
    if lasting.session:
        offers.append(Offer("reject_always", f"Reject {lasting.session} for this session", "reject_always"))
    return tuple(offers)


def reason_for(call: CallProposed) -> str:
    """Return the sentence that says why a call is asked about; empty where nothing is known of that."""
    return f"Asked because {visible(call.why)}." if call.why else ""


def answer_of(option_id: str) -> Answer:
    """Give the answer behind an option; one that was never offered says nothing at all."""
    return ANSWERS.get(option_id, "unavailable")
