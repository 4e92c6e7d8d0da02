"""Microsoft Teams: receive messages through the Bot Framework's webhook, and send them through its connector.

Requests need a token that Microsoft has signed for this bot, this service and Teams. People are identified by the IDs
of their tenant and account.
Source: Bot Framework REST reference: "Authentication with the Bot Connector API", "Send and receive messages",
"Conversation basics" and "Cards and task modules" of Teams.
"""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from html import unescape
from importlib import import_module
from mimetypes import guess_type
from typing import Any, Final
from urllib.parse import quote

import anyio
import msgspec
from msgspec import Struct, field

from hermes_acp.config.sections.gateway_settings import check_address
from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.bot_tokens import BotTokens, fetch_json
from hermes_acp.frontends.gateway.file_download import download
from hermes_acp.frontends.gateway.formatting import change_outside_code
from hermes_acp.frontends.gateway.json_reading import without_nulls
from hermes_acp.frontends.gateway.port.platform_port import (
    MAX_ATTACHMENT_BYTES,
    Attachment,
    Choice,
    IncomingMessage,
    Limits,
    OutgoingFile,
    OutgoingMessage,
    Place,
    Platform,
    PlatformContext,
    PlatformError,
    Press,
)
from hermes_acp.frontends.gateway.teams_files import (
    ANSWERED,
    DOWNLOAD,
    FILE_HOSTS,
    FileOffers,
    inline_picture,
)

MAX_REQUEST_BYTES: Final = 512 * 1024
TIMEOUT_S: Final = 30.0
MAX_CONVERSATIONS: Final = 500
LIMITS: Final = Limits(
    7_000,
    "utf16",
    edit_gap_s=1.5,
    burst=5,
    send_gap_s=1.0,
    has_buttons=True,
    has_threads=True,
    max_file_bytes=MAX_ATTACHMENT_BYTES,
)
_PICTURE: Final = re.compile(r"!(?=\[)")
_NAME: Final = re.compile(r"<at>[^<]*</at>")


class _Account(Struct):
    id: str = ""
    aad_object_id: str = field(default="", name="aadObjectId")
    role: str = ""


class _Conversation(Struct):
    id: str
    type: str = field(default="", name="conversationType")
    tenant_id: str = field(default="", name="tenantId")


class _Entity(Struct):
    type: str = ""
    mentioned: _Account = field(default_factory=_Account)


class _File(Struct):
    content_type: str = field(default="", name="contentType")
    name: str = "file"
    content: dict[str, Any] | str = ""

    @property
    def address(self) -> str:
        """The temporary download address, if this is a file."""
        is_file = self.content_type == DOWNLOAD and isinstance(self.content, dict)
        return str(self.content.get("downloadUrl", "")) if is_file and isinstance(self.content, dict) else ""


class _Activity(Struct, rename="camel"):
    """An event in Teams; a button press is a message with a value."""

    type: str
    id: str
    service_url: str
    channel_id: str
    conversation: _Conversation
    sender: _Account = field(name="from")
    recipient: _Account = field(default_factory=_Account)
    text: str = ""
    reply_to_id: str = ""
    value: dict[str, Any] = {}
    entities: tuple[_Entity, ...] = ()
    attachments: tuple[_File, ...] = ()


