"""Mattermost, through its REST API and its WebSocket, with the token of a bot account.

Buttons would need an address at which the server can reach the gateway, so answers are typed. Messages written while
the gateway was down are fetched from known channels.
Source: Mattermost API reference, version 4: "WebSocket", "Posts", "Files"; and its "Rate limiting".
"""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from importlib import import_module
from typing import Any, Final, cast
from urllib.parse import urlencode

import anyio
import msgspec
from msgspec import Struct

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.file_download import download, origin
from hermes_acp.frontends.gateway.formatting import change_outside_code
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
)

API: Final = "/api/v4"
HEARTBEAT_S: Final = 30.0
TIMEOUT_S: Final = 30.0
RETRY_AFTER_S: Final = 5.0
MAX_CHANNELS: Final = 200
PENDING: Final = "deduplicate_create_post"
"""A part of the error that the server returns while it is still storing the same post."""
LIMITS: Final = Limits(
    16_000,
    edit_gap_s=1.0,
    burst=10,
    send_gap_s=0.5,
    has_threads=True,
    repeats_safely_s=20.0,
    max_file_bytes=MAX_ATTACHMENT_BYTES,
)
PROGRAMS: Final = ("from_webhook", "from_bot", "from_plugin", "override_username")
"""Properties of posts that were written by programs or that show a different name."""
_NOISY: Final = re.compile(r"@(?=(?:all|channel|here)\b)|!(?=\[)", re.IGNORECASE)
"""Mentions that notify everyone, and the start of picture links, which the app would fetch."""


class _File(Struct):
    id: str
    name: str = "file"
    mime_type: str = "application/octet-stream"
    size: int = 0


class _Metadata(Struct):
    files: tuple[_File, ...] = ()


class _Post(Struct):
    """A post. `type` is set for system messages."""

    id: str
    channel_id: str
    user_id: str
    create_at: int
    message: str = ""
    root_id: str = ""
    type: str = ""
    delete_at: int = 0
    props: dict[str, Any] | None = None
    metadata: _Metadata | None = None


class _Posts(Struct):
    order: tuple[str, ...]
    posts: dict[str, _Post]


class _Posted(Struct):
    """The data of the event `posted`."""

    post: str
    channel_type: str = ""
    mentions: str = "[]"


class _Frame(Struct):
    """A frame from the WebSocket. `status` is set in responses."""

    event: str = ""
    data: dict[str, Any] = {}
    status: str = ""


class _Account(Struct):
    id: str
    username: str


class _Known(Struct, frozen=True):
    """A known channel, and the last post that was read there."""

    last: int
    post_id: str
    is_direct: bool


