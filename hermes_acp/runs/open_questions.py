"""The open questions of a suspended run, read from its session's record, in the form in which people see them."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.event_types import CallEffect, PermissionAnswer
from hermes_acp.core.events import CallProposed, Event, PermissionAsked

ASK_USER = "ask_user"


class AgentQuestion(Struct, frozen=True):
    """A question from the agent itself, with its suggested answers."""

    question: str
    choices: tuple[str, ...] | None = None
    url: str | None = None


class OpenQuestion(Struct, frozen=True):
    """A call with the question about it: why approval is needed and what the call would do.

    With `is_for_text`, the agent itself asks, and expects text instead of permission.
    """

    card: CallProposed
    why: str = ""
    effects: tuple[CallEffect, ...] = ()

    @property
    def is_for_text(self) -> bool:
        """Whether the agent expects text."""
        return self.card.name == ASK_USER

    @property
    def asks(self) -> AgentQuestion:
        """The agent's own question."""
        try:
            return msgspec.convert(self.card.raw_input, AgentQuestion)
        except msgspec.ValidationError:
            return AgentQuestion(self.card.title)


def questions_about(events: Iterable[Event], call_ids: Sequence[str]) -> tuple[OpenQuestion, ...]:
    """Return the questions about these calls, in the form in which they were last asked."""
    found: dict[str, OpenQuestion] = {}
    for event in events:
        match event:
            case CallProposed() if event.call_id in call_ids:
                found[event.call_id] = OpenQuestion(event)
            case PermissionAsked() if event.call_id in found:
                question = found[event.call_id]
                found[event.call_id] = structs.replace(question, why=event.why, effects=event.effects)
            case _:
                pass
    return tuple(found[call_id] for call_id in call_ids if call_id in found)


def answer_from_text(
    questions: Sequence[OpenQuestion], words: str, comment: str = ""
) -> tuple[PermissionAnswer, str]:
    """Convert text to an answer: allow, deny or, for any other text, what to do instead.

    If the agent itself asks, the text is the answer.
    """
    wants_text = bool(questions) and questions[0].is_for_text
    if wants_text:
        return "allow_once", words
    if words in ("allow", "yes", "y"):
        return "allow_once", comment
    if words in ("deny", "no", "n"):
        return "reject_once", comment
    return "reject_once", words


def digest_of(card: CallProposed) -> str:
    """Return a digest of everything that a question shows; questions that differ in any part have different digests."""
    shown = structs.replace(card, why="", effects=())
    return sha256(msgspec.json.encode(shown, order="sorted")).hexdigest()