class TeamsPlatform:
    """A connected Teams bot."""

    def __init__(self, context: PlatformContext, http: Any, file_hosts: Sequence[str]) -> None:
        self._context = context
        self._file_hosts = file_hosts
        self._settings = context.settings
        self._http = http
        self._tokens = BotTokens(context, http)
        self._services: dict[str, str] = {}
        self._offers = FileOffers(http, file_hosts)
        self._failed = anyio.Event()
        self._failure: Exception | None = None

    async def begin(self) -> None:
        """Restore the service addresses of conversations, and check the password. Raises PlatformError."""
        if stored := await self._context.cursor.load():
            self._services = msgspec.json.decode(stored, type=dict[str, str])
        await self._tokens.own()

    async def answer(self, request: Any) -> Any:
        """Answer a webhook request; it is accepted once its content is stored."""
        web = import_module("aiohttp.web")
        try:
            raw = msgspec.json.decode(await request.read())
            activity = msgspec.convert(without_nulls(raw), _Activity)
        except msgspec.DecodeError:
            return web.Response(status=400)
        try:
            if not await self._tokens.is_genuine(
                activity.channel_id, activity.service_url, request.headers.get("Authorization", "")
            ):
                return web.Response(status=403)
            await self._receive(activity)
        except ValueError:
            return web.Response(status=400)
        except PlatformError:  # Microsoft's keys cannot be fetched
            return web.Response(status=503)
        except (HermesError, OSError) as error:  # this ends the connection
            self._failure = error
            self._failed.set()
            return web.Response(status=500)
        return web.Response(status=200)

    async def run(self) -> None:
        """Wait until storing a message fails."""
        await self._failed.wait()
        assert self._failure is not None
        raise self._failure

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        """Send a message with buttons for its choices."""
        sent = {"type": "message", "textFormat": "markdown"}
        content = _card(message) if message.choices else {"text": _quiet(message.text)}
        answer = await self._connector("POST", place, "", {**sent, **content})
        return str(answer["id"])

    async def send_file(self, place: Place, file: OutgoingFile) -> str:
        """Send a small picture; offer any other file, which is possible only in a direct conversation."""
        attachment = inline_picture(file)
        if attachment is None and not place.is_direct:
            raise PlatformError(messages.TEAMS_DIRECT_ONLY, is_permanent=True)
        sent = attachment or self._offers.offer(place.room, file)
        answer = await self._connector("POST", place, "", {"type": "message", "attachments": [sent]})
        return str(answer["id"])

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        """Replace a message and its buttons."""
        changed = {"type": "message", "id": message_id, "textFormat": "markdown", "text": _quiet(text)}
        await self._connector("PUT", place, f"/{quote(message_id, safe='')}", {**changed, "attachments": []})

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        """Download a file from its address in Teams, which needs no other authentication."""
        errors: Any = import_module("aiohttp").ClientError
        try:
            return await download(self._http, attachment.reference, self._file_hosts, max_bytes)
        except (errors, TimeoutError) as error:
            raise PlatformError(type(error).__name__) from None

    async def _connector(
        self, method: str, place: Place, path: str, content: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        service = self._services.get(place.room)
        if service is None:
            raise PlatformError(messages.NO_SERVICE, is_permanent=True)
        thread = f";messageid={place.thread}" if place.thread else ""
        conversation = quote(f"{place.room}{thread}", safe="")
        address = f"{service.rstrip('/')}/v3/conversations/{conversation}/activities{path}"
        headers = {"Authorization": f"Bearer {await self._tokens.own()}"}
        return await fetch_json(self._http, method, address, json=content, headers=headers)

    async def _receive(self, activity: _Activity) -> None:
        """Store a message or a button press from a person of the tenant."""
        sender, conversation = activity.sender, activity.conversation
        is_person = bool(sender.aad_object_id) and sender.role != "bot"
        is_file_answer = activity.type == "invoke" and activity.value.get("type") == ANSWERED
        is_known = is_person and conversation.tenant_id == self._settings.tenant
        if not is_known or not (activity.type == "message" or is_file_answer):
            return
        room, _, thread = conversation.id.partition(";messageid=")
        await self._note_service(room, check_address(activity.service_url))
        place = Place(room, thread, conversation.type == "personal")
        if is_file_answer:
            await self._hand_over(place, activity.value)
            return
        person = f"{conversation.tenant_id}:{sender.aad_object_id}"
        if token := str(activity.value.get("token", "")):
            await self._context.receive(
                Press(f"{room}:{activity.id}", place, person, activity.reply_to_id, token)
            )
            return
        files = tuple(
            Attachment(each.address, each.name[:200], _kind_of(each.name))
            for each in activity.attachments
            if each.address
        )
        is_named = any(
            each.type == "mention" and each.mentioned.id == activity.recipient.id
            for each in activity.entities
        )
        text = unescape(_NAME.sub("", activity.text, count=1) if is_named else activity.text).strip()
        await self._context.receive(
            IncomingMessage(
                f"{room}:{activity.id}", place, person, text, is_addressed=is_named, attachments=files
            )
        )

    async def _hand_over(self, place: Place, value: Mapping[str, Any]) -> None:
        """Send a person the file that they accepted, or say why it cannot be sent."""
        content: Mapping[str, Any] | None
        try:
            card = await self._offers.take(place.room, value)
            content = {"attachments": [card]} if card else None
        except PlatformError as error:
            content = {"text": messages.file_not_given(error.reason)}
        if content is not None:
            with suppress(PlatformError):  # the person can ask for the file again
                await self._connector("POST", place, "", {"type": "message", **content})

    async def _note_service(self, room: str, service: str) -> None:
        if self._services.get(room) != service:
            self._services.pop(room, None)
            self._services[room] = service
            for oldest in [*self._services][:-MAX_CONVERSATIONS]:
                del self._services[oldest]
            await self._context.cursor.save(msgspec.json.encode(self._services).decode())


class TeamsPlugin:
    """Connects bots."""

    limits = LIMITS
    secrets = ("password",)
    package = "jwt"

    def __init__(self, file_hosts: Sequence[str] = FILE_HOSTS) -> None:
        self._file_hosts = file_hosts

    @asynccontextmanager
    async def connect(self, context: PlatformContext) -> AsyncGenerator[Platform]:
        """Listen at the address of the webhook."""
        aiohttp: Any = import_module("aiohttp")
        web: Any = import_module("aiohttp.web")
        host, _, port = context.settings.listen.rpartition(":")
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
        async with aiohttp.ClientSession(timeout=timeout) as http:
            platform = TeamsPlatform(context, http, self._file_hosts)
            await platform.begin()
            app = web.Application(client_max_size=MAX_REQUEST_BYTES)
            app.router.add_post("/{path:.*}", platform.answer)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
            await runner.setup()
            try:
                await web.TCPSite(runner, host, int(port)).start()
                yield platform
            finally:
                with anyio.CancelScope(shield=True):
                    await runner.cleanup()


def _quiet(text: str) -> str:
    """Disable picture links in a text, so that none is fetched."""
    return change_outside_code(text, _PICTURE, "!\u200b")


def _card(message: OutgoingMessage) -> dict[str, Any]:
    """Build a card with text and buttons."""
    body = [{"type": "TextBlock", "text": _quiet(message.text), "wrap": True}]
    card = {
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
        "actions": _actions(message.choices),
    }
    return {
        "summary": message.text[:200],
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}],
    }


def _actions(choices: Sequence[Choice]) -> list[dict[str, Any]]:
    return [
        {"type": "Action.Submit", "title": choice.label, "data": {"token": choice.token}}
        for choice in choices
    ]


def _kind_of(name: str) -> str:
    return guess_type(name)[0] or "application/octet-stream"


PLATFORM = TeamsPlugin()
