"""Matrix, through matrix-nio and an access token. Encrypted rooms cannot be read.

Source: Matrix Client-Server API, "Syncing", "Forming relationships between events", "Transaction identifiers".
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from typing import Any, Final, cast

import anyio
import msgspec
from msgspec import Struct, field

from hermes_acp.frontends.gateway.formatting import to_html
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

SYNC_MS: Final = 30_000
JOIN_INTERVAL_S: Final = 60.0
PAGE: Final = 100
MAX_PAGES: Final = 20
HOUR_S: Final = 3_600.0
LIMITS: Final = Limits(
    max_length=8_000,
    unit="bytes",
    edit_gap_s=1.0,
    burst=5,
    send_gap_s=1.0,
    has_threads=True,
    repeats_safely_s=6 * HOUR_S,
    max_file_bytes=MAX_ATTACHMENT_BYTES,
)
PERMANENT: Final = frozenset(
    {"M_FORBIDDEN", "M_NOT_FOUND", "M_TOO_LARGE", "M_BAD_JSON", "M_INVALID_PARAM", "M_UNRECOGNIZED"}
)
FILES: Final = frozenset({"m.image", "m.file", "m.audio", "m.video"})


class _Reply(Struct):
    event_id: str = ""


class _Relation(Struct):
    rel_type: str = ""
    event_id: str = ""
    in_reply_to: _Reply = field(default_factory=_Reply, name="m.in_reply_to")


class _Mentions(Struct):
    user_ids: list[str] = []


class _FileInfo(Struct):
    mimetype: str = "application/octet-stream"
    size: int = 0


class _Content(Struct):
    msgtype: str = ""
    body: str = ""
    filename: str = ""
    url: str = ""
    info: _FileInfo = field(default_factory=_FileInfo)
    relates_to: _Relation = field(default_factory=_Relation, name="m.relates_to")
    mentions: _Mentions = field(default_factory=_Mentions, name="m.mentions")

    def attachment(self) -> Attachment:
        """Return the file of a message that has one."""
        name = (self.filename or self.body or "file")[:200]
        return Attachment(self.url, name, self.info.mimetype, self.info.size)


class _Event(Struct):
    """A message event; events that do not match this type are not messages."""

    type: str
    sender: str
    event_id: str
    content: _Content


class _Position(Struct):
    """A position in the timeline: the server's token, and the last event of each room."""

    since: str = ""
    last: dict[str, str] = {}

    @classmethod
    def read(cls, stored: str) -> "_Position":
        """Parse a stored position, or return the initial one."""
        try:
            return msgspec.json.decode(stored, type=cls)
        except msgspec.DecodeError:
            return cls()

    def after(self, answer: Any) -> "_Position":
        """Return the position after a response of the server."""
        last = {
            room_id: info.timeline.events[-1].event_id
            for room_id, info in answer.rooms.join.items()
            if info.timeline.events
        }
        return _Position(answer.next_batch, {**self.last, **last})


