"""A real ngircd with anna, bert and eve, and services connected by a server link, as usual."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from hermes_acp.config.sections.gateway_settings import IrcSettings
from hermes_acp.frontends.gateway.port.platform_port import PlatformPlugin
from tests.contract.platform_suite import Shown
from tests.ports import quiet_port

NGIRCD: Final = shutil.which("ngircd", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or ""
PEOPLE: Final = ("anna", "bert", "eve")
PASSWORD: Final = "secret-of-the-test"
ROOM: Final = "#team"
WAIT_S: Final = 20.0
POLL_S: Final = 0.02
CONFIG: Final = """
[Global]
Name = irc.gateway.test
Info = test
{password}
Listen = 127.0.0.1
Ports = {port}
[Limits]
MaxConnectionsIP = 0
MaxJoins = 0
MaxPenaltyTime = 0
[Options]
DNS = no
Ident = no
PAM = no
AllowedChannelTypes = #
{tls}
[Server]
Name = services.gateway.test
MyPassword = link
PeerPassword = link
ServiceMask = *Serv
"""


@contextmanager
def ngircd(folder: Path, tls: tuple[Path, Path] | None = None, password: str = PASSWORD) -> Generator[int]:
    """Run a server for the block; return its port. With a key and a certificate, the next port has TLS."""
    line = f"Password = {password}" if password else ""
    port = quiet_port()
    secure = f"[SSL]\nKeyFile = {tls[0]}\nCertFile = {tls[1]}\nPorts = {port + 1}" if tls else ""
    config = folder / "ngircd.conf"
    config.write_text(CONFIG.format(port=port, password=line, tls=secure))
    with (folder / "ngircd.log").open("wb") as log:
        process = subprocess.Popen([NGIRCD, "-n", "-f", str(config)], stdout=log, stderr=log, cwd=folder)
    try:
        yield port
    finally:
        process.kill()
        process.wait()


async def connect(port: int) -> anyio.abc.SocketStream:
    """Connect as soon as the server listens."""
    with anyio.fail_after(WAIT_S):
        while True:
            try:
                return await anyio.connect_tcp("127.0.0.1", port)
            except OSError:
                await anyio.sleep(POLL_S)


class Typist:
    """A person who types IRC lines and reads."""

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self._stream = stream
        self._lines = BufferedByteReceiveStream(stream)
        self.received: list[str] = []
        self.news = anyio.Event()

    async def type(self, *lines: str) -> None:
        """Send lines."""
        await self._stream.send("".join(f"{line}\r\n" for line in lines).encode())

    async def read(self, take: Callable[[str], None] = lambda line: None) -> None:
        """Read until the connection ends."""
        while True:
            try:
                line = (await self._lines.receive_until(b"\n", 65_536)).decode().rstrip("\r")
            except (
                anyio.EndOfStream,
                anyio.IncompleteRead,
                anyio.BrokenResourceError,
                anyio.ClosedResourceError,
            ):
                return
            if line.startswith("PING"):
                await self.type(f"PONG {line[5:]}")
            self.received.append(line)
            take(line)
            self.news.set()
            self.news = anyio.Event()

    async def wait_for(self, part: str) -> str:
        """Return the first line that contains a text; wait for it if necessary."""
        with anyio.move_on_after(WAIT_S):
            while True:
                if found := next((line for line in self.received if part in line), ""):
                    return found
                await self.news.wait()
        raise AssertionError((part, self.received[-20:]))

    async def close(self) -> None:
        """Disconnect."""
        await self._stream.aclose()


class Services:
    """NickServ: a user who sends an account and its password is logged in to it."""

    def __init__(self, typist: Typist) -> None:
        self._typist = typist
        self._replies: list[str] = []

    async def run(self) -> None:
        """Link to the server, and serve."""
        await self._typist.type(
            "PASS link 0210-IRC+ services|1.0:Mo", "SERVER services.gateway.test 1 :Services"
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._typist.read, self._take)
            while True:
                await self._typist.news.wait()
                replies, self._replies = self._replies, []
                await self._typist.type(*replies)

    def _take(self, line: str) -> None:
        words = line.split()
        if "SERVER" in words[:2]:  # The server has introduced itself.
            self._replies.append(
                ":services.gateway.test NICK NickServ 1 services services.gateway.test 1 + :Services"
            )
        elif words[1:2] == ["PRIVMSG"] and words[3:4] == [":IDENTIFY"]:
            nick, account = words[0][1:].partition("!")[0], words[4]
            self._replies.append(f":services.gateway.test METADATA {nick} accountname :{account}")
            self._replies.append(f":NickServ NOTICE {nick} :You are now identified for {account}")


class IrcWorld:
    """People in one channel of one server."""

    platform = "irc"
    plugin: PlatformPlugin | None = None
    repeats = False
    room = ROOM

    def __init__(self, port: int) -> None:
        self.port = port
        self.secrets = {"password": PASSWORD}
        self.settings = IrcSettings(
            host="127.0.0.1", port=port, nick="agent", tls="none", login="server", line_gap_s=0.02
        )
        self.people: dict[str, Typist] = {}
        self._shown: dict[tuple[str, str], Shown] = {}
        self._lines: dict[tuple[str, str], list[str]] = {}

    def id_of(self, name: str) -> str:
        return f"account:{name}@127.0.0.1"

    def forget(self) -> None:
        self._shown.clear()
        self._lines.clear()

    async def say(self, name: str, text: str) -> None:
        await self.people[name].type(f"PRIVMSG agent :{text}")

    async def say_in_room(self, name: str, text: str) -> None:
        await self.people[name].type(f"PRIVMSG {self.room} :agent: {text}")

    def direct(self, name: str) -> Shown:
        return self._shown.setdefault((name, name), Shown())

    def seen_in_room(self, name: str) -> Shown:
        return self._shown.setdefault((name, self.room), Shown())

    async def join(self, tasks: anyio.abc.TaskGroup, nick: str, account: str = "") -> Typist:
        """Return a person who is in the channel, and logged in if an account is named."""
        typist = Typist(await connect(self.port))
        tasks.start_soon(typist.read, partial(self._take, nick))
        await typist.type(f"PASS {PASSWORD}", f"NICK {nick}", f"USER {nick} 0 * :{nick}")
        await typist.wait_for(" 376 ")
        if account:
            await self.log_in(typist, account)
        await typist.type(f"JOIN {self.room}")
        await typist.wait_for(" 366 ")
        return typist

    async def log_in(self, typist: Typist, account: str) -> None:
        """Log somebody in to an account."""
        await typist.type(f"PRIVMSG NickServ :IDENTIFY {account} password")
        await typist.wait_for("now identified")

    def _take(self, nick: str, line: str) -> None:
        """Show what the agent says; the lines of one message cannot be distinguished from those of the next."""
        words = line.split(" ", 3)
        if not words[0].startswith(":agent") or words[1:2] != ["PRIVMSG"]:
            return
        key = (nick, words[2])
        lines = self._lines.setdefault(key, [])
        lines.append(words[3].removeprefix(":"))
        text = "\n".join(lines)
        _, is_asked, rest = text.rpartition("no answer means no")
        if not is_asked or "\nno " in rest:  # A question is complete with its last answer.
            self._shown.setdefault(key, Shown()).put("all", text)


@asynccontextmanager
async def irc_world(port: int) -> AsyncGenerator[IrcWorld]:
    """Run the services, and have everybody join."""
    world = IrcWorld(port)
    async with anyio.create_task_group() as tasks:
        services = Typist(await connect(port))
        tasks.start_soon(Services(services).run)
        await services.wait_for("SERVER")
        for name in PEOPLE:
            world.people[name] = await world.join(tasks, name, name)
        try:
            yield world
        finally:
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                for typist in (services, *world.people.values()):
                    await typist.close()
