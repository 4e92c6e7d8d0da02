"""A real InspIRCd with Anope's services: accounts that the server names with each message, and SASL logins."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

import anyio

from hermes_acp.config.sections.gateway_settings import IrcSettings
from tests.gateway.irc_server import PASSWORD, PEOPLE, IrcWorld, Typist
from tests.ports import quiet_port, wait_for_listener

PATH: Final = f"{os.environ.get('PATH', '')}:/usr/sbin"
INSPIRCD: Final = shutil.which("inspircd", path=PATH) or ""
ANOPE: Final = shutil.which("anope", path=PATH) or ""
MODULES: Final = (
    *("cap", "ircv3", "ircv3_accounttag", "ircv3_msgid", "ircv3_ctctags", "sasl", "services_account"),
    *("spanningtree", "hidechans"),
)
SERVER: Final = """
<config format="xml">
<server name="irc.gateway.test" description="test" network="Test" id="001">
<admin name="a" nick="a" email="a@gateway.test">
<path datadir="{folder}" logdir="{folder}" runtimedir="{folder}">
<bind address="127.0.0.1" port="{port}" type="clients">
<bind address="127.0.0.1" port="{link}" type="servers">
<connect name="main" allow="*" timeout="60" hardsendq="1M" softsendq="65536" recvq="65536" threshold="1000"
 commandrate="1000000" fakelag="no" localmax="1000" globalmax="1000" resolvehostnames="no" useident="no">
<options casemapping="rfc1459">
<files motd="{folder}/motd">
<sasl target="services.gateway.test">
<link name="services.gateway.test" ipaddr="127.0.0.1" port="{link}" allowmask="*" sendpass="link" recvpass="link">
<uline server="services.gateway.test" silent="yes">
<pid file="{folder}/inspircd.pid">
<log method="file" type="*" level="default" target="{folder}/inspircd.log">
"""
SERVICES: Final = """
uplink {{ host = "127.0.0.1"; ipv6 = no; ssl = no; port = {link}; password = "link" }}
serverinfo {{ name = "services.gateway.test"; description = "x"; pid = "{folder}/anope.pid"; motd = "{folder}/motd" }}
module {{ name = "inspircd3" }}
networkinfo {{ networkname = "Test"; nicklen = 31; userlen = 10; hostlen = 64; chanlen = 32; modelistsize = 100 }}
options {{ casemap = "rfc1459"; strictpasswords = no; readtimeout = 1s; warningtimeout = 4h; timeoutcheck = 1s
 retrywait = 1s; updatetimeout = 5m; expiretimeout = 30m; seed = 1 }}
service {{ nick = "NickServ"; user = "services"; host = "services.gateway.test"; gecos = "x" }}
module {{ name = "nickserv"; client = "NickServ"; forceemail = no; regdelay = 0s; expire = 0d
 nonicknameownership = yes; guestnickprefix = "Guest"; passlen = 32 }}
command {{ service = "NickServ"; name = "REGISTER"; command = "nickserv/register" }}
command {{ service = "NickServ"; name = "IDENTIFY"; command = "nickserv/identify" }}
module {{ name = "ns_identify" }}
module {{ name = "ns_register"; registration = "none"; nickregdelay = 0s; unconfirmedexpire = 1d }}
module {{ name = "m_sasl" }}
module {{ name = "enc_sha256" }}
"""


@contextmanager
def inspircd(folder: Path) -> Generator[int]:
    """Run the server and its services for the block; return the server's port."""
    port = quiet_port()
    names = {"folder": str(folder), "port": port, "link": port + 1}
    (folder / "motd").write_text("Hello\n")
    modules = "".join(f'<module name="{name}">\n' for name in MODULES)
    (folder / "inspircd.conf").write_text(SERVER.format(**names) + modules)
    (folder / "services.conf").write_text(SERVICES.format(**names))
    root = ["--runasroot"] if os.geteuid() == 0 else []
    services = [ANOPE, "--nofork", f"--confdir={folder}", "--config=services.conf", f"--dbdir={folder}"]
    server = [INSPIRCD, "--nofork", *root, f"--config={folder}/inspircd.conf"]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        with (folder / "servers.log").open("wb") as log:
            processes.append(subprocess.Popen(server, stdout=log, stderr=log, cwd=folder))
            wait_for_listener(port + 1)  # services that are refused wait for seconds before they try again
            services += [f"--logdir={folder}", "--modulesdir=/usr/lib/anope"]
            processes.append(subprocess.Popen(services, stdout=log, stderr=log, cwd=folder))
        yield port
    finally:
        for process in processes:
            process.kill()
            process.wait()


class RegisteredWorld(IrcWorld):
    """People with registered nicks, and an agent with an account."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.settings = IrcSettings(host="127.0.0.1", port=port, nick="agent", tls="none", line_gap_s=0.02)

    async def log_in(self, typist: Typist, account: str) -> None:
        """Register the nick; retry until the services are available."""
        while True:
            answers = len(typist.received)
            await typist.type(f"PRIVMSG NickServ :REGISTER {PASSWORD}")
            while len(typist.received) == answers:
                await typist.news.wait()
            if " 401 " not in typist.received[answers]:
                break
            await anyio.sleep(0.1)
        await typist.wait_for("registered")


@asynccontextmanager
async def registered_world(port: int) -> AsyncGenerator[RegisteredWorld]:
    """Register everybody, and have them join."""
    world = RegisteredWorld(port)
    async with anyio.create_task_group() as tasks:
        agent = await world.join(tasks, "agent", "agent")
        await agent.type("QUIT")
        await agent.wait_for("ERROR")

        async def arrive(name: str) -> None:
            world.people[name] = await world.join(tasks, name, name)

        async with anyio.create_task_group() as arriving:  # the server admits newcomers once a second
            for name in PEOPLE:
                arriving.start_soon(arrive, name)
        try:
            yield world
        finally:
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                for typist in (agent, *world.people.values()):
                    await typist.close()
