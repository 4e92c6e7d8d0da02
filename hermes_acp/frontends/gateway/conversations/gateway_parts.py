"""The dependencies that all conversations share, and the stored format of a message."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from hermes_acp.config.sections.gateway_settings import GatewayRoomSettings, GatewaySettings
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.frontends.gateway.conversations.agent_link import AgentLink
from hermes_acp.frontends.gateway.conversations.question_book import QuestionBook
from hermes_acp.frontends.gateway.port.platform_port import Attachment, Limits, Place, Platform
from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
from hermes_acp.storage.gateway.inbox import Inbox
from hermes_acp.storage.gateway.outbox import Outbox
from hermes_acp.storage.gateway.outgoing_files import OutgoingFiles
from hermes_acp.storage.gateway.people import People
from hermes_acp.telemetry.redaction import Redactor


class GatewayStores(Struct, frozen=True):
    """The gateway's stores on disk."""

    database: GatewayDatabase
    people: People
    inbox: Inbox
    outbox: Outbox
    files: OutgoingFiles


class GatewayParts(Struct, frozen=True):
    """The dependencies of every conversation."""

    settings: GatewaySettings
    stores: GatewayStores
    clock: Clock
    redactor: Redactor
    questions: QuestionBook
    link: Callable[[str], AgentLink]
    """Returns the agent for a profile."""
    limits: Mapping[str, Limits]
    connected: Callable[[str], Platform | None]
    """Returns a platform, if it is connected."""
    wake: Callable[[str], None]
    """Makes a platform's sender check the outbox."""
    report: Callable[[BaseException, str], None]
    """Reports an exception that a platform should not raise."""


class ConversationPlace(Struct, frozen=True):
    """The place of a conversation with its rules. For a run, this is the place to which it reports."""

    key: str
    platform: str
    place: Place
    profile: str
    folder: str
    room: GatewayRoomSettings | None = None
    is_run: bool = False


class StoredMessage(Struct, frozen=True):
    """A message for the agent, as stored in the inbox."""

    place: Place
    person: str
    text: str
    others: tuple[tuple[str, str], ...] = ()
    attachments: tuple[Attachment, ...] = ()
