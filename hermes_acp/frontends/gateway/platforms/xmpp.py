"""XMPP, through slixmpp: direct chats, and rooms that reveal their members. Encrypted messages cannot be read.

A sender is identified by the bare address, which servers verify. In rooms, that is the address that the room reveals;
messages in rooms that reveal none are ignored. Direct messages that arrived while the gateway was down are received at
the next connection; room messages are not.
Source: RFC 6120, RFC 6121, XEP-0045, XEP-0066, XEP-0198, XEP-0199, XEP-0308, XEP-0359, XEP-0363.
"""

import logging
import re
import ssl
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from mimetypes import guess_type
from secrets import token_hex
from typing import Any, Final

import anyio

from hermes_acp.config.sections.gateway_settings import XmppSettings
from hermes_acp.frontends.gateway import messages
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
from hermes_acp.frontends.gateway.xmpp_files import PERMANENT, fetch_file, file_name, upload_file
from hermes_acp.frontends.gateway.xmpp_rooms import XmppRooms

LIMITS: Final = Limits(
    max_length=8_000,
    unit="bytes",
    edit_gap_s=1.0,
    burst=5,
    send_gap_s=1.0,
    has_threads=True,
    ids_are_personal=True,
    max_file_bytes=MAX_ATTACHMENT_BYTES,
)
PLUGINS: Final = ("xep_0030", "xep_0045", "xep_0066", "xep_0199", "xep_0308", "xep_0359", "xep_0363")
RESOURCE: Final = "hermes-acp"
CONNECT_TIMEOUT_S: Final = 30.0
REPLY_TIMEOUT_S: Final = 20.0
QUIET_S: Final = 60.0
"""The interval for pinging the server and for retrying to join rooms."""
END_GRACE_S: Final = 2.0
REASON_S: Final = 0.1
"""The time to wait for the reason why a connection ended, which the library may report only afterwards."""
MAX_HEARD: Final = 1_000
MAX_REFUSALS: Final = 200
EME: Final = "{urn:xmpp:eme:0}encryption"
_FORBIDDEN: Final = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class XmppPlatform:
    """A logged-in session with an XMPP server."""

    def __init__(self, context: PlatformContext, client: Any) -> None:
        self._context = context
        self._settings: XmppSettings = context.settings
        self.client = client
        self._rooms = XmppRooms(context, client)
        self._stream = client.plugin["xep_0198"]
        self._send_ack: Callable[[], None] = self._stream.send_ack
        self._stream.send_ack = self._confirm
        self._heard: deque[tuple[int, IncomingMessage]] = deque()
        self._has_heard = anyio.Event()
        self._refusals: dict[str, tuple[str, str]] = {}
        self._ended = anyio.Event()
        self._started = anyio.Event()
        self._reason = messages.CONNECTION_ENDED

    def listen(self) -> None:
        """Register handlers for the library's events, which arrive in the order of the stream."""
        handlers: dict[str, Callable[[Any], None]] = {
            "session_start": lambda _: self._started.set(),
            "disconnected": lambda _: self._end(messages.CONNECTION_ENDED),
            "connection_failed": lambda error: self._end(messages.unreachable(str(error))),
            "ssl_invalid_chain": self._distrust,
            "failed_all_auth": lambda _: self._end(
                messages.XMPP_LOGIN_REFUSED if self._is_safe() else messages.XMPP_NOT_ENCRYPTED
            ),
            "message": self._take_direct,
            "groupchat_message": self._take_in_room,
            "presence_error": self._rooms.take_refusal,
            "message_error": self._take_refusal,
            "groupchat_message_error": self._take_refusal,
        }
        for event, handler in handlers.items():
            self.client.add_event_handler(event, handler)

    async def begin(self) -> None:
        """Wait for the session, join the rooms, and announce presence for direct messages."""
        with anyio.fail_after(CONNECT_TIMEOUT_S):
            await self._started.wait()
        if self._ended.is_set():
            await anyio.sleep(REASON_S)
            raise PlatformError(self._reason)
        if not self._is_safe():
            raise PlatformError(messages.XMPP_NOT_ENCRYPTED)
        await self._rooms.join()
        self.client.send_presence()

    async def run(self) -> None:
        """Pass on received messages."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._raise_at_end)
            tasks.start_soon(self._stay)
            while True:
                while self._heard:
                    await self._context.receive(self._heard[0][1])
                    self._heard.popleft()
                    if self._stream.enabled_in:
                        self._confirm()
                self._has_heard = anyio.Event()
                await self._has_heard.wait()

    def _confirm(self) -> None:
        """Confirm stored messages; the server keeps unconfirmed ones for the next connection."""
        handled = self._stream.handled
        if self._heard:
            self._stream.handled = max(0, self._heard[0][0] - 1)
        self._send_ack()
        self._stream.handled = handled

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        """Send a message; wait until the server has accepted it."""
        return await self._send(place, message.text)

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        """Replace a message with a corrected version."""
        await self._send(place, text, replaced=message_id)

    async def send_file(self, place: Place, file: OutgoingFile) -> str:
        """Upload a file and send its URL."""
        self._rooms.check(place)
        address = await upload_file(self._settings, self.client, file)
        return await self._send(place, address, file_address=address)

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        """Download a file from a server that the settings allow."""
        return await fetch_file(self._settings, attachment.reference, max_bytes)

    async def _send(self, place: Place, text: str, *, replaced: str = "", file_address: str = "") -> str:
        kind = "chat" if place.is_direct else "groupchat"
        self._rooms.check(place)
        stanza = self.client.make_message(mto=place.room, mbody=_allowed(text), mtype=kind)
        message_id = stanza["id"] = token_hex(12)
        if replaced:
            stanza["replace"]["id"] = replaced
        if file_address:
            stanza["oob"]["url"] = file_address
        if place.thread:
            stanza["thread"] = place.thread
        stanza.send()
        await self._ping()  # an immediate refusal arrives before the reply to the ping
        if refusal := self._refusals.pop(message_id, None):
            raise PlatformError(messages.server_refused(refusal[1]), is_permanent=refusal[0] in PERMANENT)
        return message_id

    async def _ping(self) -> None:
        """Wait until the server has processed everything sent so far. Raises PlatformError."""
        errors: Any = import_module("slixmpp.exceptions")
        try:
            await self.client.plugin["xep_0199"].send_ping(
                self.client.boundjid.domain, timeout=REPLY_TIMEOUT_S
            )
        except errors.IqError:
            pass  # an error is a reply, too
        except (errors.IqTimeout, errors.XMPPError, TimeoutError) as error:
            raise PlatformError(messages.NO_ANSWER_IN_TIME, may_have_arrived=True) from error

    async def _stay(self) -> None:
        """Detect a dead connection, and retry rooms that could not be joined."""
        while True:
            await anyio.sleep(QUIET_S)
            await self._ping()
            await self._rooms.join()

    async def _raise_at_end(self) -> None:
        await self._ended.wait()
        raise PlatformError(self._reason)

    def _end(self, reason: str) -> None:
        if not self._ended.is_set():
            self._reason = reason
            self._ended.set()
            self._started.set()

    def _distrust(self, error: object) -> None:
        """Record that the connection ended because of the server's certificate."""
        self._end("")
        self._reason = messages.xmpp_not_trusted(str(error))

    def _is_safe(self) -> bool:
        """Return whether the connection is encrypted or does not have to be."""
        transport = self.client.transport
        return self._settings.tls == "none" or bool(transport and transport.get_extra_info("ssl_object"))

    def _take_direct(self, stanza: Any) -> None:
        """Handle a direct message, whose sender the server states."""
        sender = str(stanza["from"].bare)
        is_room = (
            sender in self._context.rooms
            or stanza.xml.find("{http://jabber.org/protocol/muc#user}x") is not None
        )
        if stanza["type"] not in ("chat", "normal") or is_room or sender == self._settings.jid.lower():
            return
        self._take(stanza, sender, Place(sender, is_direct=True))

    def _take_in_room(self, stanza: Any) -> None:
        """Handle a message in a room that reveals the sender's address; ignore old messages (marked as delayed)."""
        room, nick = str(stanza["from"].bare), str(stanza["from"].resource)
        if room not in self._rooms.nicks or nick == self._rooms.nicks[room] or not nick:
            return
        if stanza.xml.find("{urn:xmpp:delay}delay") is not None:
            return
        if sender := self._rooms.sender(room, nick):
            self._take(stanza, sender, Place(room, str(stanza["thread"] or "")))

    def _take(self, stanza: Any, sender: str, place: Place) -> None:
        body = str(stanza["body"] or "")
        has_other_version = stanza.xml.find("{urn:xmpp:message-correct:0}replace") is not None
        if not body or has_other_version or stanza.xml.find(EME) is not None:
            return
        address = str(stanza["oob"]["url"] or "")
        has_file = bool(address) and body.strip() == address
        name = file_name(address)
        kind = guess_type(name)[0] or "application/octet-stream"
        called = self._rooms.nicks.get(place.room, "")
        is_called = bool(called) and body.lower().startswith(called.lower())
        message = IncomingMessage(
            f"{sender}:{stanza['id'] or token_hex(8)}",
            place,
            sender,
            "" if has_file else body[len(called) :].lstrip(" ,:") if is_called else body,
            is_addressed=place.is_direct or called.lower() in body.lower(),
            attachments=(Attachment(address, name, kind),) if has_file else (),
        )
        if len(self._heard) >= MAX_HEARD:
            self._end(messages.FLOODED)
            return
        self._heard.append((self._stream.handled, message))
        self._has_heard.set()

    def _take_refusal(self, stanza: Any) -> None:
        """Record that one of our messages was refused."""
        if len(self._refusals) < MAX_REFUSALS:
            error = stanza["error"]
            self._refusals[str(stanza["id"])] = (str(error["type"]), str(error["text"] or error["condition"]))


