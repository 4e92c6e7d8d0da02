"""What all conversations share, and what is stored of a message."""

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
from hermes_acp.storage.gateway.people import People
from hermes_acp.telemetry.redaction import Redactor


class GatewayStores(Struct, frozen=True):
    """What the gateway keeps on disk."""

    database: GatewayDatabase
    people: People
    inbox: Inbox
    outbox: Outbox


class GatewayParts(Struct, frozen=True):
    """What every conversation works with."""

    settings: GatewaySettings
    stores: GatewayStores
    clock: Clock
    redactor: Redactor
    questions: QuestionBook
    link: Callable[[str], AgentLink]
    """Returns the agent of a profile."""
    limits: Mapping[str, Limits]
    connected: Callable[[str], Platform | None]
    """Returns a platform, if it is connected."""
    wake: Callable[[str], None]
    """Lets a platform look for messages to send."""


class ConversationPlace(Struct, frozen=True):
    """Where a conversation is, and by which rules it goes."""

    key: str
    platform: str
    place: Place
    profile: str
    folder: str
    room: GatewayRoomSettings | None = None


class StoredMessage(Struct, frozen=True):
    """A message for the agent, as it waits in the inbox."""

    place: Place
    person: str
    text: str
    others: tuple[tuple[str, str], ...] = ()
    attachments: tuple[Attachment, ...] = ()
