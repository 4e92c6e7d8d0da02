"""Connect and log in to an IRC server.

Source: "Modern IRC Client Protocol", IRCv3 "Capability Negotiation" and "SASL 3.1"; RFC 4616.
"""

from base64 import b64encode
from typing import Final

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream
from msgspec import Struct

from hermes_acp.config.sections.gateway_settings import IrcSettings
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.irc_lines import Line, parse_line, plain_text, write_line
from hermes_acp.frontends.gateway.port.platform_port import PlatformError

BURST_LINES: Final = 4
MAX_INCOMING_BYTES: Final = 16_384
AUTHENTICATE_BYTES: Final = 400
WANTED: Final = ("account-tag", "message-tags")
USER_TITLE: Final = "hermes-acp"
READY: Final = frozenset({"376", "422"})
NICK_TAKEN: Final = frozenset({"433", "436", "437"})
REFUSED: Final = frozenset({"432", "464", "465", "902", "904", "905", "906", "908", "ERROR"})


class IrcConnection:
    """Sends lines to a server, no faster than it allows, and receives lines from it."""

    def __init__(self, stream: anyio.abc.ByteStream, gap_s: float) -> None:
        self._stream = stream
        self._lines = BufferedByteReceiveStream(stream)
        self._gap_s = gap_s
        self._free_at = 0.0
        self._writing = anyio.Lock()

    async def receive(self) -> Line | None:
        """Return the next line, or None if it is malformed. Raises PlatformError."""
        try:
            return parse_line(await self._lines.receive_until(b"\n", MAX_INCOMING_BYTES))
        except (
            anyio.EndOfStream,
            anyio.IncompleteRead,
            anyio.BrokenResourceError,
            anyio.ClosedResourceError,
        ) as error:
            raise PlatformError(messages.CONNECTION_ENDED) from error
        except anyio.DelimiterNotFound as error:
            raise PlatformError(messages.IRC_LINE_TOO_LONG) from error

    async def send(self, command: str, *params: str, is_urgent: bool = False) -> None:
        """Write a command as soon as the rate limit allows. Raises PlatformError."""
        async with self._writing:
            now = anyio.current_time()
            if not is_urgent:
                await anyio.sleep(max(0.0, self.backlog_s(0)))
                self._free_at = max(now, self._free_at) + self._gap_s
            try:
                await self._stream.send(write_line(command, *params))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
                raise PlatformError(messages.CONNECTION_ENDED, may_have_arrived=True) from error

    def backlog_s(self, lines: int) -> float:
        """Return how long sending this many more lines would take, in seconds."""
        return self._free_at - anyio.current_time() + (lines - BURST_LINES) * self._gap_s


class IrcLogin(Struct, frozen=True):
    """The result of a login: the nick, the capabilities, and how the server compares names."""

    nick: str
    capabilities: frozenset[str]
    has_ascii_names: bool


async def log_in(connection: IrcConnection, settings: IrcSettings, password: str) -> IrcLogin:
    """Log in. Raises PlatformError."""
    return await _Login(connection, settings, password).run()


class _Login:
    """A login in progress."""

    def __init__(self, connection: IrcConnection, settings: IrcSettings, password: str) -> None:
        self._connection = connection
        self._settings = settings
        self._password = password
        self._nick = settings.nick
        self._offered: set[str] = set()
        self._granted: set[str] = set()
        self._has_ascii_names = False

    async def run(self) -> IrcLogin:
        """Send the login commands, and respond to the server until it is ready."""
        await self._connection.send("CAP", "LS", "302")
        if self._settings.login == "server" and self._password:
            await self._connection.send("PASS", self._password)
        await self._connection.send("NICK", self._nick)
        await self._connection.send("USER", self._settings.account_name, "0", "*", USER_TITLE)
        while (line := await self._connection.receive()) is None or line.command not in READY:
            if line:
                await self._answer(line)
        return IrcLogin(self._nick, frozenset(self._granted), self._has_ascii_names)

    async def _answer(self, line: Line) -> None:
        command, connection = line.command, self._connection
        if command in REFUSED:
            raise PlatformError(
                messages.server_refused(plain_text(line.params[-1] if line.params else command))
            )
        if command == "PING":
            await connection.send("PONG", line.params[-1], is_urgent=True)
        elif command == "CAP":
            await self._negotiate(line)
        elif command == "AUTHENTICATE":
            await self._authenticate()
        elif command == "903":
            await connection.send("CAP", "END")
        elif command in NICK_TAKEN:
            self._nick = f"{self._nick}_"
            await connection.send("NICK", self._nick)
        elif command == "001":
            self._nick = line.param(0)
        elif command == "005":
            self._has_ascii_names |= any(each.lower() == "casemapping=ascii" for each in line.params)

    async def _negotiate(self, line: Line) -> None:
        """Request the useful capabilities that the server offers, and SASL if it is configured."""
        kind, names = line.param(1), line.params[-1].split()
        if kind == "LS":
            self._offered.update(name.partition("=")[0] for name in names)
            if line.param(2) == "*":  # the list continues on another line
                return
            has_sasl = self._settings.login == "sasl"
            if has_sasl and "sasl" not in self._offered:
                raise PlatformError(messages.IRC_NO_SASL)
            wanted = [each for each in WANTED if each in self._offered] + (["sasl"] if has_sasl else [])
            if wanted:
                await self._connection.send("CAP", "REQ", " ".join(wanted))
            else:
                await self._connection.send("CAP", "END")
        elif kind == "ACK":
            self._granted.update(names)
            if "sasl" in names:
                await self._connection.send("AUTHENTICATE", "PLAIN")
            else:
                await self._connection.send("CAP", "END")
        elif kind == "NAK":
            raise PlatformError(messages.server_refused(line.params[-1]))

    async def _authenticate(self) -> None:
        proof = b64encode(f"\0{self._settings.account_name}\0{self._password}".encode()).decode()
        pieces = [proof[at : at + AUTHENTICATE_BYTES] for at in range(0, len(proof), AUTHENTICATE_BYTES)]
        if len(pieces[-1]) == AUTHENTICATE_BYTES:
            pieces.append("+")
        for piece in pieces:
            await self._connection.send("AUTHENTICATE", piece)
