"""Email, read over IMAP and answered over SMTP. A thread with one subject is a conversation.

`From:` proves nothing. A sender is verified if our own mail server confirms the address (`Authentication-Results` from
the server named in the settings), or if the email replies to one of ours, whose `Message-ID` nobody else can know.
Source: RFC 3501, RFC 2177, RFC 5322, RFC 8601, RFC 3834.
"""

import hmac
import re
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from email.message import EmailMessage
from email.utils import formatdate
from hashlib import sha256
from importlib import import_module
from typing import Any, Final

import anyio

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.mail_reading import ReceivedMail, read_mail
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

IDLE_S: Final = 540.0
TIMEOUT_S: Final = 30.0
END_GRACE_S: Final = 3.0
MAX_MAIL_BYTES: Final = 20 * 1024 * 1024
LIMITS: Final = Limits(
    max_length=60_000,
    can_edit=False,
    burst=10,
    send_gap_s=2.0,
    has_threads=True,
    ids_are_personal=True,
    max_file_bytes=MAX_ATTACHMENT_BYTES,
)
_VALIDITY: Final = re.compile(r"UIDVALIDITY (\d+)")


class EmailPlatform:
    """A connected mailbox."""

    def __init__(self, context: PlatformContext, imap: Any, lost: anyio.Event) -> None:
        self._context = context
        self._settings = context.settings
        self._imap = imap
        self._lost = lost
        self._key = sha256(context.secrets["password"].encode()).digest()
        self._validity = ""
        self._last = 0

    async def begin(self) -> None:
        """Select the mailbox and restore the position; without one, start with new emails."""
        selected = _ok(await self._imap.select("INBOX"))
        lines = b"\n".join(bytes(line) for line in selected.lines).decode("utf-8", "replace")
        found = _VALIDITY.search(lines)
        self._validity = found[1] if found else ""
        validity, _, last = (await self._context.cursor.load()).partition(":")
        if validity == self._validity and last.isdigit():
            self._last = int(last)
        else:
            await self._advance(max(await self._uids(1), default=0))

    async def run(self) -> None:
        """Receive emails as they arrive."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._follow)
            await self._lost.wait()
            raise PlatformError(messages.CONNECTION_ENDED)

    async def _follow(self) -> None:
        while True:
            for uid in sorted(uid for uid in await self._uids(self._last + 1) if uid > self._last):
                await self._receive(uid)
                await self._advance(uid)
            idle = await self._imap.idle_start(timeout=IDLE_S)
            with suppress(TimeoutError):
                await self._imap.wait_server_push(IDLE_S)
            self._imap.idle_done()
            await idle

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        """Send an email in a thread."""
        mail = self._mail(place, message.key)
        mail.set_content(message.text)
        await self._send(mail)
        return mail["Message-ID"]

    async def send_file(self, place: Place, file: OutgoingFile) -> str:
        """Send an email with a file in a thread."""
        mail = self._mail(place, file.key)
        mail.set_content(file.name)
        main, _, kind = file.mime_type.partition("/")
        mail.add_attachment(file.content, maintype=main, subtype=kind, filename=file.name)
        await self._send(mail)
        return mail["Message-ID"]

    def _mail(self, place: Place, key: str) -> EmailMessage:
        """Create an empty email in a thread."""
        root, _, subject = place.thread.partition(" ")
        mail = EmailMessage()
        domain = self._settings.address.rpartition("@")[2]
        message_id = f"<{self._proof(place.room)}.{sha256(key.encode()).hexdigest()[:16]}@{domain}>"
        mail["From"], mail["To"] = self._settings.address, place.room
        mail["Subject"] = f"Re: {subject}"
        mail["Date"], mail["Message-ID"] = formatdate(), message_id
        mail["Auto-Submitted"] = "auto-replied"
        if root:
            mail["In-Reply-To"] = mail["References"] = root
        return mail

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        """Raise PlatformError, because an email cannot be edited."""
        raise PlatformError(messages.NO_EDITS, is_permanent=True)

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        """Fetch the email again over a separate connection, and return one of its files."""
        uid, _, number = attachment.reference.partition(":")
        async with _connected(self._settings, self._context.secrets["password"]) as (imap, _):
            _ok(await imap.select("INBOX"))
            mail = read_mail(await _content(imap, int(uid)))
        return mail.files[int(number)][2][: max_bytes + 1]

    async def _uids(self, first: int) -> list[int]:
        answer = _ok(await self._imap.uid_search(f"UID {first}:*"))
        words = bytes(answer.lines[0]).decode().split() if answer.lines else []
        return [int(word) for word in words if word.isdigit()]

    async def _advance(self, uid: int) -> None:
        self._last = uid
        await self._context.cursor.save(f"{self._validity}:{uid}")

    async def _receive(self, uid: int) -> None:
        content = await _content(self._imap, uid)
        if not content or len(content) > MAX_MAIL_BYTES:
            return
        mail = read_mail(content)
        if mail.is_automatic or not mail.sender or mail.sender == self._settings.address.lower():
            return
        files = tuple(
            Attachment(f"{uid}:{number}", name, mime_type, len(body))
            for number, (name, mime_type, body) in enumerate(mail.files)
        )
        message = IncomingMessage(
            mail.message_id or f"{self._validity}:{uid}",
            Place(mail.sender, f"{mail.root} {mail.subject}", is_direct=True),
            mail.sender,
            mail.text,
            is_addressed=True,
            has_proof=self._is_proven(mail),
            attachments=files,
        )
        await self._context.receive(message)

    def _is_proven(self, mail: ReceivedMail) -> bool:
        """Return whether a sender's identity is verified."""
        authority = self._settings.authserv_id
        if authority and mail.is_confirmed_by(authority):
            return True
        proof = self._proof(mail.sender)
        return any(
            hmac.compare_digest(each.lstrip("<").partition(".")[0].encode(), proof.encode())
            for each in mail.references
        )

    def _proof(self, address: str) -> str:
        """Return the secret that only the owner of an address can have received from us."""
        return hmac.digest(self._key, address.lower().encode(), sha256).hex()[:32]

    async def _send(self, mail: EmailMessage) -> None:
        smtp: Any = import_module("aiosmtplib")
        settings = self._settings
        is_open = settings.tls == "none"
        try:
            await smtp.send(
                mail,
                hostname=settings.smtp_host,
                port=settings.smtp_port,
                username=None if is_open else settings.user or settings.address,
                password=None if is_open else self._context.secrets["password"],
                use_tls=settings.tls == "tls" and settings.smtp_port == 465,
                start_tls=False if is_open else None if settings.smtp_port == 465 else True,
                timeout=TIMEOUT_S,
            )
        except smtp.SMTPRecipientsRefused as error:
            raise PlatformError(type(error).__name__, is_permanent=True) from error
        except smtp.SMTPResponseException as error:
            raise PlatformError(f"SMTP {error.code}", is_permanent=error.code >= 500) from error
        except smtp.SMTPConnectError as error:
            raise PlatformError(type(error).__name__) from error
        except (smtp.SMTPException, OSError) as error:
            raise PlatformError(type(error).__name__, may_have_arrived=True) from error


