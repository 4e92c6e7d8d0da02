"""Telegram, through python-telegram-bot and long polling.

An update is confirmed to the server only after it was stored. A group that becomes a supergroup gets a new ID; here it
keeps the configured one. All members of a group can press its buttons.
Source: Telegram Bot API, "Getting updates", "Making requests", "Formatting options", "ResponseParameters".
"""

import logging
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any, Final

import anyio
import msgspec
from msgspec import Struct, field

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.formatting import TELEGRAM, to_markup
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
from hermes_acp.frontends.gateway.telegram_errors import TelegramErrors

POLL_S: Final = 50
UNCHANGED: Final = "modified"
MOVE_S: Final = 0.1
READ_S: Final = 20.0
CONNECT_S: Final = 10.0
LOGS: Final = ("httpx", "telegram.Bot")
"""Loggers that log request URLs, which contain the token."""
UPDATES: Final = ("message", "callback_query")
LIMITS: Final = Limits(
    4_096,
    "utf16",
    edit_gap_s=2.0,
    burst=10,
    send_gap_s=0.5,
    has_buttons=True,
    has_threads=True,
    max_file_bytes=MAX_ATTACHMENT_BYTES,
)


class _User(Struct):
    id: int
    is_bot: bool = False
    username: str = ""


class _Chat(Struct):
    id: int
    type: str


class _File(Struct):
    file_id: str
    file_name: str = ""
    mime_type: str = ""
    file_size: int = 0


class _Entity(Struct):
    type: str
    offset: int
    length: int
    user: _User | None = None

    def words(self, text: bytes) -> str:
        """Return the part of a text that the entity covers; offsets count UTF-16 code units."""
        return text[self.offset * 2 : (self.offset + self.length) * 2].decode("utf-16-le", "replace")

    def names(self, me: _User, text: bytes) -> bool:
        """Return whether the entity mentions the bot `me`."""
        words, name = self.words(text).lower(), f"@{me.username}".lower()
        if self.type == "text_mention":
            return self.user is not None and self.user.id == me.id
        is_command = self.type == "bot_command" and words.endswith(name)
        return is_command or (self.type == "mention" and words == name)


class _Replied(Struct):
    sender: _User | None = field(default=None, name="from")


class _Text(Struct):
    """The text of a message, or the caption of its file."""

    text: str = ""
    caption: str = ""
    entities: tuple[_Entity, ...] = ()
    caption_entities: tuple[_Entity, ...] = ()
    reply_to_message: _Replied | None = None

    def mentions(self, me: _User) -> list[_Entity]:
        """Return the entities that mention the bot `me` or give it a command."""
        found = self.entities or self.caption_entities
        return [each for each in found if each.names(me, _utf16(self.text or self.caption))]

    def is_for(self, me: _User) -> bool:
        """Return whether a message mentions the bot `me` or replies to it."""
        replied = self.reply_to_message
        is_reply = replied is not None and replied.sender is not None and replied.sender.id == me.id
        return is_reply or bool(self.mentions(me))

    def without_name(self, me: _User) -> str:
        """Return the text without the bot's name at its start or after a command."""
        text = self.text or self.caption
        first = next((each for each in self.mentions(me) if each.offset == 0), None)
        if first is None:
            return text
        named = first.words(_utf16(text))
        rest = text[len(named) :]
        return f"{named.rpartition('@')[0]}{rest}" if first.type == "bot_command" else rest.lstrip(" ,:")


class _Files(Struct):
    """The files of a message; of a photo, only the largest version is used."""

    photo: tuple[_File, ...] = ()
    document: _File | None = None
    voice: _File | None = None
    audio: _File | None = None
    video: _File | None = None

    def attachments(self) -> tuple[Attachment, ...]:
        """Return the file of a message that has one."""
        if self.photo:
            photo = self.photo[-1]
            return (Attachment(photo.file_id, "photo.jpg", "image/jpeg", photo.file_size),)
        for name, found in (("voice.ogg", self.voice), ("audio", self.audio), ("video", self.video)):
            if found is not None:
                mime_type = found.mime_type or ("audio/ogg" if found is self.voice else "")
                return (_attachment(found, name, mime_type),)
        return (_attachment(self.document, "file", self.document.mime_type),) if self.document else ()


