"""Answer the messages of a conversation one after another, in one session of the agent.

A message stays in the inbox until its complete answer is in the outbox. After an interruption, the replay of the
session shows how far the answer got.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final

import anyio
import msgspec
from anyio import to_thread
from hermes_acp_client.errors import AgentError, AgentGone, AgentRefused, NoSuchThing
from hermes_acp_client.session import Session

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.conversations.gateway_parts import (
    ConversationPlace,
    GatewayParts,
    StoredMessage,
)
from hermes_acp.frontends.gateway.conversations.message_content import content_of
from hermes_acp.frontends.gateway.conversations.sent_files import files_of
from hermes_acp.frontends.gateway.conversations.session_updates import (
    AnswerText,
    TurnState,
    read_past,
    recorded_prompt,
    turn_state,
)
from hermes_acp.frontends.gateway.delivery.answer_stream import AnswerStream
from hermes_acp.frontends.gateway.model_text import INTERRUPTED, SENDS_FILES
from hermes_acp.storage.gateway.inbox import InboxEntry, StoredConversation
from hermes_acp.storage.gateway.outbox import OutgoingPart
from hermes_protocol import v1

MAX_LOSSES: Final = 5
"""If the agent exits this many times during one turn, the message counts as failed."""

BUSY: Final = "busy"
BUSY_S: Final = 0.5
MAX_BUSY: Final = 40


class Conversation:
    """The conversation in one place, with its messages and its session."""

    def __init__(self, where: ConversationPlace, parts: GatewayParts) -> None:
        self.where = where
        self._parts = parts
        self._queue: deque[InboxEntry] = deque()
        self._news = anyio.Event()
        self._session: Session | None = None
        self._opened_by = 0
        self._mode = ""
        self._prompts: set[str] = set()
        self._opening = anyio.Lock()
        self._replay: list[v1.SessionUpdate] | None = None
        self._text: AnswerText | None = None
        self._stream: AnswerStream | None = None
        self._entry: InboxEntry | None = None
        self._asker = ""
        self._turn_ended = anyio.Event()
        self._last_state: TurnState | None = None
        self._capabilities: v1.AgentCapabilities | v1.UnsetType | None = None

    @property
    def session(self) -> Session | None:
        """The open session, or None."""
        return self._session

    @property
    def mode(self) -> str:
        """The mode of the open session, or an empty string."""
        return self._mode

    @property
    def asker(self) -> str:
        """The person whose message is being answered, or an empty string."""
        return self._asker

    @property
    def is_running(self) -> bool:
        """Whether a message is being answered."""
        return self._entry is not None

    @property
    def queued(self) -> int:
        """The number of waiting messages."""
        return len(self._queue)

    def put(self, entry: InboxEntry) -> None:
        """Queue a message that is stored in the inbox."""
        self._queue.append(entry)
        self._news.set()

    def take(self, update: v1.SessionUpdate) -> None:
        """Receive an update of the session."""
        if self._replay is not None:
            self._replay.append(update)
            return
        if isinstance(update, v1.CurrentModeUpdate):
            self._mode = update.current_mode_id
        if prompt_id := recorded_prompt(update):
            self._prompts.add(prompt_id)
        if self._text is not None:
            self._text.take(update)
        state = turn_state(update)
        if state is not None and state.state != "began":
            self._last_state = state
            if state.state != "waiting":
                self._turn_ended.set()

    def stop(self) -> bool:
        """Cancel the running turn; return whether there was one."""
        if self._session is None or not self.is_running:
            return False
        self._session.cancel()
        for question in self._parts.questions.of_session(self._session.id):
            self._parts.questions.close(question)
        return True

    async def open(self) -> None:
        """Return the session; open it if necessary. Raises AgentError or StorageError."""
        async with self._opening:
            await self._open(is_replay_wanted=False)

    async def forget_session(self) -> None:
        """Let the next message start a new session. Raises StorageError."""
        self._session = None
        await to_thread.run_sync(self._parts.stores.inbox.set_conversation, self.where.key, None)

    async def pause(self) -> None:
        """End the current message of the answer, because a question follows. Raises StorageError."""
        stream, entry, stores = self._stream, self._entry, self._parts.stores
        if stream is None or entry is None or not stream.pause():
            return
        await to_thread.run_sync(stores.inbox.cut, entry.number, tuple(stream.cuts))
        await stream.store(stores.outbox, self._parts.clock.now())

    async def say(self, key: str, text: str) -> None:
        """Send a message from the gateway itself. Raises StorageError."""
        await to_thread.run_sync(self._parts.stores.outbox.put, self.part(key, text), self._parts.clock.now())
        self._parts.wake(self.where.platform)

    def part(self, key: str, text: str) -> OutgoingPart:
        """Build a message to send here."""
        place = msgspec.json.encode(self.where.place).decode()
        return OutgoingPart(key, self.where.platform, self.where.key, place, text)

    async def run(self) -> None:
        """Answer messages until cancelled. Raises StorageError."""
        while True:
            while self._queue:
                self._entry = self._queue.popleft()
                try:
                    await self._answer(self._entry)
                finally:
                    self._entry, self._asker = None, ""
            self._news = anyio.Event()
            await self._news.wait()

    async def _answer(self, entry: InboxEntry) -> None:
        """Answer a message; on return, the answer is in the outbox."""
        parts, stores = self._parts, self._parts.stores
        message = msgspec.json.decode(entry.message, type=StoredMessage)
        self._asker = message.person
        key = f"turn:{entry.number}"
        limits = parts.limits[self.where.platform]
        stream = AnswerStream(key, limits, parts.redactor.stream, self.part, entry.cuts)
        self._stream = stream

        def wake() -> None:
            parts.wake(self.where.platform)

        note = ""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(stream.run, stores.outbox, wake, parts.clock.now)
                note = await self._turn(entry, message, stream)
                tasks.cancel_scope.cancel()
        finally:
            self._stream = self._text = None
        outgoing = stream.finish()
        outgoing_files = await files_of(self, parts, stream.text, key)
        if note or not outgoing:
            outgoing.append(self.part(f"{key}:end", note or messages.NO_ANSWER))
        outgoing += [self.part(each.id, each.text) for each in outgoing_files]
        await to_thread.run_sync(stores.inbox.finish, entry.number, outgoing, parts.clock.now())
        wake()

    async def _turn(self, entry: InboxEntry, message: StoredMessage, stream: AnswerStream) -> str:
        """Let the agent answer; return a notice to send after the answer, or an empty string."""
        losses = 0
        is_prompted = entry.state == "prompted"
        before = entry.prompts_before
        while True:
            self._text = AnswerText(stream.feed)
            try:
                if is_prompted:
                    end = await self._recover(before, stream)
                    if end is not None:
                        return _note(end)
                await self.open()
                content = await content_of(message, self.where, self._parts, self._capabilities)
                if not self._prompts and self._parts.limits[self.where.platform].max_file_bytes:
                    content.append(v1.TextContent(text=SENDS_FILES))
                before, is_prompted = len(self._prompts), True
                await to_thread.run_sync(self._parts.stores.inbox.prompting, entry.number, before)
                return await self._send(content)
            except AgentGone as error:
                losses += 1
                if losses >= MAX_LOSSES:
                    return messages.failed(error.sentence)
                stream.restart()
            except AgentError as error:
                if not (isinstance(error, AgentRefused) and error.reason == BUSY) or losses >= MAX_BUSY:
                    return messages.failed(error.sentence)
                losses += 1  # the process that still has the session open is about to end
                await anyio.sleep(BUSY_S)

    async def _send(self, content: Sequence[v1.ContentBlock]) -> str:
        assert self._session is not None
        answer = await self._session.send(content)
        return messages.CANCELLED if answer.stop_reason == "cancelled" else ""

    async def _recover(self, before: int, stream: AnswerStream) -> TurnState | None:
        """Follow a turn that an earlier process started; return how it ended, or None if there was no such turn."""
        self._turn_ended, self._last_state = anyio.Event(), None
        async with self._opening:
            replay = await self._open(is_replay_wanted=True)
        assert self._text is not None
        past = read_past(replay, before, self._text)
        if not past.is_recorded:
            return None
        state = past.end
        if state is not None and state.state == "ended":
            return state
        if state is not None and state.state == "cut_off":
            note = await self._send([v1.TextContent(text=INTERRUPTED)])
            return TurnState("ended", "cancelled" if note else "end_turn")
        await self._turn_ended.wait()
        assert self._last_state is not None
        return self._last_state

    async def _open(self, *, is_replay_wanted: bool) -> list[v1.SessionUpdate]:
        """Open the session if necessary; return its replay, if one was requested or received."""
        link = self._parts.link(self.where.profile)
        agent = await link.agent()
        if self._session is not None and self._opened_by == link.starts and not is_replay_wanted:
            return []
        self._capabilities = agent.greeting.agent_capabilities
        inbox = self._parts.stores.inbox
        stored = await to_thread.run_sync(inbox.conversation, self.where.key)
        if stored is not None and stored.profile == self.where.profile:
            self._replay = []
            link.attach(stored.session_id, self)
            try:
                self._session = await agent.load_session(stored.session_id, stored.folder)
                self._opened_by, self._mode = link.starts, _mode_of(self._session)
                replay = self._replay
                self._prompts = {each for each in map(recorded_prompt, replay) if each}
                return replay
            except NoSuchThing:
                pass  # the session was deleted, so a new one replaces it
            finally:
                self._replay = None
        session = await agent.new_session(self.where.folder)
        link.attach(session.id, self)
        if self.where.room is not None:
            await session.set_mode(self.where.room.mode)
            self._mode = self.where.room.mode
        else:
            self._mode = _mode_of(session)
        self._session, self._opened_by, self._prompts = session, link.starts, set()
        kept = StoredConversation(session.id, self.where.profile, self.where.folder)
        await to_thread.run_sync(inbox.set_conversation, self.where.key, kept)
        return []


def _mode_of(session: Session) -> str:
    return session.modes.current_mode_id if session.modes else ""


def _note(end: TurnState) -> str:
    """Return the notice about how a turn ended, or an empty string."""
    if end.reason == "cancelled":
        return messages.CANCELLED
    return messages.failed(end.text) if end.reason == "failed" else ""
