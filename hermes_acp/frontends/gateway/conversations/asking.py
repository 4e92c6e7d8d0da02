"""Show the agent's questions to people, and return their answers."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Final, Protocol

import anyio
import msgspec
from anyio import to_thread
from hermes_acp_client.asking import Permission, option_named
from msgspec import Struct

from hermes_acp.core.untrusted_text import plain
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.conversations.gateway_parts import ConversationPlace, GatewayParts
from hermes_acp.frontends.gateway.conversations.question_book import AskedOption, OpenQuestion
from hermes_acp.frontends.gateway.conversations.question_texts import (
    choices_of,
    options_of,
    question_text,
)
from hermes_acp.frontends.gateway.delivery.text_splitting import length
from hermes_acp.frontends.gateway.port.platform_port import Choice, Place
from hermes_acp.storage.gateway.outbox import OutgoingPart
from hermes_acp.storage.gateway.people import Person
from hermes_protocol import v1

ANSWER: Final = "answer"
MAX_CHOICES: Final = 9


class Target(Struct, frozen=True):
    """A place in which to show a question, and the texts to send before it."""

    platform: str
    key: str
    place: str
    remark: str = ""

    def part(self, part_id: str, text: str) -> OutgoingPart:
        """Build a message for this place."""
        return OutgoingPart(part_id, self.platform, self.key, self.place, text)


class Posted(Struct, frozen=True):
    """A message that shows a question."""

    target: Target
    part_id: str


class QuestionOwner(Protocol):
    """The conversation or the run that a question is about.

    `asker` is the person whose request is being handled, or empty for a run that reports to a room. If nobody answers
    the question of a run, it stays open in the run.
    """

    where: ConversationPlace

    @property
    def asker(self) -> str:
        """The person whose request is being handled, or an empty string."""
        ...

    async def pause(self) -> None:
        """Prepare for the next question."""
        ...


class Asking:
    """Asks the questions of all sessions."""

    def __init__(
        self,
        parts: GatewayParts,
        find: Callable[[str], QuestionOwner | None],
        approvers: Callable[[], Awaitable[Sequence[Person]]],
        direct_places: Callable[[Person], Awaitable[Sequence[tuple[str, Place]]]],
        key_of: Callable[[str, Place], str],
    ) -> None:
        """Prepare without asking anything.

        `find` returns the conversation of a session, and `direct_places` where an approver can be reached.
        """
        self._parts = parts
        self._find = find
        self._approvers = approvers
        self._direct_places = direct_places
        self._key_of = key_of

    async def permission(self, request: v1.RequestPermissionRequest) -> Permission:
        """Ask whether a call may run; if nobody answers in time, it may not."""
        refusal = Permission(option_named(request, "reject_once"))
        conversation = self._find(request.session_id)
        if conversation is None:
            return Permission(None, is_unattended=True)
        asker = await self._asker(conversation)
        if asker is None:
            return Permission(None, is_unattended=True)
        if conversation.where.is_run:
            refusal = Permission(None, is_unattended=True)
        settings, where = self._parts.settings, conversation.where
        limits = self._parts.limits[where.platform]
        shown = question_text(request, limits, self._parts.redactor.clean, settings.web_page or "")
        lasts = where.room is None and asker.is_approver
        options = options_of(request, lasts=lasts, is_whole=shown.is_whole)
        approvers = await self._approvers()
        book = self._parts.questions
        consent = settings.approval if asker.name else "approver"
        rule = book.rule(asker, approvers, consent, settings.question_timeout_s)
        question = book.open(request.session_id, request.tool_call.tool_call_id, options, rule)
        reason = shown.reason if shown.is_whole else messages.WHOLE_TEXT_TOO_LONG
        text = self._text(question, shown.title, reason)
        await self._ask(question, conversation, (asker, approvers), shown.title, (*shown.details, text))
        return Permission(question.answer.option_id) if question.answer else refusal

    async def elicitation(self, request: v1.CreateElicitationRequest) -> v1.CreateElicitationResponse:
        """Ask a question from the agent. Forms with more than a choice and a text field are not supported."""
        declined = v1.CreateElicitationResponseCancel()
        if not isinstance(request, v1.CreateElicitationRequestForm) or not isinstance(
            request.session_id, str
        ):
            return declined
        conversation = self._find(request.session_id)
        asker = await self._asker(conversation) if conversation else None
        choice_field, values, text_field = choices_of(request.requested_schema)
        if conversation is None or asker is None or not (values or text_field):
            return declined
        clean = self._parts.redactor.clean
        options = [
            AskedOption(value, str(number), plain(clean(value), 100), is_yes=True)
            for number, value in enumerate(values[:MAX_CHOICES], 1)
        ]
        takes_text = bool(text_field) and not values
        if takes_text:
            options = [AskedOption(ANSWER, ANSWER, ANSWER, is_yes=False)]
        settings = self._parts.settings
        approvers = await self._approvers()
        consent = "approver" if not asker.name else "asker" if takes_text else settings.approval
        book = self._parts.questions
        counted = () if takes_text and asker.name else approvers
        rule = book.rule(asker, counted, consent, settings.question_timeout_s)
        question = book.open(request.session_id, "", options, rule)
        title = clean(request.message)
        text = messages.free_question(title, question.code) if takes_text else self._text(question, title, "")
        await self._ask(question, conversation, (asker, approvers), title, (text,))
        answer = question.answer
        if answer is None:
            return declined
        content: dict[str, v1.ElicitationContentValue] = {choice_field: answer.option_id}
        if takes_text:
            content = {text_field: answer.text}
        return v1.CreateElicitationResponseAccept(content=content)

    async def _asker(self, conversation: QuestionOwner) -> Person | None:
        """Return the person whose request is being handled, or a nameless person for a run that reports to a room."""
        name = conversation.asker
        if not name and conversation.where.is_run and conversation.where.room is not None:
            return Person("", "user", conversation.where.profile)
        everybody = await to_thread.run_sync(self._parts.stores.people.all)
        return next((person for person, _ in everybody if person.name == name), None)

    async def _ask(
        self,
        question: OpenQuestion,
        conversation: QuestionOwner,
        people: tuple[Person, Sequence[Person]],
        title: str,
        texts: Sequence[str],
    ) -> None:
        """Show a question, wait for an answer or the timeout, and show the result."""
        posted: list[Posted] = []
        try:
            await conversation.pause()
            posted += [
                await self._post(question, target, texts)
                for target in await self._targets(question, conversation, people)
            ]
            with anyio.move_on_after(max(0.0, question.rule.expires_at - self._parts.clock.now())):
                await question.ended.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await self._show_end(question, posted, title, stays_open=conversation.where.is_run)

    async def _targets(
        self,
        question: OpenQuestion,
        conversation: QuestionOwner,
        people: tuple[Person, Sequence[Person]],
    ) -> list[Target]:
        """Return where to show a question: in the conversation, and to the approvers if nobody there can approve."""
        asker, approvers = people
        where = conversation.where
        targets = [Target(where.platform, where.key, msgspec.json.encode(where.place).decode())]
        if where.room is not None or asker.is_approver or question.rule.consent == "asker":
            return targets
        for approver in approvers:
            for platform, place in await self._direct_places(approver):
                raw = msgspec.json.encode(place).decode()
                remark = messages.asked_elsewhere(asker.name)
                targets.append(Target(platform, self._key_of(platform, place), raw, remark))
        return targets

    async def _post(self, question: OpenQuestion, target: Target, texts: Sequence[str]) -> Posted:
        """Show a question in one place; the last text is the question itself."""
        part_id = f"ask:{question.id}:{len(question.posted)}"
        limits = self._parts.limits[target.platform]
        if not limits.can_edit and length(whole := "\n\n".join(texts), limits) < limits.max_length:
            texts = (whole,)
        question.posted[part_id] = target.key
        now, outbox = self._parts.clock.now(), self._parts.stores.outbox
        for number, detail in enumerate(texts[:-1]):
            await to_thread.run_sync(outbox.put, target.part(f"{part_id}:detail:{number}", detail), now)
        text = f"{target.remark}\n{texts[-1]}".strip()
        await to_thread.run_sync(outbox.put, target.part(part_id, text), now)
        self._parts.wake(target.platform)
        return Posted(target, part_id)

    async def _show_end(
        self, question: OpenQuestion, posted: Sequence[Posted], title: str, *, stays_open: bool
    ) -> None:
        is_due = self._parts.clock.now() >= question.rule.expires_at
        has_expired = is_due and not question.ended.is_set()  # otherwise, the question was withdrawn
        self._parts.questions.close(question)
        answer = question.answer
        if answer is None:
            text = messages.closed(plain(title, 200), has_expired=has_expired, stays_open=stays_open)
        else:
            option = next(each for each in question.options if each.option_id == answer.option_id)
            text = messages.answered(plain(title, 200), option.label, answer.by)
        now = self._parts.clock.now()
        for each in posted:
            can_edit = self._parts.limits[each.target.platform].can_edit
            part_id = each.part_id if can_edit else f"{each.part_id}:end"
            await to_thread.run_sync(self._parts.stores.outbox.put, each.target.part(part_id, text), now)
            self._parts.wake(each.target.platform)

    def choices(self, part_id: str) -> tuple[Choice, ...]:
        """Return the buttons for one of our messages."""
        question = self._parts.questions.find_posted(part_id)
        if question is None:
            return ()
        return tuple(
            Choice(question.token(option), option.label)
            for option in question.options
            if option.word != ANSWER
        )

    def _text(self, question: OpenQuestion, title: str, reason: str) -> str:
        until = datetime.fromtimestamp(question.rule.expires_at, UTC).strftime("%Y-%m-%d %H:%M")
        answers = [
            messages.answer_line(option.word, question.code, option.label) for option in question.options
        ]
        return messages.question(title, reason, who=_who(question), until=until, answers=answers)


def _who(question: OpenQuestion) -> str:
    """Name the people who must agree to a question."""
    rule = question.rule
    approvers = " / ".join(sorted(rule.approvers)) or messages.NO_APPROVER
    if rule.consent == "approver":
        return approvers
    if rule.consent == "asker" or rule.asker in rule.approvers:
        return rule.asker
    return messages.who_must_agree((rule.asker, approvers))
