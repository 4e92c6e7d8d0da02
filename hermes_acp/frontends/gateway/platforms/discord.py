"""Discord, through discord.py. Webhooks and other bots are ignored.

Messages sent while the gateway was down are fetched from known channels. A retried message has the same nonce, by which
Discord deduplicates it for some minutes.
Source: Discord's "Gateway", "Create Message", "Interactions: Receiving and Responding", and discord.py's reference.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from importlib import import_module
from io import BytesIO
from typing import Any, Final

import anyio
import msgspec
from msgspec import Struct

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.file_download import download, origin
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

API: Final = "/v10"
READY_S: Final = 60.0
GUILDS_S: Final = 0.5
"""Discord lists the servers one by one; if none follows within this time, the list counts as complete."""
RETRY_AFTER_S: Final = 5.0
MAX_CHANNELS: Final = 200
MAX_MISSED: Final = 200
NONCE_CHARACTERS: Final = 25
MAX_LABEL: Final = 80
PRIVILEGED: Final = 4014
"""Discord's close code for a bot that may not read the content of messages."""
FILE_HOSTS: Final = ("discordapp.com", "discordapp.net")
CONNECTED: Final = object()
LIMITS: Final = Limits(
    2_000,
    "utf16",
    edit_gap_s=1.5,
    burst=5,
    send_gap_s=1.0,
    has_buttons=True,
    has_threads=True,
    repeats_safely_s=30.0,
    max_file_bytes=MAX_ATTACHMENT_BYTES,
)


class _Known(Struct, frozen=True):
    """A known channel, and the last message that was read there."""

    place: Place
    last: int