class XmppPlugin:
    """Connects to XMPP servers."""

    limits = LIMITS
    secrets = ("password",)
    package = "slixmpp"

    @asynccontextmanager
    async def connect(self, context: PlatformContext) -> AsyncGenerator[Platform]:
        """Log in."""
        client = _client(context.settings, context.secrets["password"])
        platform = XmppPlatform(context, client)
        platform.listen()
        settings: XmppSettings = context.settings
        try:
            client.connect(settings.host, settings.port if settings.host else None)
            await platform.begin()
            yield platform
        finally:
            with anyio.CancelScope(shield=True):
                await disconnect(client)


async def disconnect(client: Any) -> None:
    """Close a connection and end the library's sending task."""
    await client.disconnect(wait=END_GRACE_S)
    client.cancel_connection_attempt()
    if sending := client._run_out_filters:  # this task would run until the client is garbage collected
        sending.cancel()
        await anyio.sleep(0)


def _client(settings: XmppSettings, password: str) -> Any:
    """Create an unconnected client."""
    logging.getLogger("slixmpp").setLevel(logging.CRITICAL)  # its error messages contain stanzas
    library: Any = import_module("slixmpp")
    client = library.ClientXMPP(f"{settings.jid}/{RESOURCE}", password)
    client.auto_authorize = client.auto_subscribe = None
    client.enable_plaintext = settings.tls == "none"
    client.enable_direct_tls = settings.tls == "tls" and (settings.host is None or settings.port == 5223)
    client.enable_starttls = settings.tls == "tls"
    client.ssl_context = ssl.create_default_context()
    for name in PLUGINS:
        client.register_plugin(name)
    client.register_plugin("xep_0198", {"allow_resume": False})  # the server keeps unconfirmed messages
    if settings.tls == "none":
        client.plugin["feature_mechanisms"].unencrypted_scram = True
    return client


def _allowed(text: str) -> str:
    """Remove the characters from a text that XML forbids."""
    return _FORBIDDEN.sub("", text)


PLATFORM = XmppPlugin()