class MatrixPlatform:
    """A logged-in connection to a Matrix server."""

    def __init__(self, context: PlatformContext, client: Any, nio: Any) -> None:
        self._context = context
        self._client = client
        self._nio = nio
        self._user: str = context.settings.user
        self._own_events: set[str] = set()
        self._position = _Position()
        self._next_join = 0.0

    async def begin(self) -> None:
        """Find the rooms, receive what followed the stored position, if there is one, and join configured rooms."""
        self._position = _Position.read(await self._context.cursor.load())
        await self._sync(is_first=True)
        await self._join_rooms()  # invitations before the position are not received again

    async def run(self) -> None:
        """Follow the server's timeline."""
        while True:
            await self._sync()
            if anyio.current_time() >= self._next_join:
                await self._join_rooms()

    async def _join_rooms(self) -> None:
        """Join the configured rooms, and report those that cannot be joined."""
        self._next_join = anyio.current_time() + JOIN_INTERVAL_S
        refused: dict[str, str] = {}
        for room_id in sorted(self._context.rooms.difference(self._client.rooms)):
            answer = await self._client.join(room_id)
            if isinstance(answer, self._nio.ErrorResponse):
                refused[room_id] = f"{answer.status_code or ''} {answer.message}".strip()
        await self._context.report_rooms(refused)

    async def _sync(self, *, is_first: bool = False) -> None:
        """Receive new messages; save the position after everything before it was stored."""
        position = self._position
        answer = self._checked(
            await self._client.sync(
                timeout=0 if is_first else SYNC_MS,
                since=position.since or None,
                full_state=is_first,
                sync_filter={
                    "room": {"timeline": {"limit": PAGE if position.since else 1}},
                    "presence": {"types": []},
                },
            )
        )
        await self._join(answer)
        if position.since:
            await self._receive_all(answer, position)
        self._position = position.after(answer)
        await self._context.cursor.save(msgspec.json.encode(self._position).decode())

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        """Send a message; the server deduplicates retries by the transaction ID."""
        content = _content(message.text)
        if place.thread:
            content["m.relates_to"] = {"rel_type": "m.thread", "event_id": place.thread}
        return await self._send(place, content, message.key)

    async def send_file(self, place: Place, file: OutgoingFile) -> str:
        """Upload a file and send a message that shows it."""
        answer, _ = await self._client.upload(
            BytesIO(file.content), file.mime_type, file.name, filesize=len(file.content)
        )
        content: dict[str, Any] = {
            "msgtype": "m.image" if file.is_picture else "m.file",
            "body": file.name,
            "url": self._checked(answer).content_uri,
            "info": {"mimetype": file.mime_type, "size": len(file.content)},
            "m.mentions": {},
        }
        if place.thread:
            content["m.relates_to"] = {"rel_type": "m.thread", "event_id": place.thread}
        return await self._send(place, content, file.key)

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        """Replace a message."""
        inner = _content(text)
        relation = {"rel_type": "m.replace", "event_id": message_id}
        content = {**inner, "body": f"* {text}", "m.new_content": inner, "m.relates_to": relation}
        await self._send(place, content, f"{message_id}\0{text}")

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        """Download a file from the server's media repository."""
        answer = self._checked(await self._client.download(mxc=attachment.reference))
        return bytes(answer.body[: max_bytes + 1])

    async def _send(self, place: Place, content: dict[str, Any], key: str) -> str:
        transaction = sha256(key.encode()).hexdigest()[:32]
        answer = self._checked(
            await self._client.room_send(place.room, "m.room.message", content, tx_id=transaction)
        )
        self._own_events.add(answer.event_id)
        return answer.event_id

    def _checked(self, answer: Any) -> Any:
        """Return a response of the server. Raises PlatformError if it is an error."""
        if not isinstance(answer, self._nio.ErrorResponse):
            return answer
        code = str(answer.status_code or "")
        wait_s = (answer.retry_after_ms or 0) / 1_000
        if code == "M_LIMIT_EXCEEDED":
            raise PlatformError(code, retry_after_s=wait_s or 5.0)
        raise PlatformError(f"{code} {answer.message}".strip(), is_permanent=code in PERMANENT)

    async def _join(self, answer: Any) -> None:
        """Accept invitations to direct conversations, and retry joining soon after invitations to configured rooms."""
        for room_id, info in answer.rooms.invite.items():
            is_direct = any(
                isinstance(event, self._nio.InviteMemberEvent)
                and event.state_key == self._user
                and _is_direct(event.content)
                for event in info.invite_state
            )
            if room_id in self._context.rooms:
                self._next_join = 0.0
            elif is_direct:
                await self._client.join(room_id)

    async def _receive_all(self, answer: Any, position: _Position) -> None:
        for room_id, info in answer.rooms.join.items():
            sources: list[dict[str, Any]] = [event.source for event in info.timeline.events]
            if info.timeline.limited and (last := position.last.get(room_id)):
                sources = await self._missed(room_id, info.timeline.prev_batch, last) + sources
            for source in sources:
                message = self._message(room_id, source)
                if message is not None:
                    await self._context.receive(message)

    async def _missed(self, room_id: str, before: str, last: str) -> list[dict[str, Any]]:
        """Fetch the messages since the event `last` that did not fit into one response, oldest first."""
        found: list[dict[str, Any]] = []
        for _ in range(MAX_PAGES):
            page = self._checked(await self._client.room_messages(room_id, start=before, limit=PAGE))
            for event in page.chunk:
                if event.event_id == last:
                    return found[::-1]
                found.append(event.source)
            if not page.chunk or not page.end or page.end == before:
                break
            before = page.end
        return found[::-1]

    def _message(self, room_id: str, source: dict[str, Any]) -> IncomingMessage | None:
        """Convert an event to a message, or return None if it is not one, is our own or is an edit."""
        try:
            event = msgspec.convert(source, _Event)
        except msgspec.ValidationError:
            return None
        content, relation = event.content, event.content.relates_to
        is_message = event.type == "m.room.message" and content.msgtype != "m.notice"
        if not is_message or event.sender == self._user or relation.rel_type == "m.replace":
            return None
        files = (content.attachment(),) if content.msgtype in FILES and content.url else ()
        is_direct = room_id not in self._context.rooms and _is_closed_to_others(
            self._client.rooms.get(room_id)
        )
        is_named = self._user in content.mentions.user_ids or self._user in content.body
        return IncomingMessage(
            event.event_id,
            Place(room_id, relation.event_id if relation.rel_type == "m.thread" else "", is_direct),
            event.sender,
            "" if files else self._without_name(content.body),
            is_addressed=is_named or relation.in_reply_to.event_id in self._own_events,
            attachments=files,
        )

    def _without_name(self, body: str) -> str:
        """Remove the account's name from the start of a text."""
        return body.removeprefix(self._user).lstrip(" ,:") if body.startswith(self._user) else body


class MatrixPlugin:
    """Connects to Matrix servers."""

    limits = LIMITS
    secrets = ("token",)
    package = "nio"

    @asynccontextmanager
    async def connect(self, context: PlatformContext) -> AsyncGenerator[Platform]:
        """Connect with the access token."""
        nio: Any = import_module("nio")
        config = nio.AsyncClientConfig(max_limit_exceeded=0, max_timeouts=0, request_timeout=60)
        client = nio.AsyncClient(
            context.settings.homeserver, context.settings.user, context.settings.device, config=config
        )
        client.user_id = context.settings.user
        client.access_token = context.secrets["token"]
        try:
            platform = MatrixPlatform(context, client, nio)
            await platform.begin()
            yield platform
        finally:
            await client.close()


def _is_direct(content: object) -> bool:
    """Return whether an invitation is to a direct conversation."""
    return isinstance(content, dict) and cast("dict[str, object]", content).get("is_direct") is True


def _is_closed_to_others(room: Any) -> bool:
    """Return whether a room has only one other member, and others can join and read it only if invited."""
    if room is None:
        return False
    is_closed = room.join_rule == "invite" and room.history_visibility != "world_readable"
    return is_closed and room.member_count == 2


def _content(text: str) -> dict[str, Any]:
    """Build the content of a message that mentions nobody."""
    return {
        "msgtype": "m.text",
        "body": text,
        "format": "org.matrix.custom.html",
        "formatted_body": to_html(text),
        "m.mentions": {},
    }


PLATFORM = MatrixPlugin()
