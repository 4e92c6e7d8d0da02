"""A real Prosody with accounts for the agent and three people, a room that shows who they are, and uploads."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import anyio
import anyio.abc
import httpx2

from hermes_acp.config.sections.gateway_settings import XmppSettings
from hermes_acp.frontends.gateway.platforms.xmpp import disconnect
from hermes_acp.frontends.gateway.port.platform_port import PlatformPlugin
from tests.contract.platform_suite import Shown, file_mark
from tests.ports import quiet_port

PROSODY: Final = shutil.which("prosody", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or ""
DOMAIN: Final = "gateway.test"
ROOMS: Final = f"rooms.{DOMAIN}"
PASSWORD: Final = "secret-of-the-test"
PEOPLE: Final = ("anna", "bert", "eve")
WAIT_S: Final = 20.0
POLL_S: Final = 0.05
CONFIG: Final = """
pidfile = "{folder}/prosody.pid"
data_path = "{folder}/data"
certificates = "{folder}"
daemonize = false
run_as_root = true
log = {{ info = "{folder}/prosody.log" }}
interfaces = {{ "127.0.0.1" }}
c2s_ports = {{ {port} }}
s2s_ports = {{ }}
http_ports = {{ {http} }}
http_interfaces = {{ "127.0.0.1" }}
https_ports = {{ }}
http_external_url = "http://127.0.0.1:{http}/"
modules_enabled = {{ "roster", "saslauth", "disco", "offline", "ping", "smacks", "carbons", {more} }}
modules_disabled = {{ "s2s" }}
authentication = "internal_plain"
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
VirtualHost "{domain}"
Component "{rooms}" "muc"
  muc_room_default_public_jids = true
  muc_room_default_persistent = true
  muc_room_locking = false
"""
UPLOADS: Final = f"""
Component "upload.{DOMAIN}" "http_file_share"
  http_host = "127.0.0.1"
  http_file_share_size_limit = 100000
"""


@contextmanager
def prosody(
    folder: Path, *, encrypts: bool = True, stores_files: bool = True, archives: bool = False
) -> Generator[int]:
    """Run a server for the block; return its port. The next port is for uploads."""
    more = ('"tls", ' if encrypts else "") + ('"mam"' if archives else "")
    port = quiet_port()
    accounts = folder / "data" / DOMAIN.replace(".", "%2e") / "accounts"
    accounts.mkdir(parents=True)
    for name in ("agent", *PEOPLE):
        (accounts / f"{name}.dat").write_text(f'return {{ ["password"] = "{PASSWORD}"; }};\n')
    config = folder / "prosody.cfg.lua"
    text = CONFIG.format(folder=folder, port=port, http=port + 1, domain=DOMAIN, rooms=ROOMS, more=more)
    config.write_text(text + (UPLOADS if stores_files else ""))
    with (folder / "prosody.out").open("wb") as log:
        command = [PROSODY, "--config", str(config), "-F"]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        yield port
    finally:
        process.kill()
        process.wait()


def make_certificate(folder: Path) -> Path:
    """Create a certificate for the server, where the server looks for one."""
    key, certificate = folder / f"{DOMAIN}.key", folder / f"{DOMAIN}.crt"
    subject = ["-subj", f"/CN={DOMAIN}", "-addext", f"subjectAltName=DNS:{DOMAIN}"]
    pair = ["-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(
        ["openssl", "req", "-x509", "-days", "2", *pair, *subject], check=True, capture_output=True
    )
    return certificate


async def wait_for_port(port: int) -> None:
    """Wait until the server listens."""
    with anyio.fail_after(WAIT_S):
        while True:
            try:
                stream = await anyio.connect_tcp("127.0.0.1", port)
            except OSError:
                await anyio.sleep(POLL_S)
            else:
                await stream.aclose()
                return


class XmppWorld:
    """People with accounts on one server."""

    platform = "xmpp"
    plugin: PlatformPlugin | None = None
    repeats = True
    room = f"team@{ROOMS}"

    def __init__(self, port: int, downloads: anyio.abc.TaskGroup) -> None:
        self.port = port
        self._downloads = downloads
        self.secrets = {"password": PASSWORD}
        self.settings = XmppSettings(jid=f"agent@{DOMAIN}", host="127.0.0.1", port=port, tls="none")
        self.clients: dict[str, Any] = {}
        self._shown: dict[tuple[str, str], Shown] = {}

    def id_of(self, name: str) -> str:
        return f"{name}@{DOMAIN}"

    async def open(self) -> None:
        """Log everybody in, and have them join the room."""
        await wait_for_port(self.port)
        for name in PEOPLE:
            client = self.clients[name] = await self.log_in(name)
            client.add_event_handler("message", partial(self._show, name))
            await client.plugin["xep_0045"].join_muc_wait(
                import_module("slixmpp").JID(self.room), name, maxstanzas=0, timeout=WAIT_S
            )

    async def log_in(self, name: str) -> Any:
        """Return a person's client."""
        library: Any = import_module("slixmpp")
        client = library.ClientXMPP(self.id_of(name), PASSWORD)
        client.enable_plaintext, client.enable_starttls, client.enable_direct_tls = True, False, False
        for plugin in ("xep_0030", "xep_0045", "xep_0066", "xep_0308", "xep_0363"):
            client.register_plugin(plugin)
        client.plugin["feature_mechanisms"].unencrypted_scram = True
        started = anyio.Event()

        def start(_: Any) -> None:
            started.set()

        client.add_event_handler("session_start", start)
        client.connect("127.0.0.1", self.port)
        with anyio.fail_after(WAIT_S):
            await started.wait()
        client.send_presence()
        return client

    async def close(self) -> None:
        for client in self.clients.values():
            await disconnect(client)

    def forget(self) -> None:
        self._shown.clear()

    async def say(self, name: str, text: str) -> None:
        self.clients[name].send_message(mto=self.id_of("agent"), mbody=text, mtype="chat")

    async def say_in_room(self, name: str, text: str) -> None:
        self.clients[name].send_message(mto=self.room, mbody=f"agent: {text}", mtype="groupchat")

    def direct(self, name: str) -> Shown:
        return self._shown.setdefault((name, self.id_of("agent")), Shown())

    def seen_in_room(self, name: str) -> Shown:
        return self._shown.setdefault((name, self.room), Shown())

    def _show(self, name: str, stanza: Any) -> None:
        """Show what the agent says; a correction replaces the original."""
        sender = stanza["from"]
        is_from_agent = sender.bare == self.id_of("agent") or str(sender) == f"{self.room}/agent"
        if not is_from_agent or not stanza["body"]:
            return
        corrected = stanza.xml.find("{urn:xmpp:message-correct:0}replace")
        message_id = stanza["id"] if corrected is None else corrected.attrib["id"]
        shown = self._shown.setdefault((name, sender.bare), Shown())
        shown.put(message_id, stanza["body"])
        if address := stanza["oob"]["url"]:
            self._downloads.start_soon(self._show_file, shown, message_id, address)

    async def _show_file(self, shown: Shown, message_id: str, address: str) -> None:
        async with httpx2.AsyncClient() as http:
            answer = await http.get(address)
        answer.raise_for_status()
        shown.put(message_id, file_mark(unquote(PurePosixPath(urlsplit(address).path).name), answer.content))


@asynccontextmanager
async def xmpp_world(port: int) -> AsyncGenerator[XmppWorld]:
    """Log in the accounts of a server."""
    async with anyio.create_task_group() as downloads:
        world = XmppWorld(port, downloads)
        try:
            await world.open()
            yield world
        finally:
            downloads.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await world.close()
