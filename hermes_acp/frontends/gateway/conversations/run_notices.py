"""Deliver notices from the resident process, and ask the questions of waiting runs.

The gateway attaches to the session of a waiting run like any client, and the agent then asks it. The rules for
approvals apply to the answers. Without an answer, the run keeps waiting.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import anyio
import anyio.abc
import msgspec
from anyio import to_thread
from hermes_acp_client.errors import AgentError
from hermes_acp_client.session import Session

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.conversations.gateway_parts import ConversationPlace, GatewayParts
from hermes_acp.frontends.gateway.delivery.text_splitting import split_text
from hermes_acp.frontends.gateway.port.platform_port import Place
from hermes_acp.storage.gateway.notices import Notice, Notices
from hermes_acp.storage.gateway.outbox import OutgoingPart
from hermes_acp.storage.gateway.people import Person
from hermes_protocol import v1

POLL_S: Final = 0.5
ASKED_WITHIN_S: Final = 30.0
"""If a session asks nothing within this time after attaching, its question is no longer open."""
DETACH_TIMEOUT_S: Final = 10.0
SETTLING_S: Final = 1.0
"""The time to stay attached to a session after an answer, so that the answer arrives."""


class RunQuestion:
    """The question of a waiting run, and the place in which it is asked."""

    def __init__(self, where: ConversationPlace, asker: str) -> None:
        self.where = where
        self.asker = asker
        self.began = anyio.Event()
        self.ended = anyio.Event()
        self.open = 0

    def take(self, update: v1.SessionUpdate) -> None:
        """Ignore an update, because only the question matters here."""

    async def pause(self) -> None:
        """Record that the agent is asking."""
        self.open += 1
        self.began.set()

    def end(self) -> None:
        """Record that a question was closed."""
        self.open = max(0, self.open - 1)
        self.ended.set()

    async def wait(self) -> None:
        """Wait until the question, and any that follow immediately, are closed."""
        with anyio.move_on_after(ASKED_WITHIN_S):
            await self.began.wait()
        while self.open:
            await self.ended.wait()
            self.ended = anyio.Event()
            await anyio.sleep(SETTLING_S)


class Recipients:
    """Possible recipients of notices: configured rooms, and people who have written to the agent."""

    def __init__(
        self,
        parts: GatewayParts,
        profile: str,
        direct_places: Callable[[Person], Awaitable[Sequence[tuple[str, Place]]]],
        key_of: Callable[[str, Place], str],
    ) -> None:
        self._parts = parts
        self._profile = profile
        self._direct_places = direct_places
        self._key_of = key_of

    async def find(self, to: str) -> tuple[ConversationPlace | None, str]:
        """Return the place and the person for a recipient, or None with the reason why nothing can be sent there."""
        platform, is_room, room_id = to.partition(":")
        if not is_room:
            return await self._of_person(to)
        room = next(
            (each for each in self._parts.settings.rooms if (each.platform, each.id) == (platform, room_id)),
            None,
        )
        if room is None or platform not in self._parts.limits:
            return None, messages.no_such_room(to)
        place = Place(room_id)
        profile = room.profile or self._profile
        key = self._key_of(platform, place)
        return ConversationPlace(key, platform, place, profile, "", room, is_run=True), ""

    async def _of_person(self, name: str) -> tuple[ConversationPlace | None, str]:
        everybody = await to_thread.run_sync(self._parts.stores.people.all)
        person = next((each for each, _ in everybody if each.name == name), None)
        if person is None:
            return None, messages.unknown_person(name)
        for platform, place in await self._direct_places(person):
            if platform in self._parts.limits:
                key = self._key_of(platform, place)
                return ConversationPlace(key, platform, place, person.profile, "", is_run=True), name
        return None, messages.not_written_yet(name)


class RunNotices:
    """Delivers the notices of a home folder."""

    def __init__(self, parts: GatewayParts, profile: str, recipients: Recipients) -> None:
        self._parts = parts
        self._profile = profile
        self._recipients = recipients
        self._notices = Notices(parts.stores.database)
        self._version = -1
        self._asked: dict[str, RunQuestion] = {}
        self._turns: dict[str, anyio.Lock] = {}

    async def run(self) -> None:
        """Deliver notices until cancelled. Raises StorageError."""
        async with anyio.create_task_group() as tasks:
            for notice in await to_thread.run_sync(self._notices.asking):
                where, reason = await self._recipients.find(notice.to)
                if where:
                    tasks.start_soon(self._ask, notice, RunQuestion(where, reason))
            while True:
                for notice in await to_thread.run_sync(self._notices.new, self._parts.clock.now()):
                    await self._take(notice, tasks)
                await self._wait()

    def ended(self, session_id: str) -> None:
        """Record that a question of a session was closed."""
        if question := self._asked.get(session_id):
            question.end()

    async def _wait(self) -> None:
        """Wait until another process changes the database."""
        while True:
            version = await to_thread.run_sync(self._parts.stores.database.version)
            if version != self._version:
                self._version = version
                return
            await anyio.sleep(POLL_S)

    async def _take(self, notice: Notice, tasks: anyio.abc.TaskGroup) -> None:
        where, name_or_reason = await self._recipients.find(notice.to)
        if where is None:
            await to_thread.run_sync(self._notices.refuse, notice, name_or_reason)
            return
        text = self._parts.redactor.clean(notice.text)
        place = msgspec.json.encode(where.place).decode()
        parts = [
            OutgoingPart(f"{notice.prefix}{number}", where.platform, where.key, place, piece)
            for number, piece in enumerate(split_text(text, self._parts.limits[where.platform]))
        ]
        await to_thread.run_sync(self._notices.take, notice, parts, self._parts.clock.now())
        self._parts.wake(where.platform)
        if notice.asks:
            tasks.start_soon(self._ask, notice, RunQuestion(where, name_or_reason))

    async def _ask(self, notice: Notice, question: RunQuestion) -> None:
        """Attach to a run's session until its question is closed, after earlier recipients of the same question.

        Nothing is asked in other profiles, or if the session belongs to a conversation.
        """
        session_id = notice.session_id
        is_known = await to_thread.run_sync(self._parts.stores.inbox.is_conversation, session_id)
        if question.where.profile == self._profile and not is_known:
            async with self._turns.setdefault(session_id, anyio.Lock()):
                self._asked[session_id] = question
                try:
                    await self._attach(session_id, question)
                except AgentError as error:
                    await self._say(notice, question, messages.failed(error.sentence))
                finally:
                    del self._asked[session_id]
        await to_thread.run_sync(self._notices.end, notice)

    async def _attach(self, session_id: str, question: RunQuestion) -> None:
        link = self._parts.link(self._profile)
        agent = await link.agent()
        folder = next((each.cwd for each in await agent.list_sessions() if each.session_id == session_id), "")
        if not folder:
            return
        link.attach(session_id, question)
        session: Session | None = None
        try:
            session = await agent.load_session(session_id, folder)
            await question.wait()
        finally:
            link.release(session_id)
            if session is not None:
                with anyio.move_on_after(DETACH_TIMEOUT_S, shield=True):
                    await link.detach(session_id)

    async def _say(self, notice: Notice, question: RunQuestion, text: str) -> None:
        where = question.where
        place = msgspec.json.encode(where.place).decode()
        part = OutgoingPart(f"failed:{notice.prefix}", where.platform, where.key, place, text)
        await to_thread.run_sync(self._parts.stores.outbox.put, part, self._parts.clock.now())
        self._parts.wake(where.platform)
