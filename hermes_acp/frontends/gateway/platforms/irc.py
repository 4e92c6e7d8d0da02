"""IRC channels and private messages, for people with an account at the network's services.

Nicks change and can be taken, so they identify nobody. A sender is identified by the services account that the server
sends with the message (`account-tag`), by the account that WHOIS shows for a member of a shared channel, or by a host
that the operator assigns to one person. WHOIS counts only if the connection stayed visible from the message to the
answer, because otherwise someone else could have taken the nick in between. Messages from unidentified senders are
ignored.
Source: "Modern IRC Client Protocol", IRCv3 "Capability Negotiation", "SASL 3.1", "account-tag"; RFC 4616.
"""

import ssl
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from fnmatch import fnmatchcase
from secrets import token_hex
from typing import Final

import anyio
import anyio.abc
from anyio.streams.tls import TLSStream
from msgspec import Struct, field

from hermes_acp.config.sections.gateway_settings import IrcSettings
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.irc_channels import IrcChannels
from hermes_acp.frontends.gateway.irc_connection import IrcConnection, log_in
from hermes_acp.frontends.gateway.irc_lines import Line, Members, Presence, lines_of, plain_text
from hermes_acp.frontends.gateway.port.platform_port import (
    Attachment,
    IncomingMessage,
    Limits,
    OutgoingMessage,
    Place,
    Platform,
    PlatformContext,
    PlatformError,
)

LIMITS: Final = Limits(
    max_length=1_200, unit="bytes", can_edit=False, burst=3, send_gap_s=1.0, ids_are_personal=True
)
CONNECT_TIMEOUT_S: Final = 60.0
REPLY_TIMEOUT_S: Final = 20.0
QUIET_S: Final = 120.0
"""The time of silence from the server after which a ping is sent."""
END_GRACE_S: Final = 2.0
MAX_BACKLOG_S: Final = 50.0
"""The maximum backlog; a message that would exceed it waits until others have been sent."""
MAX_HEARD: Final = 1_000
MAX_CANDIDATES: Final = 50
KNOWN_S: Final = 60.0
UNKNOWN_S: Final = 5.0
NOT_SENT: Final = frozenset({"401", "402", "403", "404", "407", "411", "412", "477", "531"})


class _Heard(Struct, frozen=True):
    """A message, with the connection that had the sender's nick when it arrived."""

    line: Line
    presence: Presence | None


class _Whois(Struct):
    """A WHOIS query, and the server's answer."""

    nick: str
    host: str = ""
    account: str = ""
    presence: Presence | None = None
    ended: anyio.Event = field(default_factory=anyio.Event)