class _Message(Struct):
    """A message. `sender_chat` is set if it was sent on behalf of a group or a channel."""

    message_id: int
    chat: _Chat
    sender: _User | None = field(default=None, name="from")
    sender_chat: _Chat | None = None
    is_topic_message: bool = False
    message_thread_id: int = 0
    migrate_to_chat_id: int = 0


class _Pressed(Struct):
    id: str
    sender: _User = field(name="from")
    data: str = ""
    message: _Message | None = None


class _Position(Struct):
    """The last update that was read, and the new IDs of groups."""

    last: int = 0
    moved: dict[str, str] = {}


class TelegramPlatform:
    """A connected Telegram bot."""

    def __init__(self, context: PlatformContext, bot: Any, me: _User, errors: TelegramErrors) -> None:
        self._context = context
        self._bot = bot
        self._me = me
        self._errors = errors
        self._position = _Position()

    async def begin(self) -> None:
        """Restore the position; without one, start with new updates."""
        if stored := await self._context.cursor.load():
            self._position = msgspec.json.decode(stored, type=_Position)
        else:
            for raw in await self._updates(offset=-1, timeout=0):
                self._position.last = int(raw["update_id"])
            await self._save()

    async def run(self) -> None:
        """Receive updates; requesting the next ones confirms the previous ones."""
        while True:
            offset = self._position.last + 1 if self._position.last else 0
            for raw in await self._updates(offset=offset, timeout=POLL_S):
                await self._receive(raw)
                self._position.last = int(raw["update_id"])
                await self._save()

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        """Send a message with buttons for its choices."""
        more = {"reply_markup": self._keyboard(message.choices)} if message.choices else {}

        async def send(room: str, thread: Mapping[str, Any]) -> Any:
            return await self._write(self._bot.send_message, room, message.text, {**thread, **more})

        return await self._send(place, send)

    async def send_file(self, place: Place, file: OutgoingFile) -> str:
        """Send a file; a picture is sent as a photo, so that it is displayed."""
        library = self._errors.library

        async def send(room: str, thread: Mapping[str, Any]) -> Any:
            attached = library.InputFile(file.content, filename=file.name)
            method = self._bot.send_photo if file.is_picture else self._bot.send_document
            return await self._answered(method(int(room), attached, **thread))

        return await self._send(place, send)

    async def _send(self, place: Place, send: Callable[[str, Mapping[str, Any]], Awaitable[Any]]) -> str:
        """Send something to a place, using its current ID."""
        room = self._position.moved.get(place.room, place.room)
        try:
            sent = await send(room, {"message_thread_id": int(place.thread)} if place.thread else {})
        except self._errors.moved as error:
            await self._move(place.room, str(error.new_chat_id))
            raise PlatformError(str(error), retry_after_s=MOVE_S) from None
        return f"{room}:{sent.message_id}"

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        """Replace a message; its buttons are removed unless the new version has some."""
        room, _, number = message_id.partition(":")
        try:
            await self._write(self._bot.edit_message_text, room, text, {"message_id": int(number)})
        except self._errors.moved as error:
            raise PlatformError(str(error), is_permanent=True) from None
        except PlatformError as error:
            if UNCHANGED not in error.reason:
                raise

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        """Download a file."""
        found = await self._answered(self._bot.get_file(attachment.reference))
        if (found.file_size or 0) > max_bytes:
            raise PlatformError(messages.TOO_LARGE, is_permanent=True)
        return bytes(await self._answered(found.download_as_bytearray()))[: max_bytes + 1]

    async def _write(self, method: Any, room: str, text: str, more: Mapping[str, Any]) -> Any:
        """Send or edit a message with formatting or, if the server refuses that, without."""
        preview = self._errors.library.LinkPreviewOptions(is_disabled=True)  # links are not fetched
        asked = {"chat_id": int(room), "link_preview_options": preview, **more}

        async def write() -> Any:
            try:
                return await method(text=to_markup(text, TELEGRAM), parse_mode="HTML", **asked)
            except self._errors.bad_request as error:
                if UNCHANGED in str(error):
                    raise
                return await method(text=text, **asked)

        return await self._answered(write())

    def _keyboard(self, choices: Sequence[Choice]) -> Any:
        library = self._errors.library
        return library.InlineKeyboardMarkup(
            [[library.InlineKeyboardButton(choice.label, callback_data=choice.token)] for choice in choices]
        )

    async def _updates(self, *, offset: int, timeout: int) -> list[Any]:
        asked = {"offset": offset, "timeout": timeout, "allowed_updates": UPDATES}
        # The library's own method raises for all updates if it cannot parse one. Method names are case-insensitive.
        return await self._answered(
            self._bot.do_api_request("getupdates", asked, read_timeout=timeout + READ_S)
        )

    async def _answered(self, request: Awaitable[Any]) -> Any:
        """Return the server's response; the caller handles a group that has moved. Raises PlatformError."""
        try:
            return await request
        except self._errors.moved:
            raise
        except self._errors.base as error:
            raise self._errors.found(error) from None

    async def _receive(self, raw: Any) -> None:
        """Pass on an update, ignoring malformed ones."""
        try:
            if pressed := raw.get("callback_query"):
                await self._receive_press(msgspec.convert(pressed, _Pressed))
            elif said := raw.get("message"):
                await self._receive_message(
                    msgspec.convert(said, _Message),
                    msgspec.convert(said, _Text),
                    msgspec.convert(said, _Files),
                )
        except msgspec.ValidationError:
            return

    async def _receive_message(self, message: _Message, said: _Text, files: _Files) -> None:
        if message.migrate_to_chat_id:
            await self._move(str(message.chat.id), str(message.migrate_to_chat_id))
            return
        sender = message.sender
        if sender is None or sender.is_bot or message.sender_chat is not None:
            return
        await self._context.receive(
            IncomingMessage(
                f"{message.chat.id}:{message.message_id}",
                self._place(message),
                str(sender.id),
                said.without_name(self._me),
                is_addressed=said.is_for(self._me),
                attachments=files.attachments(),
            )
        )

    async def _receive_press(self, pressed: _Pressed) -> None:
        message = pressed.message
        if message is not None and not pressed.sender.is_bot:
            place, shown = self._place(message), f"{message.chat.id}:{message.message_id}"
            sender = str(pressed.sender.id)
            await self._context.receive(Press(pressed.id, place, sender, shown, pressed.data))
        with suppress(self._errors.base):  # otherwise, the app keeps showing a progress indicator
            await self._bot.answer_callback_query(pressed.id)

    def _place(self, message: _Message) -> Place:
        now = str(message.chat.id)
        rooms = self._context.rooms
        before = next((old for old, new in self._position.moved.items() if new == now), now)
        thread = str(message.message_thread_id) if message.is_topic_message else ""
        return Place(now if now in rooms else before, thread, message.chat.type == "private")

    async def _move(self, before: str, now: str) -> None:
        """Record a group's new ID."""
        self._position.moved[before] = now
        await self._save()

    async def _save(self) -> None:
        await self._context.cursor.save(msgspec.json.encode(self._position).decode())


