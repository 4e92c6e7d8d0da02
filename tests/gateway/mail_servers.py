"""Real Dovecot and OpenSMTPD with mailboxes for the agent and three people. They need root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import anyio

from hermes_acp.config.sections.gateway_settings import EmailSettings
from hermes_acp.frontends.gateway.port.platform_port import PlatformPlugin
from tests.contract.platform_suite import Shown, file_mark
from tests.ports import quiet_port

SMTP: Final[Any] = import_module("aiosmtplib")
DOMAIN = "gateway.test"
AUTHORITY = "mx.gateway.test"
PEOPLE = ("anna", "bert", "eve")
POLL_S = 0.1
LMTP = Path("/usr/lib/dovecot/lmtp")
IS_POSSIBLE = os.geteuid() == 0 and LMTP.exists() and all(map(shutil.which, ("dovecot", "smtpd")))
DOVECOT = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/dovecot.log
ssl = no
disable_plaintext_auth = no
protocols = imap lmtp
listen = 127.0.0.1
first_valid_uid = 1
mail_location = maildir:{folder}/mail/%n
passdb {{
  driver = static
  args = password=secret-of-the-test
}}
userdb {{
  driver = static
  args = uid=mail gid=mail home={folder}/mail/%n
}}
default_login_user = dovenull
default_internal_user = dovecot
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {lmtp}
  }}
}}
auth_username_format = %Ln
"""
SMTPD = """
listen on 127.0.0.1 port {smtp}
action "deliver" lmtp "127.0.0.1:{lmtp}" rcpt-to virtual {{ "@" = mail }}
match from any for any action "deliver"
"""


@contextmanager
def mail_servers(folder: Path) -> Generator[tuple[int, int]]:
    """Run both servers for the block; return the ports of IMAP and SMTP."""
    ports = {"imap": quiet_port(), "lmtp": quiet_port(), "smtp": quiet_port()}
    for place in (folder, *folder.parents):
        if place.stat().st_uid == os.geteuid() and place != Path("/"):
            place.chmod(place.stat().st_mode | 0o011)
    mail = folder / "mail"
    mail.mkdir()
    mail.chmod(0o777)
    dovecot, smtpd = folder / "dovecot.conf", folder / "smtpd.conf"
    dovecot.write_text(DOVECOT.format(folder=folder, **ports))
    smtpd.write_text(SMTPD.format(**ports))
    smtpd.chmod(0o600)
    with (folder / "servers.log").open("wb") as log:
        processes = [
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            for command in (["dovecot", "-F", "-c", str(dovecot)], ["smtpd", "-d", "-f", str(smtpd)])
        ]
    try:
        yield ports["imap"], ports["smtp"]
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)


class MailWorld:
    """Mailboxes, and the mail programs that read them."""

    platform = "email"
    room = ""
    plugin: PlatformPlugin | None = None
    repeats = True

    def __init__(self, folder: Path, imap: int, smtp: int) -> None:
        self._folder = folder / "mail"
        self._smtp = smtp
        self._shown: dict[str, Shown] = {}
        self._seen: set[Path] = set()
        self._last: dict[str, str] = {}
        self.secrets = {"password": "secret-of-the-test"}
        self.settings = EmailSettings(
            address=f"agent@{DOMAIN}",
            imap_host="127.0.0.1",
            smtp_host="127.0.0.1",
            imap_port=imap,
            smtp_port=smtp,
            tls="none",
            authserv_id=AUTHORITY,
        )

    def id_of(self, name: str) -> str:
        return f"{name}@{DOMAIN}"

    def forget(self) -> None:
        self._shown.clear()

    async def say(self, name: str, text: str) -> None:
        await self.send(name, text, f"{AUTHORITY}; dmarc=pass header.from={DOMAIN}")

    async def say_in_room(self, name: str, text: str) -> None:
        raise AssertionError("mails have no rooms")

    def direct(self, name: str) -> Shown:
        return self._shown.setdefault(name, Shown())

    def seen_in_room(self, name: str) -> Shown:
        raise AssertionError("mails have no rooms")

    async def send(self, name: str, text: str, results: str = "", **headers: str) -> None:
        """Send a mail with the border server's statement about its sender."""
        mail = EmailMessage()
        if results:
            mail["Authentication-Results"] = results
        mail["From"], mail["To"] = f"{name} <{self.id_of(name)}>", self.settings.address
        mail["Subject"] = "Re: Work"
        mail["References"] = "<root-of-the-thread@gateway.test>"
        for header, value in headers.items():
            del mail[header.replace("_", "-")]
            mail[header.replace("_", "-")] = value
        mail["Message-ID"] = f"<{os.urandom(8).hex()}@{DOMAIN}>"
        mail.set_content(f"{text}\n\nOn Monday the agent wrote:\n> yes AAAAA\n> /stop\n")
        await SMTP.send(mail, hostname="127.0.0.1", port=self._smtp, start_tls=False)

    async def reachable(self) -> None:
        """Wait until the server accepts mails."""
        with anyio.fail_after(30):
            while True:
                try:
                    stream = await anyio.connect_tcp("127.0.0.1", self._smtp)
                    await stream.aclose()
                    return
                except OSError:
                    await anyio.sleep(POLL_S)

    async def follow(self) -> None:
        """Show every mail that arrives."""
        while True:
            for name in PEOPLE:
                for path in (self._folder / name / "new").glob("*"):
                    if path not in self._seen:
                        self._seen.add(path)
                        mail = message_from_bytes(path.read_bytes(), policy=policy.default)
                        body = mail.get_body(("plain",))
                        assert body is not None
                        self._last[name] = str(mail["Message-ID"])
                        self.direct(name).put(path.name, str(body.get_content()))
                        for part in mail.iter_attachments():
                            content = part.get_payload(decode=True)
                            assert isinstance(content, bytes)
                            mark = file_mark(str(part.get_filename()), content)
                            self.direct(name).put(f"{path.name}/file", mark)
            await anyio.sleep(POLL_S)

    def last_id(self, name: str) -> str:
        """Return the ID of the latest mail that a person got."""
        return self._last[name]


@asynccontextmanager
async def mail_world(folder: Path) -> AsyncGenerator[MailWorld]:
    """Run servers, and follow the mailboxes."""
    with mail_servers(folder) as (imap, smtp):
        world = MailWorld(folder, imap, smtp)
        await world.reachable()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.follow)
            try:
                yield world
            finally:
                tasks.cancel_scope.cancel()
