"""The open questions of all conversations: who may answer, with which code, until when.

A question is bound to a session, a call, the messages that show it and the people who may answer. Presses and typed
answers are checked by the same rules; silence is no. Nothing here survives the process: after a restart the agent asks
again, with another code.
"""

import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import anyio
from msgspec import Struct, field

from hermes_acp.storage.gateway.people import ALPHABET, Person

CODE_CHARACTERS: Final = 5
MAX_WRONG_CODES: Final = 5
"""After so many wrong codes for a question from one person, that person's answers to it no longer count."""
Consent = Literal["asker_and_approver", "approver", "asker"]
Outcome = Literal["answered", "noted", "unknown", "not_allowed", "expired"]


class Verdict(Struct, frozen=True):
    """What became of an attempt to answer: `noted` is a yes that needs another person's yes too."""

    outcome: Outcome
    question: "OpenQuestion | None" = None
    option_id: str = ""
    missing: tuple[str, ...] = ()


class AskedOption(Struct, frozen=True):
    """One possible answer: the word to type for it, what it says, and whether it permits something."""

    option_id: str
    word: str
    label: str
    is_yes: bool


class AnswerRule(Struct, frozen=True):
    """Whose yes a question needs, and until when."""

    asker: str
    approvers: frozenset[str]
    consent: Consent
    expires_at: float

    @property
    def allowed(self) -> frozenset[str]:
        """The people whose answer counts."""
        if self.consent == "approver":
            return self.approvers
        approvers = self.approvers if self.consent == "asker_and_approver" else frozenset[str]()
        return frozenset({self.asker}) | approvers


class QuestionAnswer(Struct, frozen=True):
    """The answer that counted: whose it is, the option, and what was written with it."""

    by: str
    option_id: str
    text: str = ""


class OpenQuestion(Struct, eq=False):
    """A question that waits for its answer.

    `posted` maps our message ids to the conversations that show it, `shown` to the platform's ids. `agreed` holds each
    person's yes, `wrong` counts wrong codes.
    """

    id: str
    session_id: str
    call_id: str
    code: str
    options: tuple[AskedOption, ...]
    rule: AnswerRule
    posted: dict[str, str] = field(default_factory=dict[str, str])
    shown: dict[str, str] = field(default_factory=dict[str, str])
    agreed: dict[str, str] = field(default_factory=dict[str, str])
    wrong: dict[str, int] = field(default_factory=dict[str, int])
    answer: QuestionAnswer | None = None
    ended: anyio.Event = field(default_factory=anyio.Event)

    def token(self, option: AskedOption) -> str:
        """Return what a press of an option's button carries."""
        return f"{self.id}.{self.code}.{option.word}"


class QuestionBook:
    """All open questions."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._open: dict[str, OpenQuestion] = {}

    def open(
        self, session_id: str, call_id: str, options: Sequence[AskedOption], rule: AnswerRule
    ) -> OpenQuestion:
        """Open a question with a code of its own."""
        code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_CHARACTERS))
        question = OpenQuestion(secrets.token_hex(6), session_id, call_id, code, tuple(options), rule)
        self._open[question.id] = question
        return question

    def rule(
        self, asker: Person, approvers: Sequence[Person], consent: Consent, timeout_s: float
    ) -> AnswerRule:
        """Return whose yes is needed, from now on for a time."""
        names = frozenset(each.name for each in approvers)
        return AnswerRule(asker.name, names, consent, self._now() + timeout_s)

    def close(self, question: OpenQuestion) -> None:
        """Take no further answers to a question."""
        question.ended.set()
        self._open.pop(question.id, None)

    def of_session(self, session_id: str) -> list[OpenQuestion]:
        """Return the open questions of a session."""
        return [each for each in self._open.values() if each.session_id == session_id]

    def codes_in(self, conversation: str) -> tuple[str, ...]:
        """Return the codes of the questions that a conversation shows."""
        return tuple(each.code for each in self._open.values() if conversation in each.posted.values())

    @property
    def count(self) -> int:
        """How many questions are open."""
        return len(self._open)

    def find_posted(self, part_id: str) -> OpenQuestion | None:
        """Return the question that one of our messages shows."""
        return next((each for each in self._open.values() if part_id in each.posted), None)

    def delivered(self, part_id: str, message_id: str) -> None:
        """Note the platform's id of a message that shows a question."""
        if question := self.find_posted(part_id):
            question.shown[part_id] = message_id

    def press(self, person: Person, conversation: str, message_id: str, token: str) -> Verdict:
        """Take a press of a button, which must be one of the very message that shows the question there."""
        question_id, _, rest = token.partition(".")
        code, _, word = rest.partition(".")
        question = self._open.get(question_id)
        if question is None:
            return Verdict("unknown")
        here = [part for part, where in question.posted.items() if where == conversation]
        if not any(question.shown.get(part, message_id) == message_id for part in here):  # or not yet known
            return Verdict("unknown")
        return self._answer(question, person, code, word)

    def typed(self, person: Person, conversation: str, word: str, code: str, text: str = "") -> Verdict:
        """Take a typed answer, in a conversation that shows the question; `text` follows the code."""
        here = [each for each in self._open.values() if conversation in each.posted.values()]
        for question in here:
            if hmac.compare_digest(question.code.encode(), code.upper().encode()):
                return self._answer(question, person, code.upper(), word, text)
        for question in here:
            question.wrong[person.name] = question.wrong.get(person.name, 0) + 1
        return Verdict("unknown")

    def _answer(
        self, question: OpenQuestion, person: Person, code: str, word: str, text: str = ""
    ) -> Verdict:
        if person.name not in question.rule.allowed or question.wrong.get(person.name, 0) >= MAX_WRONG_CODES:
            return Verdict("not_allowed", question)
        if self._now() >= question.rule.expires_at:
            return Verdict("expired", question)
        option = next((each for each in question.options if each.word == word.lower()), None)
        if option is None or not hmac.compare_digest(question.code.encode(), code.encode()):
            return Verdict("unknown", question)
        if option.is_yes:
            question.agreed[person.name] = option.option_id
            missing = _missing(question, question.agreed)
            if missing:
                return Verdict("noted", question, option.option_id, missing)
        question.answer = QuestionAnswer(person.name, option.option_id, text)
        self.close(question)
        return Verdict("answered", question, option.option_id)


def _missing(question: OpenQuestion, agreed: Mapping[str, str]) -> tuple[str, ...]:
    """Return whose yes is missing, if anybody's."""
    rule = question.rule
    asker = () if rule.asker in agreed else (rule.asker,)
    if rule.consent == "asker":
        return asker
    has_approver = any(name in rule.approvers for name in agreed)
    approver = () if has_approver else (tuple(sorted(rule.approvers)) or ("",))
    return approver if rule.consent == "approver" else (*asker, *approver)
