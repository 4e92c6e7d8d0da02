"""What a user is offered as answers to a question of permission.

Knows: the answers, their names, which ones last. Does not know: how a question travels.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.events import CallProposed
from hermes_acp.core.exchanges import Answer

Kind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
ANSWERS: Final[Mapping[str, Answer]] = MappingProxyType(
    {
        "allow_once": "allow_once",
        "allow_always": "allow_always",
        "reject_once": "reject_once",
        "reject_always": "reject_always",
    }
)


WHAT_LASTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "execute": "this command",
        "edit": "changes to this file",
        "delete": "changes to this file",
        "move": "changes to this file",
    }
)


class Offer(Struct, frozen=True):
    """One answer; its kind is its id too."""

    kind: Kind
    name: str


def offers_for(call: CallProposed, *, can_last: bool) -> tuple[Offer, ...]:
    """List the answers to the question about a call; lasting ones only where they can be remembered."""
    allow, reject = Offer("allow_once", "Allow once"), Offer("reject_once", "Reject")
    if not can_last:
        return (allow, reject)
    what = WHAT_LASTS.get(call.kind, "this tool")
    always = Offer("allow_always", f"Allow {what} for the whole session")
    never = Offer("reject_always", f"Reject {what} for the whole session")
    return (allow, always, reject, never)