class TelegramPlugin:
    """Connects bots."""

    limits = LIMITS
    secrets = ("token",)
    package = "telegram"

    @asynccontextmanager
    async def connect(self, context: PlatformContext) -> AsyncGenerator[Platform]:
        """Connect with the bot's token."""
        library: Any = import_module("telegram")
        requests: Any = import_module("telegram.request")
        # The library's rate limit exception warns about a deprecated attribute that is not used here.
        warnings.filterwarnings("ignore", category=library.warnings.PTBDeprecationWarning)
        token, api = context.secrets["token"], context.settings.api
        errors = TelegramErrors(library, token)
        logs = [logging.getLogger(name) for name in LOGS]
        for log in logs:
            log.addFilter(errors.is_without_token)
        times = {"read_timeout": READ_S, "write_timeout": READ_S, "connect_timeout": CONNECT_S}
        bot = library.Bot(
            token,
            base_url=f"{api}/bot",
            base_file_url=f"{api}/file/bot",
            request=requests.HTTPXRequest(**times),
            get_updates_request=requests.HTTPXRequest(**times),
        )
        try:
            try:
                await bot.initialize()
            except errors.base as error:
                raise errors.found(error) from None
            me = _User(bot.id, is_bot=True, username=bot.username or "")
            platform = TelegramPlatform(context, bot, me, errors)
            await platform.begin()
            yield platform
        finally:
            with anyio.CancelScope(shield=True):
                await bot.shutdown()
            for log in logs:
                log.removeFilter(errors.is_without_token)


def _attachment(found: _File, name: str, mime_type: str) -> Attachment:
    shown = (found.file_name or name)[:200]
    return Attachment(found.file_id, shown, mime_type or "application/octet-stream", found.file_size)


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "replace")


PLATFORM = TelegramPlugin()
