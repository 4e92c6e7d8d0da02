"""WhatsApp and SMS through Twilio: receive messages through its webhook, and send them through its REST API.

Every webhook request must be signed with the account's token. Messages sent while the gateway was down are fetched from
Twilio's list of messages. Twilio fetches outgoing files from a URL below the webhook's.
Source: Twilio's "Messages resource", "Messaging webhook requests", "Validate signatures of requests", "Accepted
content types for media".
"""

import html
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from importlib import import_module
from secrets import token_urlsafe
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote, urlsplit, urlunsplit

import anyio
from msgspec import Struct

from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.file_download import download, origin
from hermes_acp.frontends.gateway.formatting import WHATSAPP, to_markup
from hermes_acp.frontends.gateway.port.platform_port import (
    Attachment,
    IncomingMessage,
    Limits,
    OutgoingFile,
    OutgoingMessage,
    Place,
    Platform,
    PlatformContext,
    PlatformError,
)

WHATSAPP_PREFIX: Final = "whatsapp:"
SIGNATURE: Final = "X-Twilio-Signature"
VERSION: Final = "2010-04-01"
ACCEPTED: Final = "<Response/>"
MAX_REQUEST_BYTES: Final = 256 * 1024
TIMEOUT_S: Final = 30.0
RETRY_AFTER_S: Final = 1.0
MARGIN: Final = timedelta(minutes=5)
"""The list of messages starts this long before the last one, because Twilio dates messages by their arrival."""
MAX_MISSED: Final = 200
MAX_MEDIA: Final = 10
MEDIA_HOSTS: Final = ("twiliocdn.com", "s3-external-1.amazonaws.com")
MAX_FILE_BYTES: Final = 5_000_000
"""The size limit of an MMS."""
SENT: Final = frozenset({"sent", "delivered", "read", "partially_delivered"})
NOT_SENT: Final = frozenset({"failed", "undelivered", "canceled"})
FILE_HEADERS: Final = MappingProxyType(
    {
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }
)
LIMITS: Final = Limits(
    1_600,
    "utf16",
    can_edit=False,
    burst=10,
    send_gap_s=1.0,
    ids_are_personal=True,
    max_file_bytes=MAX_FILE_BYTES,
)


class SendingTimes(Struct, frozen=True):
    """The time for which Twilio can fetch an outgoing file, and the interval for checking whether it was sent."""

    file_wait_s: float = 30.0
    status_interval_s: float = 1.0


class _SharedFile(Struct):
    """A file that can be fetched from a secret URL while it is being sent."""

    file: OutgoingFile
    is_fetched: bool = False