class IrcPlatform:
    """A logged-in connection to an IRC server."""

    def __init__(self, context: PlatformContext, connection: IrcConnection, join_interval_s: float) -> None:
        self._context = context
        self._settings: IrcSettings = context.settings
        self._connection = connection
        self._nick = self._settings.nick
        self._members = Members()
        self._capabilities: frozenset[str] = frozenset()
        self._id, self._count = token_hex(8), 0
        self._nicks: dict[str, str] = {}
        self._asked: deque[_Whois] = deque()
        self._pongs: dict[str, anyio.Event] = {}
        self._refusals: dict[str, str] = {}
        self._channels = IrcChannels(connection, context, self._members, lambda: self._nick, join_interval_s)
        self._saying = anyio.Lock()
        self._heard: deque[_Heard] = deque()
        self._has_heard = anyio.Event()

    async def begin(self) -> None:
        """Log in, and join the configured channels."""
        settings, password = self._settings, self._context.secrets["password"]
        login = await log_in(self._connection, settings, password)
        self._nick, self._capabilities = login.nick, login.capabilities
        self._members.is_ascii = login.has_ascii_names
        if settings.login == "nickserv":
            await self._connection.send("PRIVMSG", "NickServ", f"IDENTIFY {settings.account_name} {password}")
        await self._channels.join()
        joined = await self._send_ping()
        while not joined.is_set():
            if line := await self._connection.receive():
                await self._follow(line)
        await self._channels.report()

    async def run(self) -> None:
        """Handle lines from the server, and identify the senders of messages."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._identify_all)
            tasks.start_soon(self._channels.stay, self._ping)
            is_asked = False
            while True:
                line = None
                with anyio.move_on_after(QUIET_S) as waited:
                    line = await self._connection.receive()
                if waited.cancelled_caught and is_asked:
                    raise PlatformError(messages.NO_ANSWER_IN_TIME)
                is_asked = waited.cancelled_caught
                if is_asked:
                    await self._connection.send("PING", "alive", is_urgent=True)
                elif line:
                    await self._follow(line)

    async def _follow(self, line: Line) -> None:
        """Handle a line from the server."""
        self._channels.take(line)
        match line.command:
            case "PING":
                await self._connection.send("PONG", line.params[-1], is_urgent=True)
                await self._regain_nick(self._settings.nick)
            case "PONG":
                if event := self._pongs.pop(line.params[-1], None):
                    event.set()
            case "ERROR":
                raise PlatformError(messages.server_refused(plain_text(line.params[-1])))
            case "311" | "318" | "330":
                self._take_whois(line)
            case "PRIVMSG":
                self._hear(line)
            case "INVITE":
                if room := self._room(line.params[-1]):
                    await self._connection.send("JOIN", room)
            case command if command in NOT_SENT:
                self._refusals[self._members.fold(line.param(1))] = plain_text(line.params[-1])
            case _:
                self._members.follow(line, self._nick)
                if line.command == "NICK" and self._is_own(line.nick):
                    self._nick = line.param(0)
                elif line.command in ("NICK", "QUIT"):
                    await self._regain_nick(line.nick)

    async def _regain_nick(self, freed: str) -> None:
        """Request the configured nick again if it was taken but may be free now."""
        wanted = self._settings.nick
        if not self._is_own(wanted) and self._members.fold(freed) == self._members.fold(wanted):
            await self._connection.send("NICK", wanted)

    def _hear(self, line: Line) -> None:
        """Queue a message until its sender is identified; ignore CTCP requests."""
        if "\x01" in line.params[-1] or self._is_own(line.nick) or not line.host:
            return
        if not self._is_own(line.param(0)) and not self._room(line.param(0)):
            return
        if len(self._heard) >= MAX_HEARD:
            raise PlatformError(messages.FLOODED)
        self._heard.append(_Heard(line, self._members.find(line.nick)))
        self._has_heard.set()

    async def _identify_all(self) -> None:
        while True:
            while self._heard:
                heard = self._heard.popleft()
                if sender := await self._identity(heard):  # otherwise, the sender stays unidentified
                    await self._receive(heard.line, sender)
            self._has_heard = anyio.Event()
            await self._has_heard.wait()

    async def _receive(self, line: Line, sender: str) -> None:
        self._nicks[sender] = line.nick
        self._count += 1
        room = self._room(line.param(0))
        text, name = plain_text(line.params[-1]), self._nick.lower()
        is_addressed = name in text.lower()
        if text.lower().startswith(name):
            text = text[len(name) :].lstrip(" ,:")
        message = IncomingMessage(
            line.tags.get("msgid") or f"{self._id}:{self._count}",
            Place(room) if room else Place(sender, is_direct=True),
            sender,
            text,
            is_addressed=is_addressed,
        )
        await self._context.receive(message)

    async def _identity(self, heard: _Heard) -> str:
        """Return the ID of a message's sender, or an empty string."""
        line, presence = heard.line, heard.presence
        if "account-tag" in self._capabilities:
            return self._id_of(line.tags.get("account", ""), line.host)
        if known := self._id_of("", line.host):
            return known
        if presence is None:
            return ""
        if anyio.current_time() >= presence.known_until:
            found = await self._whois(line.nick)
            if not presence.is_here or found.presence is not presence:
                return ""
            presence.identity = self._id_of(found.account, "")
            lasts_s = KNOWN_S if presence.identity else UNKNOWN_S
            presence.known_until = anyio.current_time() + lasts_s
        return presence.identity

    def _id_of(self, account: str, host: str) -> str:
        """Return the ID for an account, or for a host that is assigned to one person."""
        if account and account not in ("*", "0"):
            return f"account:{self._members.fold(account)}@{self._settings.host.lower()}"
        is_trusted = any(fnmatchcase(host.lower(), each.lower()) for each in self._settings.trusted_hosts)
        return f"host:{host.lower()}@{self._settings.host.lower()}" if host and is_trusted else ""

    async def _whois(self, nick: str) -> _Whois:
        asked = _Whois(nick)
        self._asked.append(asked)
        await self._connection.send("WHOIS", nick)
        with anyio.move_on_after(REPLY_TIMEOUT_S):
            await asked.ended.wait()
            return asked
        raise PlatformError(messages.NO_ANSWER_IN_TIME)

    def _take_whois(self, line: Line) -> None:
        """Handle a part of a WHOIS answer; the last part shows who has the nick now."""
        fold = self._members.fold
        asked = next((each for each in self._asked if fold(each.nick) == fold(line.param(1))), None)
        if asked is None:
            return
        if line.command == "311":
            asked.host = line.param(3)
        elif line.command == "330":
            asked.account = line.param(2)
        else:
            self._asked.remove(asked)
            asked.presence = self._members.find(asked.nick)
            asked.ended.set()

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        """Send a message line by line; wait until the server has accepted all lines."""
        target = place.room if not place.is_direct else await self._nick_of(place.room)
        lines = lines_of(message.text, self._nick, target)
        async with self._saying:
            backlog_s = self._connection.backlog_s(len(lines))
            if backlog_s > max(MAX_BACKLOG_S, len(lines) * self._settings.line_gap_s):
                raise PlatformError(messages.IRC_BUSY, retry_after_s=backlog_s - MAX_BACKLOG_S)
            key = self._members.fold(target)
            self._refusals.pop(key, None)
            for line in lines:
                await self._connection.send("PRIVMSG", target, line)
            await self._ping()
            if refusal := self._refusals.pop(key, ""):
                raise PlatformError(messages.server_refused(refusal))
        self._count += 1
        return f"{self._id}:{self._count}"

    async def _nick_of(self, person: str) -> str:
        """Return a person's current nick. Raises PlatformError if the person is offline."""
        now = anyio.current_time()
        for each in self._members.all():
            if each.identity == person and now < each.known_until:
                return each.nick
        kind, _, rest = person.partition(":")
        account = rest.rpartition("@")[0]
        guesses = [self._nicks.get(person, ""), account if kind == "account" else ""]
        candidates = dict.fromkeys([*guesses, *(each.nick for each in self._members.all())])
        for nick in [each for each in candidates if each and not self._is_own(each)][:MAX_CANDIDATES]:
            found = await self._whois(nick)
            if person in (self._id_of(found.account, ""), self._id_of("", found.host)):
                self._nicks[person] = nick
                return nick
        raise PlatformError(messages.irc_absent(account))

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        """Raise PlatformError, because IRC messages cannot be edited."""
        raise PlatformError(messages.NO_EDITS, is_permanent=True)

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        """Raise PlatformError, because IRC messages cannot have files."""
        raise PlatformError(messages.NO_FILES, is_permanent=True)

    async def _ping(self) -> None:
        """Wait until the server has processed everything sent so far. Raises PlatformError."""
        event = await self._send_ping()
        with anyio.move_on_after(REPLY_TIMEOUT_S):
            await event.wait()
            return
        raise PlatformError(messages.NO_ANSWER_IN_TIME, may_have_arrived=True)

    async def _send_ping(self) -> anyio.Event:
        """Send a ping; return an event that is set once the server has processed everything sent before."""
        token, event = token_hex(8), anyio.Event()
        self._pongs[token] = event
        await self._connection.send("PING", token, is_urgent=True)
        return event

    def _room(self, channel: str) -> str:
        """Return a channel's name as written in the settings, or an empty string."""
        fold = self._members.fold
        return next((each for each in self._context.rooms if fold(each) == fold(channel)), "")

    def _is_own(self, nick: str) -> bool:
        return self._members.fold(nick) == self._members.fold(self._nick)