class MattermostPlatform:
    """A connected bot account."""

    def __init__(self, context: PlatformContext, http: Any, socket: Any) -> None:
        self._context = context
        self._http = http
        self._socket = socket
        self._server: str = context.settings.server
        self._headers = {"Authorization": f"Bearer {context.secrets['token']}"}
        self._me = _Account("", "")
        self._known: dict[str, _Known] = {}

    async def begin(self) -> None:
        """Look up the bot's own account, and subscribe to posts. Raises PlatformError."""
        if stored := await self._context.cursor.load():
            self._known = msgspec.json.decode(stored, type=dict[str, _Known])
        self._me = msgspec.convert(await self._call("GET", "/users/me"), _Account)
        challenge = {"token": self._context.secrets["token"]}
        await self._socket.send_json({"seq": 1, "action": "authentication_challenge", "data": challenge})
        with anyio.fail_after(TIMEOUT_S):
            async for raw in self._socket:
                frame = _frame(raw)
                if frame.status == "OK":
                    return
                if frame.status:
                    raise PlatformError(messages.REFUSED_TOKEN)
        raise PlatformError(messages.CONNECTION_ENDED)

    async def run(self) -> None:
        """Receive missed posts, then new ones, until the connection is lost."""
        await self._catch_up()
        async for raw in self._socket:
            frame = _frame(raw)
            if frame.event != "posted":
                continue
            try:
                posted = msgspec.convert(frame.data, _Posted)
                post = msgspec.json.decode(posted.post, type=_Post)
                named = msgspec.json.decode(posted.mentions or "[]", type=list[str])
            except msgspec.DecodeError:
                continue
            await self._receive(post, is_direct=posted.channel_type == "D", is_addressed=self._me.id in named)
        raise PlatformError(messages.CONNECTION_ENDED)

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        """Send a message; the server deduplicates retries for half a minute."""
        return await self._post(place, message.key, {"message": _quiet(message.text)})

    async def send_file(self, place: Place, file: OutgoingFile) -> str:
        """Upload a file and post it."""
        query = urlencode({"channel_id": place.room, "filename": file.name})
        answer = await self._call("POST", f"/files?{query}", content=file.content)
        ids = [each.id for each in msgspec.convert(answer["file_infos"], list[_File])]
        return await self._post(place, file.key, {"message": "", "file_ids": ids})

    async def _post(self, place: Place, key: str, said: Mapping[str, Any]) -> str:
        pending = f"{self._me.id}:{sha256(key.encode()).hexdigest()[:20]}"
        asked = {"channel_id": place.room, "pending_post_id": pending, **said}
        if place.thread:
            asked["root_id"] = place.thread
        return str((await self._call("POST", "/posts", asked))["id"])

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        """Replace a message."""
        await self._call("PUT", f"/posts/{message_id}/patch", {"message": _quiet(text)})

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        """Download a file from the server."""
        address = f"{self._server}{API}/files/{attachment.reference}"
        errors: Any = import_module("aiohttp").ClientError
        try:
            return await download(self._http, address, (origin(self._server),), max_bytes, self._headers)
        except (errors, TimeoutError) as error:
            raise PlatformError(type(error).__name__) from None

    async def _catch_up(self) -> None:
        """Receive the posts in each known channel since the last one that was read."""
        for channel_id, known in [*self._known.items()]:
            try:
                answer = await self._call("GET", f"/channels/{channel_id}/posts?since={known.last}")
            except PlatformError as error:
                if not error.is_permanent:
                    raise
                del self._known[channel_id]  # the bot has left the channel
                continue
            found = msgspec.convert(answer, _Posts)
            posts = sorted((found.posts[each] for each in found.order), key=lambda post: post.create_at)
            for post in posts:
                if post.create_at >= known.last and post.id != known.post_id and not post.delete_at:
                    await self._receive(post, is_direct=known.is_direct)
        await self._save()

    async def _receive(self, post: _Post, *, is_direct: bool, is_addressed: bool = False) -> None:
        """Pass on a person's post, and record its channel's position."""
        props = post.props or {}
        is_program = any(str(props.get(name, "")) not in ("", "false", "False") for name in PROGRAMS)
        if post.user_id != self._me.id and not post.type and not is_program:
            await self._context.receive(self._message(post, is_direct, is_addressed=is_addressed))
        known = self._known.pop(post.channel_id, None)
        if known is None or post.create_at >= known.last:
            known = _Known(post.create_at, post.id, is_direct)
        self._known[post.channel_id] = known
        for oldest in [*self._known][:-MAX_CHANNELS]:
            del self._known[oldest]
        await self._save()

    def _message(self, post: _Post, is_direct: bool, *, is_addressed: bool) -> IncomingMessage:
        name, text = f"@{self._me.username}", post.message.strip()
        is_named = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE) is not None
        if is_named and text.lower().startswith(name.lower()):
            text = text[len(name) :].lstrip(" ,:")
        files = post.metadata.files if post.metadata else ()
        return IncomingMessage(
            post.id,
            Place(post.channel_id, post.root_id, is_direct),
            post.user_id,
            text,
            is_addressed=is_addressed or is_named,
            attachments=tuple(
                Attachment(each.id, each.name[:200], each.mime_type, each.size) for each in files
            ),
        )

    async def _call(
        self, method: str, path: str, asked: Mapping[str, Any] | None = None, content: bytes | None = None
    ) -> Mapping[str, Any]:
        """Send JSON or the content of a file to the REST API; return the response. Raises PlatformError."""
        aiohttp = import_module("aiohttp")
        address = f"{self._server}{API}{path}"
        try:
            with anyio.fail_after(TIMEOUT_S):
                request = self._http.request(
                    method, address, json=asked, data=content, headers=self._headers, allow_redirects=False
                )
                async with request as answer:
                    body = await answer.read()
        except aiohttp.ClientConnectorError as error:
            raise PlatformError(messages.unreachable(str(error))) from None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise PlatformError(type(error).__name__, may_have_arrived=True) from None
        if answer.status >= 300:
            raise _refusal(answer, body)
        return msgspec.json.decode(body)

    async def _save(self) -> None:
        await self._context.cursor.save(msgspec.json.encode(self._known).decode())


class MattermostPlugin:
    """Connects bot accounts."""

    limits = LIMITS
    secrets = ("token",)
    package = "aiohttp"

    @asynccontextmanager
    async def connect(self, context: PlatformContext) -> AsyncGenerator[Platform]:
        """Open the WebSocket and sign in with the bot's token."""
        aiohttp: Any = import_module("aiohttp")
        address = f"{context.settings.server.replace('http', 'ws', 1)}{API}/websocket"
        timeout = aiohttp.ClientTimeout(total=None, connect=TIMEOUT_S, sock_connect=TIMEOUT_S)
        async with (
            aiohttp.ClientSession(timeout=timeout) as http,
            http.ws_connect(address, heartbeat=HEARTBEAT_S) as socket,
        ):
            platform = MattermostPlatform(context, http, socket)
            await platform.begin()
            yield platform


def _frame(raw: Any) -> _Frame:
    """Parse a frame from the WebSocket; an unknown one becomes an empty frame."""
    return msgspec.json.decode(raw.data, type=_Frame) if isinstance(raw.data, str) else _Frame()


def _quiet(text: str) -> str:
    """Disable mentions of everyone and picture links in a text, except in code."""
    return change_outside_code(text, _NOISY, "\\g<0>\u200b")


def _refusal(answer: Any, content: bytes) -> PlatformError:
    """Convert a refusal of the REST API to a PlatformError."""
    status: int = answer.status
    try:
        found = cast("object", msgspec.json.decode(content))
    except msgspec.DecodeError:
        found = None
    error = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    reason = f"HTTP {status} {error.get('id', '')}".strip()
    if status == 429:
        wait = str(answer.headers.get("Retry-After") or answer.headers.get("X-Ratelimit-Reset") or "")
        is_number = wait.replace(".", "", 1).isdigit()
        return PlatformError(reason, retry_after_s=float(wait) if is_number else RETRY_AFTER_S)
    is_passing = status >= 500 or PENDING in reason
    return PlatformError(reason, is_permanent=not is_passing, may_have_arrived=is_passing)


PLATFORM = MattermostPlugin()