class EmailPlugin:
    """Connects to a mailbox."""

    limits = LIMITS
    secrets = ("password",)
    package = "aioimaplib"

    @asynccontextmanager
    async def connect(self, context: PlatformContext) -> AsyncGenerator[Platform]:
        """Log in to the mailbox."""
        async with _connected(context.settings, context.secrets["password"]) as (imap, lost):
            platform = EmailPlatform(context, imap, lost)
            await platform.begin()
            yield platform


@asynccontextmanager
async def _connected(settings: Any, password: str) -> AsyncGenerator[tuple[Any, anyio.Event]]:
    """Connect to the IMAP server for the length of the block. The event is set when the connection is lost."""
    lost = anyio.Event()

    def on_lost(error: Exception | None) -> None:
        lost.set()

    library: Any = import_module("aioimaplib")
    imap = library.IMAP4(
        settings.imap_host,
        settings.imap_port,
        timeout=TIMEOUT_S,
        conn_lost_cb=on_lost,
        ssl_context=None if settings.tls == "none" else ssl.create_default_context(),
    )
    try:
        await imap.wait_hello_from_server()
        _ok(await imap.login(settings.user or settings.address, password))
        yield imap, lost
    finally:
        with anyio.move_on_after(END_GRACE_S, shield=True):
            await _disconnect(imap)


async def _disconnect(imap: Any) -> None:
    """Log out if the server responds, and close the connection."""
    for task in tuple(imap.tasks):
        task.cancel()
    transport = imap.protocol.transport
    if transport is None:
        return
    try:
        if imap.get_state() in ("AUTH", "SELECTED") and not imap.has_pending_idle():
            await imap.logout()
    except (OSError, TimeoutError, import_module("aioimaplib").AioImapException):
        pass  # the connection is already closed
    finally:
        transport.close()
        await anyio.sleep(0)  # let the event loop close it


async def _content(imap: Any, uid: int) -> bytes:
    """Fetch an email without marking it as read."""
    answer = _ok(await imap.uid("fetch", str(uid), "BODY.PEEK[]"))
    return max((bytes(line) for line in answer.lines if isinstance(line, bytearray)), key=len, default=b"")


def _ok(answer: Any) -> Any:
    """Return a response of the server. Raises PlatformError if it is a refusal."""
    if answer.result != "OK":
        raise PlatformError(f"IMAP {answer.result}")
    return answer


PLATFORM = EmailPlugin()
