"""Describe the outcomes of a call's child agents for the agent that delegated to them."""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct, structs

from hermes_acp.core.events import ChildChanged, TurnEnded

CUT_SHORT: Final = (
    "The process ended while this call was running. The results of its child agents up to then:"
)
UNLISTED: Final = "A task that is not listed here was not started."
IN_DOUBT: Final = (
    "[The child agent did not finish: the process ended. What it was doing may have taken effect, fully or in part: "
    "check the current state before doing it again.]"
)
UNREADABLE: Final = "[The child agent ended, but its answer can no longer be read.]"


class ChildOutcome(Struct, frozen=True):
    """A child's answer so far, and how it ended, or None if its process was killed."""

    answer: str
    ended: TurnEnded | None = None


def format_answers(answers: Iterable[tuple[str, str]]) -> str:
    """List the answers, each under its task's title."""
    return "\n\n".join(
        f"## {number}. {title}\n{answer or '(no answer)'}"
        for number, (title, answer) in enumerate(answers, 1)
    )


def describe_interrupted_call(children: Iterable[ChildChanged], accounts: Mapping[str, ChildOutcome]) -> str:
    """Describe the outcome of a call whose process ended: the answers received, and what is uncertain."""
    answers = [(child.title, _standing(child, accounts.get(child.child_id))) for child in children]
    return f"{CUT_SHORT}\n\n{format_answers(answers)}\n\n{UNLISTED}"


def resolve_child_end(child: ChildChanged, account: ChildOutcome | None, otherwise: str) -> ChildChanged:
    """Return the end of a child of which only the start was recorded; `otherwise` is used if nothing is known."""
    if account and (ended := account.ended):
        return structs.replace(child, reason=ended.reason, sentence=ended.sentence, cost_usd=ended.cost_usd)
    return structs.replace(child, reason="cancelled", sentence=otherwise)


def _standing(child: ChildChanged, account: ChildOutcome | None) -> str:
    if account and account.ended:
        return account.answer
    if account is None and child.reason:
        return UNREADABLE
    said = account.answer if account else ""
    return f"{said}\n{IN_DOUBT}" if said else IN_DOUBT