class TwilioPlatform:
    """A connected Twilio account with its numbers."""

    def __init__(self, context: PlatformContext, client: Any, validator: Any, times: SendingTimes) -> None:
        self._context = context
        self._settings = context.settings
        self._client = client
        self._validator = validator
        self._times = times
        self._failed = anyio.Event()
        self._failure: Exception | None = None
        self._shared: dict[str, _SharedFile] = {}

    async def begin(self) -> None:
        """Receive the messages since the stored position; without one, start with new messages."""
        if since := await self._context.cursor.load():
            found: list[Any] = []
            after = datetime.fromisoformat(since) - MARGIN
            try:
                for number in self._numbers:
                    found += await self._client.messages.list_async(
                        to=number, date_sent_after=after, limit=MAX_MISSED
                    )
                found.reverse()  # each list starts with the newest message
                for message in sorted(found, key=lambda each: each.date_sent or after):
                    if message.direction == "inbound":
                        await self._receive_listed(message)
            except self._errors as error:
                raise _found(error) from None
        await self._save()

    async def answer(self, request: Any) -> Any:
        """Answer a webhook request; a message must be signed, and is accepted once it is stored."""
        web = import_module("aiohttp.web")
        said = {key: str(value) for key, value in (await request.post()).items()}
        signature = request.headers.get(SIGNATURE, "")
        if not self._validator.validate(self._settings.webhook_url, said, signature):
            return web.Response(status=403)
        try:
            await self._receive(said)
        except (
            HermesError,
            OSError,
        ) as error:  # this ends the connection, and Twilio's list still has the message
            self._failure = error
            self._failed.set()
            return web.Response(status=500)
        return web.Response(text=ACCEPTED, content_type="text/xml")

    async def run(self) -> None:
        """Wait until storing a message fails."""
        await self._failed.wait()
        assert self._failure is not None
        raise self._failure

    async def give(self, request: Any) -> Any:
        """Answer a request for a file that is being sent."""
        web = import_module("aiohttp.web")
        words = request.path.split("/")
        shared = self._shared.get(words[-2]) if len(words) > 1 else None
        if shared is None:
            return web.Response(status=404)
        shared.is_fetched = shared.is_fetched or request.method == "GET"
        headers = {**FILE_HEADERS, "Content-Type": shared.file.mime_type}
        return web.Response(body=shared.file.content, headers=headers)

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        """Send a message from our number of the same kind."""
        is_whatsapp = place.room.startswith(WHATSAPP_PREFIX)
        return await self._create(place, body=_styled(message.text) if is_whatsapp else message.text)

    async def send_file(self, place: Place, file: OutgoingFile) -> str:
        """Send a file; wait until Twilio has fetched it and passed it on."""
        secret, shared = token_urlsafe(32), _SharedFile(file)
        self._shared[secret] = shared
        try:
            base = urlsplit(str(self._settings.webhook_url))
            name = quote(file.name.replace("/", "_"), safe="")
            address = urlunsplit(
                (base.scheme, base.netloc, f"{base.path.rstrip('/')}/{secret}/{name}", "", "")
            )
            message_id = await self._create(place, body=file.name, media_url=[address])
            with anyio.move_on_after(self._times.file_wait_s):
                await self._passed_on(message_id)
            if not shared.is_fetched:
                raise PlatformError(messages.TWILIO_NOT_FETCHED, is_permanent=True)
            return message_id
        finally:
            del self._shared[secret]

    async def _passed_on(self, message_id: str) -> None:
        """Wait until Twilio has passed on a message. Raises PlatformError if it could not."""
        while True:
            await anyio.sleep(self._times.status_interval_s)
            with suppress(*self._errors):
                found = await self._client.messages(message_id).fetch_async()
                if found.status in SENT:
                    return
                if found.status in NOT_SENT:
                    raise PlatformError(messages.twilio_refused(found.error_code), is_permanent=True)

    async def _create(self, place: Place, **content: Any) -> str:
        """Send a message from our number of the same kind; return its ID. Raises PlatformError."""
        is_whatsapp = place.room.startswith(WHATSAPP_PREFIX)
        number = self._settings.whatsapp if is_whatsapp else self._settings.sms
        if not number:
            raise PlatformError(messages.NO_NUMBER, is_permanent=True)
        sender = f"{WHATSAPP_PREFIX}{number}" if is_whatsapp else number
        try:
            sent = await self._client.messages.create_async(to=place.room, from_=sender, **content)
        except self._errors as error:
            raise _found(error) from None
        return str(sent.sid)

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        """Raise PlatformError, because sent messages cannot be edited."""
        raise PlatformError(messages.NO_EDITS, is_permanent=True)

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        """Download a file. Only Twilio gets the token; the host to which it redirects does not."""
        aiohttp: Any = import_module("aiohttp")
        own = origin(self._settings.api)
        address = attachment.reference
        if origin(address) != own:
            raise PlatformError(messages.NOT_READABLE, is_permanent=True)
        account = f"{self._settings.account}:{self._context.secrets['token']}"
        headers = {"Authorization": f"Basic {b64encode(account.encode()).decode()}"}
        try:
            async with aiohttp.ClientSession() as http:
                async with http.get(address, headers=headers, allow_redirects=False) as answer:
                    if answer.status not in (302, 303, 307, 308):
                        raise PlatformError(f"HTTP {answer.status}", is_permanent=answer.status < 500)
                    there = answer.headers.get("Location", "")
                return await download(http, there, (*MEDIA_HOSTS, own), max_bytes)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise PlatformError(type(error).__name__) from None

    @property
    def _numbers(self) -> list[str]:
        """Our numbers in Twilio's format."""
        settings = self._settings
        whatsapp = [f"{WHATSAPP_PREFIX}{settings.whatsapp}"] if settings.whatsapp else []
        return [*whatsapp, *([settings.sms] if settings.sms else [])]

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        base = import_module("twilio.base.exceptions").TwilioException
        return (base, import_module("aiohttp").ClientError, TimeoutError)

    async def _receive(self, said: dict[str, str]) -> None:
        """Store a message from the webhook."""
        if said.get("AccountSid") != self._settings.account or said.get("To") not in self._numbers:
            return
        number = said.get("NumMedia", "0")
        files = tuple(
            _file(said.get(f"MediaUrl{index}", ""), said.get(f"MediaContentType{index}", ""))
            for index in range(min(int(number) if number.isdigit() else 0, MAX_MEDIA))
        )
        await self._pass_on(said.get("MessageSid", ""), said.get("From", ""), said.get("Body", ""), files)

    async def _receive_listed(self, message: Any) -> None:
        """Store a message from Twilio's list."""
        files: tuple[Attachment, ...] = ()
        if int(message.num_media or 0):
            base = f"{self._settings.api}/{VERSION}/Accounts/{self._settings.account}/Messages/{message.sid}"
            listed = await message.media.list_async(limit=MAX_MEDIA)
            files = tuple(_file(f"{base}/Media/{each.sid}", each.content_type) for each in listed)
        await self._pass_on(message.sid, message.from_, message.body or "", files)

    async def _pass_on(self, message_id: str, sender: str, text: str, files: tuple[Attachment, ...]) -> None:
        if not message_id or not sender:
            return
        place = Place(sender, is_direct=True)
        await self._context.receive(
            IncomingMessage(message_id, place, sender, text, is_addressed=True, attachments=files)
        )
        await self._save()

    async def _save(self) -> None:
        await self._context.cursor.save(datetime.now(UTC).isoformat(timespec="seconds"))