class IrcPlugin:
    """Connects to IRC servers."""

    limits = LIMITS
    secrets: Sequence[str] = ("password",)
    package = ""

    def __init__(self, join_interval_s: float = 60.0) -> None:
        self._join_interval_s = join_interval_s

    def optional_secrets(self, settings: IrcSettings) -> Sequence[str]:
        """Return the password if the server checks the login itself: a server may need none, but services always do."""
        return self.secrets if settings.login == "server" else ()

    @asynccontextmanager
    async def connect(self, context: PlatformContext) -> AsyncGenerator[Platform]:
        """Connect and log in."""
        async with _connected(context.settings) as connection:
            platform = IrcPlatform(context, connection, self._join_interval_s)
            with anyio.fail_after(CONNECT_TIMEOUT_S):
                await platform.begin()
            yield platform


@asynccontextmanager
async def _connected(settings: IrcSettings) -> AsyncGenerator[IrcConnection]:
    """Connect for the length of the block."""
    with anyio.fail_after(CONNECT_TIMEOUT_S):
        stream: anyio.abc.ByteStream = await anyio.connect_tcp(settings.host, settings.port)
    try:
        if settings.tls == "tls":
            with anyio.fail_after(CONNECT_TIMEOUT_S):
                stream = await TLSStream.wrap(
                    stream,
                    hostname=settings.host,
                    ssl_context=ssl.create_default_context(),
                    standard_compatible=False,
                )
        connection = IrcConnection(stream, settings.line_gap_s)
        try:
            yield connection
        finally:
            with anyio.move_on_after(END_GRACE_S, shield=True), suppress(PlatformError):
                await connection.send("QUIT", is_urgent=True)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.aclose_forcefully(stream)


PLATFORM = IrcPlugin()
