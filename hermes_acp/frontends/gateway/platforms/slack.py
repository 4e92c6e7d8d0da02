"""Slack, through slack-sdk and Socket Mode.

We read the WebSocket ourselves, so that events stay in order. An envelope is acknowledged only after it was stored;
without an acknowledgement, Slack delivers it again. People are identified by the IDs of their workspace and account.
Source: Slack's "Using Socket Mode", "The Events API", "block_actions payloads", "Rate limits", "Formatting text".
"""

import html
import re
import ssl
from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any, Final

import msgspec
from msgspec import Struct

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.file_download import download, origin
from hermes_acp.frontends.gateway.formatting import SLACK, to_markup
from hermes_acp.frontends.gateway.json_reading import without_nulls
from hermes_acp.frontends.gateway.port.platform_port import (
    MAX_ATTACHMENT_BYTES,
    Attachment,
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

HEARTBEAT_S: Final = 15.0
TIMEOUT_S: Final = 30
RETRY_AFTER_S: Final = 5.0
MAX_SECTION: Final = 3_000
PIECE: Final = 500
"""The number of characters that fit into a section even if all of them are escaped."""
MAX_LABEL: Final = 75
FILE_HOST: Final = "slack.com"
SPOKEN: Final = frozenset({"", "file_share", "thread_broadcast"})
"""The subtypes of messages that people write."""
PASSING: Final = frozenset(
    {"ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"}
)
LIMITS: Final = Limits(
    2_900,
    "escaped",
    edit_gap_s=1.5,
    burst=5,
    send_gap_s=1.0,
    has_buttons=True,
    has_threads=True,
    max_file_bytes=MAX_ATTACHMENT_BYTES,
)
_REFERENCE: Final = re.compile(r"<([^<>|\s]+)(?:\|([^<>]*))?>")


class _File(Struct):
    id: str
    name: str = "file"
    mimetype: str = "application/octet-stream"
    size: int = 0
    url_private: str = ""


class _Message(Struct):
    """A message from the Events API. `bot_id` is set if a program wrote it."""

    channel: str
    ts: str
    user: str = ""
    text: str = ""
    subtype: str = ""
    thread_ts: str = ""
    parent_user_id: str = ""
    bot_id: str = ""
    user_team: str = ""
    team: str = ""
    files: tuple[_File, ...] = ()


class _User(Struct):
    id: str
    team_id: str = ""


class _Named(Struct):
    id: str


class _Shown(Struct):
    ts: str
    thread_ts: str = ""


class _Action(Struct):
    action_ts: str
    value: str = ""


class _Pressed(Struct):
    """A payload about pressed buttons."""

    user: _User
    channel: _Named
    message: _Shown
    actions: tuple[_Action, ...]
    team: _Named | None = None


class _Envelope(Struct):
    """An envelope from the WebSocket."""

    type: str = ""
    envelope_id: str = ""
    payload: dict[str, Any] = {}


class _Account(Struct):
    """The bot's account, from `auth.test`."""

    user_id: str
    team_id: str


class SlackPlatform:
    """A connected app in a workspace."""

    def __init__(self, context: PlatformContext, web: Any, errors: Any, http: Any) -> None:
        self._context = context
        self._web = web
        self._errors = errors
        self._http = http
        self._me = _Account("", "")

    async def begin(self) -> None:
        """Look up the bot's own account."""
        answer = await self._checked(self._web.auth_test())
        self._me = msgspec.convert(answer, _Account)

    async def run(self) -> None:
        """Receive over a WebSocket, and open a new one whenever Slack requests it."""
        aiohttp = import_module("aiohttp")
        while True:
            token = self._context.secrets["app_token"]
            opened = await self._checked(self._web.apps_connections_open(app_token=token))
            async with self._http.ws_connect(str(opened["url"]), heartbeat=HEARTBEAT_S) as socket:
                async for frame in socket:
                    if frame.type == aiohttp.WSMsgType.TEXT and not await self._take(socket, frame.data):
                        break
                else:
                    raise PlatformError(messages.CONNECTION_ENDED)

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        """Send a message with buttons for its choices."""
        asked: dict[str, Any] = {
            "channel": place.room,
            "text": _shown(message.text),
            "unfurl_links": False,
            "unfurl_media": False,
        }
        if place.thread:
            asked["thread_ts"] = place.thread
        if message.choices:
            asked["blocks"] = _blocks(message)
        return str((await self._checked(self._web.chat_postMessage(**asked)))["ts"])

    async def send_file(self, place: Place, file: OutgoingFile) -> str:
        """Upload a file and share it."""
        wanted = self._web.files_getUploadURLExternal(filename=file.name, length=len(file.content))
        opened = await self._checked(wanted)
        aiohttp = import_module("aiohttp")
        try:
            async with self._http.post(str(opened["upload_url"]), data=file.content) as answer:
                if answer.status != 200:
                    raise PlatformError(f"HTTP {answer.status}", is_permanent=answer.status < 500)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise PlatformError(type(error).__name__) from None
        file_id = str(opened["file_id"])
        shared = {"channel_id": place.room, **({"thread_ts": place.thread} if place.thread else {})}
        uploaded = [{"id": file_id, "title": file.name}]
        await self._checked(self._web.files_completeUploadExternal(files=uploaded, **shared))
        return file_id

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        """Replace a message and its buttons."""
        update = self._web.chat_update(channel=place.room, ts=message_id, text=_shown(text), blocks=[])
        await self._checked(update)

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        """Download a file, but only from Slack, because the request carries the token."""
        headers = {"Authorization": f"Bearer {self._context.secrets['token']}"}
        allowed = (FILE_HOST, origin(self._context.settings.api))
        aiohttp = import_module("aiohttp")
        try:
            return await download(self._http, attachment.reference, allowed, max_bytes, headers)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise PlatformError(type(error).__name__) from None

    async def _checked(self, request: Awaitable[Any]) -> Mapping[str, Any]:
        """Return a response of the Web API. Raises PlatformError."""
        aiohttp = import_module("aiohttp")
        try:
            return (await request).data
        except self._errors.SlackApiError as error:
            raise _refusal(error.response) from None
        except aiohttp.ClientConnectorError as error:
            raise PlatformError(messages.unreachable(str(error))) from None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise PlatformError(type(error).__name__, may_have_arrived=True) from None

    async def _take(self, socket: Any, text: str) -> bool:
        """Store the content of an envelope, then acknowledge it; return whether to keep this WebSocket."""
        envelope = msgspec.json.decode(text, type=_Envelope)
        if envelope.type == "disconnect":
            return False
        if envelope.envelope_id:
            with suppress(msgspec.ValidationError):  # neither a person's message nor a button press
                await self._receive(envelope)
            await socket.send_str(msgspec.json.encode({"envelope_id": envelope.envelope_id}).decode())
        return True

    async def _receive(self, envelope: _Envelope) -> None:
        payload = without_nulls(envelope.payload)
        if envelope.type == "events_api" and payload["event"].get("type") == "message":
            message = msgspec.convert(payload["event"], _Message)
            await self._receive_message(message, str(payload.get("team_id", "")))
        elif envelope.type == "interactive" and payload.get("type") == "block_actions":
            await self._receive_press(msgspec.convert(payload, _Pressed))

    async def _receive_message(self, message: _Message, team: str) -> None:
        me = self._me.user_id
        is_spoken = message.subtype in SPOKEN and message.user and not message.bot_id
        if not is_spoken or message.user == me:
            return
        files = tuple(
            Attachment(each.url_private, each.name[:200], each.mimetype, each.size)
            for each in message.files
            if each.url_private
        )
        name = f"<@{me}>"
        text = message.text.strip()
        await self._context.receive(
            IncomingMessage(
                f"{message.channel}:{message.ts}",
                _place(message.channel, message.ts, message.thread_ts),
                f"{message.user_team or message.team or team}:{message.user}",
                _plain(text.removeprefix(name).lstrip(" ,:") if text.startswith(name) else text),
                is_addressed=name in message.text or message.parent_user_id == me,
                attachments=files,
            )
        )

    async def _receive_press(self, pressed: _Pressed) -> None:
        team = pressed.user.team_id or (pressed.team.id if pressed.team else self._me.team_id)
        channel, shown = pressed.channel.id, pressed.message
        for action in pressed.actions:
            press_id = f"{channel}:{shown.ts}:{pressed.user.id}:{action.action_ts}"
            place = _place(channel, shown.ts, shown.thread_ts)
            sender = f"{team}:{pressed.user.id}"
            await self._context.receive(Press(press_id, place, sender, shown.ts, action.value))


class SlackPlugin:
    """Connects apps."""

    limits = LIMITS
    secrets = ("token", "app_token")
    package = "slack_sdk"

    @asynccontextmanager
    async def connect(self, context: PlatformContext) -> AsyncGenerator[Platform]:
        """Connect with the tokens of the bot and of the app."""
        errors: Any = import_module("slack_sdk.errors")
        web: Any = import_module("slack_sdk.web.async_client")
        aiohttp: Any = import_module("aiohttp")
        timeout = aiohttp.ClientTimeout(total=None, connect=TIMEOUT_S, sock_connect=TIMEOUT_S)
        async with aiohttp.ClientSession(timeout=timeout) as http:
            client = web.AsyncWebClient(
                context.secrets["token"],
                base_url=context.settings.api,
                timeout=TIMEOUT_S,
                ssl=ssl.create_default_context(),
                retry_handlers=[],  # the library would not mark a retry as such
            )
            platform = SlackPlatform(context, client, errors, http)
            await platform.begin()
            yield platform


def _place(channel: str, ts: str, thread: str) -> Place:
    """Return the place of a message; the message that starts a thread is not in the thread."""
    return Place(channel, "" if thread == ts else thread, channel.startswith("D"))


def _refusal(answer: Any) -> PlatformError:
    """Convert a refusal of the Web API to a PlatformError."""
    status = int(getattr(answer, "status_code", None) or getattr(answer, "status", 0))
    data: object = getattr(answer, "data", None)
    code = str(msgspec.convert(data, dict[str, Any]).get("error", "")) if isinstance(data, dict) else ""
    reason = code or f"HTTP {status}"
    if status == 429 or code in ("ratelimited", "rate_limited"):
        wait = str(answer.headers.get("Retry-After", ""))
        return PlatformError(
            reason, retry_after_s=float(wait) if wait.replace(".", "").isdigit() else RETRY_AFTER_S
        )
    is_passing = code in PASSING or status >= 500
    return PlatformError(reason, is_permanent=not is_passing, may_have_arrived=is_passing)


def _shown(text: str) -> str:
    """Format a text in Slack's markup, or as plain text if it would be too long."""
    styled = to_markup(text, SLACK)
    return styled if 0 < len(styled) <= MAX_SECTION else html.escape(text, quote=False)


def _blocks(message: OutgoingMessage) -> list[dict[str, Any]]:
    """Build the blocks of a message with buttons."""
    text = _shown(message.text)
    pieces = [text]
    if len(text) > MAX_SECTION:
        cut = [message.text[begin : begin + PIECE] for begin in range(0, len(message.text), PIECE)]
        pieces = [html.escape(each, quote=False) for each in cut]
    sections = [{"type": "section", "text": {"type": "mrkdwn", "text": each}} for each in pieces]
    buttons = [
        {
            "type": "button",
            "action_id": f"choice-{number}",
            "text": {"type": "plain_text", "text": choice.label[:MAX_LABEL]},
            "value": choice.token,
        }
        for number, choice in enumerate(message.choices)
    ]
    return [*sections, {"type": "actions", "elements": buttons}]


def _plain(text: str) -> str:
    """Convert a person's text from Slack's markup to plain text, including links and escaped characters."""

    def written(found: re.Match[str]) -> str:
        target, label = found[1], found[2]
        if target[0] in "@#!":
            return f"{target[0]}{label}" if label else found[0]
        address = target.removeprefix("mailto:")
        is_written = label in (None, address, address.partition("://")[2].rstrip("/"))
        return address if is_written else f"{label} ({address})"

    return html.unescape(_REFERENCE.sub(written, text))


PLATFORM = SlackPlugin()
