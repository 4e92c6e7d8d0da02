"""The gateway of a home folder: its platforms, its conversations, and their agents."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import anyio
import anyio.abc
import msgspec
from anyio import to_thread
from hermes_acp_client.asking import Permission
from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.config.sections.gateway_settings import GatewaySettings
from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.frontends.gateway.conversations.agent_link import AgentCallbacks, AgentLink
from hermes_acp.frontends.gateway.conversations.asking import Asking, QuestionOwner
from hermes_acp.frontends.gateway.conversations.conversation import Conversation
from hermes_acp.frontends.gateway.conversations.gateway_parts import (
    ConversationPlace,
    GatewayParts,
    GatewayStores,
    StoredMessage,
)
from hermes_acp.frontends.gateway.conversations.question_book import QuestionBook
from hermes_acp.frontends.gateway.conversations.reception import Reception
from hermes_acp.frontends.gateway.conversations.room_rules import RoomRules
from hermes_acp.frontends.gateway.conversations.run_notices import Recipients, RunNotices, RunQuestion
from hermes_acp.frontends.gateway.delivery.message_sender import MessageSender, SenderHooks, SenderQueue
from hermes_acp.frontends.gateway.platform_runner import FactCursor, PlatformRunner, RunnerReports
from hermes_acp.frontends.gateway.port.platform_port import (
    Incoming,
    Limits,
    Platform,
    PlatformContext,
    PlatformPlugin,
    Receive,
)
from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
from hermes_acp.storage.gateway.inbox import Inbox, InboxEntry
from hermes_acp.storage.gateway.outbox import Outbox
from hermes_acp.storage.gateway.outgoing_files import OutgoingFiles
from hermes_acp.storage.gateway.people import People, Person
from hermes_acp.telemetry.redaction import Redactor
from hermes_protocol import v1

ASKED: Final = "ask:"
"""The ID prefix of messages that show questions; these are dropped after a restart, because the agent asks again."""


class ConfiguredPlatform(Struct, frozen=True):
    """A configured platform; its secrets are stored by name."""

    name: str
    plugin: PlatformPlugin
    settings: Any
    secrets: Mapping[str, str]


class Gateway:
    """All platforms and conversations of one home folder."""

    def __init__(
        self,
        environment: Environment,
        settings: GatewaySettings,
        platforms: Sequence[ConfiguredPlatform],
        redactor: Redactor,
        clock: Clock,
        reports: RunnerReports,
    ) -> None:
        """Prepare without connecting."""
        database = GatewayDatabase(environment.home)
        files = OutgoingFiles(environment.home, database)
        self.stores = GatewayStores(database, People(database), Inbox(database), Outbox(database), files)
        self._environment = environment
        self._clock = clock
        self._limits: dict[str, Limits] = {each.name: each.plugin.limits for each in platforms}
        self._links: dict[str, AgentLink] = {}
        self._conversations: dict[str, Conversation] = {}
        self._tasks: anyio.abc.TaskGroup | None = None
        self.questions = QuestionBook(clock.now)
        self._rules = RoomRules(environment, settings, self.stores, self._limits.__getitem__)
        parts = GatewayParts(
            settings,
            self.stores,
            clock,
            redactor,
            self.questions,
            self._link,
            self._limits,
            self._connected,
            self._wake,
            reports.report,
        )
        self._parts = parts
        self._asking = Asking(
            parts, self._owner, self._approvers, self._rules.direct_places, self._rules.key_of
        )
        recipients = Recipients(parts, environment.profile, self._rules.direct_places, self._rules.key_of)
        self._notices = RunNotices(parts, environment.profile, recipients)
        self._reception = Reception(parts, self._rules, self._conversation, environment.profile)
        self.runners = {each.name: self._runner(each, database, reports) for each in platforms}

    async def run(self) -> None:
        """Run until cancelled. Raises StorageError."""
        try:
            await to_thread.run_sync(self.stores.outbox.erase, self._clock.now())
            await to_thread.run_sync(self.stores.outbox.withdraw, ASKED, self._clock.now())
            waiting = await to_thread.run_sync(self.stores.inbox.waiting)
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                for entry in waiting:
                    await self._resume(entry)
                for runner in self.runners.values():
                    tasks.start_soon(runner.run)
                tasks.start_soon(self._notices.run)
        finally:
            self._tasks = None
            with suppress(StorageError):  # the next start tries again
                self.stores.outbox.erase(self._clock.now())
            self.stores.database.close()

    async def receive(self, platform: str, incoming: Incoming) -> None:
        """Handle an event from a platform. Raises StorageError."""
        await self._reception.receive(platform, incoming)

    def _runner(
        self, configured: ConfiguredPlatform, database: GatewayDatabase, reports: RunnerReports
    ) -> PlatformRunner:
        name, plugin = configured.name, configured.plugin
        runner = PlatformRunner(
            name,
            plugin,
            PlatformContext(
                configured.settings,
                configured.secrets,
                self._receiver(name),
                FactCursor(database, name),
                frozenset(room.id for room in self._parts.settings.rooms if room.platform == name),
            ),
            database,
            reports,
            self._clock,
        )
        hooks = SenderHooks(
            self._asking.choices, self.questions.delivered, lambda error: reports.report(error, name)
        )
        queue = SenderQueue(self.stores.outbox, self.stores.files)
        runner.sender = MessageSender(name, plugin.limits, queue, self._clock, hooks)
        return runner

    def _receiver(self, platform: str) -> Receive:
        async def receive(incoming: Incoming) -> None:
            await self._reception.receive(platform, incoming)

        return receive

    async def _resume(self, entry: InboxEntry) -> None:
        """Answer a message that an earlier process left unanswered, unless its sender is no longer admitted."""
        message = msgspec.json.decode(entry.message, type=StoredMessage)
        everybody = await to_thread.run_sync(self.stores.people.all)
        person = next((each for each, _ in everybody if each.name == message.person), None)
        where = None
        if person is not None and entry.platform in self._limits:
            where = await self._rules.place_of(entry.platform, message.place, person)
        if where is None:
            await to_thread.run_sync(self.stores.inbox.finish, entry.number, ())
        else:
            self._conversation(where).put(entry)

    def _conversation(self, where: ConversationPlace) -> Conversation:
        """Return the conversation in a place, creating it if necessary."""
        conversation = self._conversations.get(where.key)
        if conversation is None or conversation.where.profile != where.profile:
            conversation = self._conversations[where.key] = Conversation(where, self._parts)
            assert self._tasks is not None, "the gateway runs"
            self._tasks.start_soon(conversation.run)
        return conversation

    def _link(self, profile: str) -> AgentLink:
        """Return the agent for a profile, which starts on first use."""
        link = self._links.get(profile)
        if link is None:
            callbacks = AgentCallbacks(self._permission, self._elicitation)
            link = self._links[profile] = AgentLink(self._environment, profile, callbacks)
            assert self._tasks is not None, "the gateway runs"
            self._tasks.start_soon(link.run)
        return link

    async def _permission(self, request: v1.RequestPermissionRequest) -> Permission:
        try:
            return await self._asking.permission(request)
        finally:
            self._notices.ended(request.session_id)

    async def _elicitation(self, request: v1.CreateElicitationRequest) -> v1.CreateElicitationResponse:
        try:
            return await self._asking.elicitation(request)
        finally:
            if isinstance(request, v1.CreateElicitationRequestForm) and isinstance(request.session_id, str):
                self._notices.ended(request.session_id)

    def _owner(self, session_id: str) -> QuestionOwner | None:
        owners = (link.owner(session_id) for link in self._links.values())
        return next((each for each in owners if isinstance(each, Conversation | RunQuestion)), None)

    async def _approvers(self) -> Sequence[Person]:
        everybody = await to_thread.run_sync(self.stores.people.all)
        return [person for person, _ in everybody if person.is_approver]

    def _connected(self, name: str) -> Platform | None:
        runner = self.runners.get(name)
        return runner.platform if runner else None

    def _wake(self, name: str) -> None:
        runner = self.runners.get(name)
        if runner and runner.sender:
            runner.sender.wake()