class TwilioPlugin:
    """Connects numbers of accounts."""

    limits = LIMITS
    secrets = ("token",)
    package = "twilio"

    def __init__(self, times: SendingTimes | None = None) -> None:
        self._times = times or SendingTimes()

    @asynccontextmanager
    async def connect(self, context: PlatformContext) -> AsyncGenerator[Platform]:
        """Listen at the address of the webhook."""
        rest: Any = import_module("twilio.rest")
        requests: Any = import_module("twilio.http.async_http_client")
        validation: Any = import_module("twilio.request_validator")
        web: Any = import_module("aiohttp.web")
        settings, token = context.settings, context.secrets["token"]
        host, _, port = settings.listen.rpartition(":")
        async with requests.AsyncTwilioHttpClient(timeout=TIMEOUT_S) as http:
            client = rest.Client(settings.account, token, http_client=http)
            client.api.base_url = settings.api
            platform = TwilioPlatform(context, client, validation.RequestValidator(token), self._times)
            app = web.Application(client_max_size=MAX_REQUEST_BYTES)
            app.router.add_post("/{path:.*}", platform.answer)
            app.router.add_get("/{path:.*}", platform.give)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
            await runner.setup()
            try:
                await web.TCPSite(runner, host, int(port)).start()
                await platform.begin()
                yield platform
            finally:
                with anyio.CancelScope(shield=True):
                    await runner.cleanup()


def _file(address: str, mime_type: str) -> Attachment:
    kind = mime_type or "application/octet-stream"
    return Attachment(address, f"file.{kind.rpartition('/')[2][:20]}", kind)


def _styled(text: str) -> str:
    """Format a text in WhatsApp's markup, or as plain text if it would be too long."""
    styled = html.unescape(to_markup(text, WHATSAPP))
    return styled if styled.strip() and len(styled.encode("utf-16-le")) // 2 <= LIMITS.max_length else text


def _found(error: Any) -> PlatformError:
    """Convert an exception of the library to a PlatformError."""
    status = int(getattr(error, "status", 0) or 0)
    if not status:
        is_sent = type(error).__name__ != "ClientConnectorError"
        return PlatformError(type(error).__name__, may_have_arrived=is_sent)
    reason = f"HTTP {status} {getattr(error, 'code', '') or ''}".strip()
    if status == 429:
        return PlatformError(reason, retry_after_s=RETRY_AFTER_S)
    return PlatformError(reason, is_permanent=status < 500, may_have_arrived=status >= 500)


PLATFORM = TwilioPlugin()