class DiscordPlatform:
    """A connected Discord bot."""

    def __init__(self, context: PlatformContext, library: Any) -> None:
        self._context = context
        self._library = library
        self._aiohttp: Any = import_module("aiohttp")
        self._known: dict[str, _Known] = {}
        self._events, self._incoming = anyio.create_memory_object_stream[Any](float("inf"))
        self._ready = anyio.Event()
        self.client = self._new_client()

    async def close(self) -> None:
        """End the connection."""
        await self.client.close()
        self._events.close()
        self._incoming.close()

    async def follow(self) -> None:
        """Keep the connection until it is lost. Raises PlatformError."""
        try:
            await self.client.connect(reconnect=False)
        except self._library.ConnectionClosed as error:
            text = (
                messages.NO_MESSAGE_CONTENT
                if error.code == PRIVILEGED
                else messages.closed_by_platform(error.code)
            )
            raise PlatformError(text) from None
        except (self._library.DiscordException, self._aiohttp.ClientError, TimeoutError) as error:
            raise PlatformError(type(error).__name__) from None
        raise PlatformError(messages.CONNECTION_ENDED)

    async def wait_until_ready(self) -> None:
        """Wait until the bot receives messages. Raises TimeoutError."""
        if stored := await self._context.cursor.load():
            self._known = msgspec.json.decode(stored, type=dict[str, _Known])
        with anyio.fail_after(READY_S):
            await self._ready.wait()

    async def run(self) -> None:
        """Receive events in Discord's order; after each reconnection, receive missed messages first."""
        async for event in self._incoming:
            if event is CONNECTED:
                await self._ready.wait()
                await self._catch_up()
            elif isinstance(event, self._library.Message):
                await self._receive(event, await self._place(event.channel))
            else:
                await self._receive_press(event)

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        """Send a message; Discord recognises a retry by its nonce."""
        more: dict[str, Any] = {"view": self._view(message.choices)} if message.choices else {}
        return await self._send(place, message.key, content=message.text, suppress_embeds=True, **more)

    async def send_file(self, place: Place, file: OutgoingFile) -> str:
        """Send a message that contains only a file."""
        attached = self._library.File(BytesIO(file.content), filename=file.name)
        return await self._send(place, file.key, file=attached)

    async def _send(self, place: Place, key: str, **sent: Any) -> str:
        nonce = sha256(key.encode()).hexdigest()[:NONCE_CHARACTERS]
        channel = self.client.get_partial_messageable(int(place.thread or place.room))
        try:
            return str((await channel.send(nonce=nonce, **sent)).id)
        except self._errors as error:
            raise self._found(error) from None

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        """Replace a message, and remove its buttons."""
        channel = self.client.get_partial_messageable(int(place.thread or place.room))
        try:
            await channel.get_partial_message(int(message_id)).edit(content=text, view=None)
        except self._errors as error:
            raise self._found(error) from None

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        """Download a file from Discord's hosts."""
        allowed = (*FILE_HOSTS, origin(self._context.settings.api))
        try:
            async with self._aiohttp.ClientSession() as http:
                return await download(http, attachment.reference, allowed, max_bytes)
        except (self._aiohttp.ClientError, TimeoutError) as error:
            raise PlatformError(type(error).__name__) from None

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        return (self._library.DiscordException, self._aiohttp.ClientError, TimeoutError, OSError)

    def _new_client(self) -> Any:
        """Create a client that queues its events in order."""
        library = self._library
        intents = library.Intents.none()
        intents.guilds = intents.guild_messages = intents.dm_messages = intents.message_content = True
        client = library.Client(
            intents=intents,
            allowed_mentions=library.AllowedMentions.none(),
            max_messages=None,
            chunk_guilds_at_startup=False,
            member_cache_flags=library.MemberCacheFlags.none(),
            guild_ready_timeout=GUILDS_S,
        )

        async def on_connect() -> None:
            if self._ready.is_set():
                self._ready = anyio.Event()
            self._events.send_nowait(CONNECTED)

        async def on_ready() -> None:
            self._ready.set()

        async def on_message(message: Any) -> None:
            self._events.send_nowait(message)

        async def on_interaction(interaction: Any) -> None:
            self._events.send_nowait(interaction)

        for handler in (on_connect, on_ready, on_message, on_interaction):
            client.event(handler)
        return client

    def _view(self, choices: Sequence[Choice]) -> Any:
        """Build buttons without registering them with the library, because their presses are handled here."""
        buttons = self._library.ui
        view = buttons.View(timeout=None)
        for choice in choices:
            view.add_item(buttons.Button(label=choice.label[:MAX_LABEL], custom_id=choice.token))
        view.stop()
        return view

    async def _catch_up(self) -> None:
        """Receive the messages that were written in each known channel since the last one that was read."""
        since = self._library.Object
        for channel_id, known in [*self._known.items()]:
            channel = self.client.get_partial_messageable(int(channel_id))
            try:
                history = channel.history(after=since(known.last), oldest_first=True, limit=MAX_MISSED)
                missed = [message async for message in history]
            except self._library.HTTPException as error:
                if error.status in (403, 404):  # the bot has left the channel
                    self._known.pop(channel_id, None)
                    continue
                raise self._found(error) from None
            for message in missed:
                await self._receive(message, known.place)
        await self._save()

    async def _save(self) -> None:
        await self._context.cursor.save(msgspec.json.encode(self._known).decode())

    async def _receive(self, message: Any, place: Place) -> None:
        """Pass on a person's message, and record its channel's position."""
        kinds = self._library.MessageType
        is_spoken = message.type in (kinds.default, kinds.reply) and message.webhook_id is None
        if is_spoken and not message.author.bot:
            await self._context.receive(self._message(message, place))
        known = self._known.pop(place.thread or place.room, None)
        last = max(known.last if known else 0, message.id)
        self._known[place.thread or place.room] = _Known(place, last)
        for oldest in [*self._known][:-MAX_CHANNELS]:
            del self._known[oldest]
        await self._save()

    def _message(self, message: Any, place: Place) -> IncomingMessage:
        me = self.client.user.id
        text = message.content
        for name in (f"<@{me}>", f"<@!{me}>"):
            if text.startswith(name):
                text = text.removeprefix(name).lstrip(" ,:")
        replied = getattr(message.reference, "resolved", None)
        is_reply = getattr(getattr(replied, "author", None), "id", None) == me
        files = tuple(
            Attachment(
                each.url, each.filename[:200], each.content_type or "application/octet-stream", each.size
            )
            for each in message.attachments
        )
        return IncomingMessage(
            str(message.id),
            place,
            str(message.author.id),
            text,
            is_addressed=is_reply or any(each.id == me for each in message.mentions),
            attachments=files,
        )

    async def _receive_press(self, interaction: Any) -> None:
        """Pass on a button press, and acknowledge it at once, as Discord requires."""
        if interaction.type is not self._library.InteractionType.component or interaction.message is None:
            return
        if interaction.channel is None or interaction.user.bot:
            return
        place, shown = await self._place(interaction.channel), str(interaction.message.id)
        pressed: dict[str, Any] = interaction.data or {}
        token = str(pressed.get("custom_id", ""))
        press = Press(str(interaction.id), place, str(interaction.user.id), shown, token)
        await self._context.receive(press)
        with suppress(*self._errors):  # otherwise, the app shows an error
            await interaction.response.defer()

    async def _place(self, channel: Any) -> Place:
        """Return the place of a message; a thread is a channel with a parent channel."""
        library = self._library
        if isinstance(channel, library.PartialMessageable) and channel.guild_id is not None:
            with suppress(library.HTTPException):
                channel = await self.client.fetch_channel(channel.id)
        if isinstance(channel, library.Thread):
            return Place(str(channel.parent_id), str(channel.id))
        is_direct = getattr(channel, "guild", None) is None and channel.type is library.ChannelType.private
        return Place(str(channel.id), is_direct=is_direct)

    def _found(self, error: Any) -> PlatformError:
        """Convert an exception of the library to a PlatformError."""
        if isinstance(error, self._library.HTTPException):
            status: int = error.status
            reason = f"{status} {error.text}".strip()
            if status == 429:
                wait = str(error.response.headers.get("Retry-After", ""))
                is_number = wait.replace(".", "", 1).isdigit()
                return PlatformError(reason, retry_after_s=float(wait) if is_number else RETRY_AFTER_S)
            return PlatformError(reason, is_permanent=status < 500, may_have_arrived=status >= 500)
        has_arrived = not isinstance(error, self._aiohttp.ClientConnectorError)
        return PlatformError(str(error) or type(error).__name__, may_have_arrived=has_arrived)


class DiscordPlugin:
    """Connects bots."""

    limits = LIMITS
    secrets = ("token",)
    package = "discord"

    @asynccontextmanager
    async def connect(self, context: PlatformContext) -> AsyncGenerator[Platform]:
        """Log in with the bot's token, and wait until it receives messages."""
        library: Any = import_module("discord")
        _point_to(context.settings)
        platform = DiscordPlatform(context, library)
        client = platform.client
        try:
            try:
                await client.login(context.secrets["token"])
            except (library.DiscordException, import_module("aiohttp").ClientError) as error:
                raise PlatformError(str(error)) from None
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(platform.follow)
                await platform.wait_until_ready()
                yield platform
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await platform.close()


def _point_to(settings: Any) -> None:
    """Make the library use the configured addresses, and turn off its warning about missing voice support."""
    voice = import_module("discord").VoiceClient
    voice.warn_nacl = voice.warn_dave = False
    import_module("discord.http").Route.BASE = f"{settings.api}{API}"
    gateway: Any = import_module("discord.gateway").DiscordWebSocket
    gateway.DEFAULT_GATEWAY = import_module("yarl").URL(settings.gateway)


PLATFORM = DiscordPlugin()
