"""Manage the open questions of all conversations: who may answer, with which code, and until when.

A question belongs to a session, a call, the messages that show it and the people who may answer. Button presses and
typed answers follow the same rules, and no answer means no. Nothing here survives the process. After a restart, the
agent asks again with another code.
"""

import hmac
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import anyio
from msgspec import Struct, field

from hermes_acp.storage.gateway.people import ALPHABET, Person

CODE_CHARACTERS: Final = 5
MAX_WRONG_CODES: Final = 5
"""The number of wrong codes after which a person can no longer answer a question."""
CLOSED_S: Final = 3_600.0
"""The time for which the code of a closed question is still recognised."""
Consent = Literal["asker_and_approver", "approver", "asker"]
Outcome = Literal["answered", "noted", "unknown", "not_allowed", "expired"]


class Verdict(Struct, frozen=True):
    """The result of an attempt to answer. `noted` means that another person must agree, too."""

    outcome: Outcome
    question: "OpenQuestion | None" = None
    option_id: str = ""
    missing: tuple[str, ...] = ()


class AskedOption(Struct, frozen=True):
    """A possible answer: the word to type, its label, and whether it grants permission."""

    option_id: str
    word: str
    label: str
    is_yes: bool


class AnswerRule(Struct, frozen=True):
    """The people who must agree to what a question asks, and the deadline."""

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
    """The accepted answer: the person, the option, and the text that they wrote."""

    by: str
    option_id: str
    text: str = ""


class OpenQuestion(Struct, eq=False):
    """An unanswered question.

    `posted` maps the IDs of our messages that show the question to their conversations; `shown` maps them to the
    platform's IDs. `agreed` has the options of the people who agreed; `wrong` counts each person's wrong codes.
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
        """Return the payload of an option's button."""
        return f"{self.id}.{self.code}.{option.word}"


class ClosedQuestion(Struct, frozen=True):
    """A closed question: its code, the conversations that showed it, and when it was closed."""

    code: str
    conversations: frozenset[str]
    closed_at: float


class QuestionBook:
    """All open questions, and those that were closed within the last hour."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._open: dict[str, OpenQuestion] = {}
        self._closed: deque[ClosedQuestion] = deque()

    def open(
        self, session_id: str, call_id: str, options: Sequence[AskedOption], rule: AnswerRule
    ) -> OpenQuestion:
        """Open a question with a new code."""
        code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_CHARACTERS))
        question = OpenQuestion(secrets.token_hex(6), session_id, call_id, code, tuple(options), rule)
        self._open[question.id] = question
        return question

    def rule(
        self, asker: Person, approvers: Sequence[Person], consent: Consent, timeout_s: float
    ) -> AnswerRule:
        """Return the answer rule for a question that is asked now."""
        names = frozenset(each.name for each in approvers)
        return AnswerRule(asker.name, names, consent, self._now() + timeout_s)

    def close(self, question: OpenQuestion) -> None:
        """Accept no further answers to a question."""
        question.ended.set()
        if self._open.pop(question.id, None):
            self._forget_old()
            self._closed.append(
                ClosedQuestion(question.code, frozenset(question.posted.values()), self._now())
            )

    def of_session(self, session_id: str) -> list[OpenQuestion]:
        """Return the open questions of a session."""
        return [each for each in self._open.values() if each.session_id == session_id]

    def codes_in(self, conversation: str) -> tuple[str, ...]:
        """Return the codes of the questions shown in a conversation."""
        return tuple(each.code for each in self._open.values() if conversation in each.posted.values())

    def is_closed(self, conversation: str, code: str) -> bool:
        """Return whether a code belongs to a closed question that was shown in a conversation."""
        self._forget_old()
        named = code.upper()
        return named not in self.codes_in(conversation) and any(
            each.code == named and conversation in each.conversations for each in self._closed
        )

    def _forget_old(self) -> None:
        while self._closed and self._now() - self._closed[0].closed_at > CLOSED_S:
            self._closed.popleft()

    @property
    def count(self) -> int:
        """The number of open questions."""
        return len(self._open)

    def find_posted(self, part_id: str) -> OpenQuestion | None:
        """Return the question that one of our messages shows, or None."""
        return next((each for each in self._open.values() if part_id in each.posted), None)

    def delivered(self, part_id: str, message_id: str) -> None:
        """Record the platform's ID of a message that shows a question."""
        if question := self.find_posted(part_id):
            question.shown[part_id] = message_id

    def press(self, person: Person, conversation: str, message_id: str, token: str) -> Verdict:
        """Handle a button press, which must come from a message that shows the question in this conversation."""
        question_id, _, rest = token.partition(".")
        code, _, word = rest.partition(".")
        question = self._open.get(question_id)
        if question is None:
            return Verdict("unknown")
        here = [part for part, where in question.posted.items() if where == conversation]
        if not any(question.shown.get(part, message_id) == message_id for part in here):  # or still unknown
            return Verdict("unknown")
        return self._answer(question, person, code, word)

    def typed(self, person: Person, conversation: str, word: str, code: str, text: str = "") -> Verdict:
        """Handle an answer typed in a conversation that shows the question. `text` is what follows the code."""
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
    """Return the people who still have to agree."""
    rule = question.rule
    asker = () if rule.asker in agreed else (rule.asker,)
    if rule.consent == "asker":
        return asker
    has_approver = any(name in rule.approvers for name in agreed)
    approver = () if has_approver else (tuple(sorted(rule.approvers)) or ("",))
    return approver if rule.consent == "approver" else (*asker, *approver)
