"""Parse an email: its stated sender, its new text, and the mail server's verdict on the sender.

Source: RFC 5322, RFC 8601 (Authentication-Results), RFC 3834 (automatic responses).
"""

import re
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import getaddresses
from typing import Final

from msgspec import Struct

MAX_SUBJECT: Final = 150
MAX_FILES: Final = 20
_REPLY_MARK: Final = re.compile(r"^\s*((re|aw|fwd?|wg|sv|antw)\s*(\[\d+\])?:\s*)+", re.IGNORECASE)
_QUOTE_BEGINS: Final = re.compile(
    r"^(-{2,}\s*(original message|forwarded message|urspr.ngliche nachricht)\s*-{2,}|_{10,}|-- ?)\s*$"
    r"|^(on|am|le|el) .{5,200}(wrote|schrieb|a .crit|escribi.).{0,200}:\s*$",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_COMMENT: Final = re.compile(r"\([^()]*\)")
_MESSAGE_ID: Final = re.compile(r"<[^<>\s]{1,250}>")


class ReceivedMail(Struct, frozen=True):
    """The parts of an email that the gateway needs. `results` is the first Authentication-Results header."""

    message_id: str
    sender: str
    subject: str
    text: str
    root: str
    references: tuple[str, ...]
    results: str
    is_automatic: bool
    files: tuple[tuple[str, str, bytes], ...]

    def is_confirmed_by(self, authority: str) -> bool:
        """Return whether the mail server `authority` has verified that the sender's domain sent the email."""
        plain = _without_comments(self.results)
        server, _, findings = plain.partition(";")
        if server.split()[:1] != [authority] or any(sign in plain for sign in '()"\\'):
            return False
        domain = self.sender.rpartition("@")[2]
        for finding in findings.split(";"):
            words = finding.lower().split()
            if "dmarc=pass" in words and f"header.from={domain}" in words:
                return True
            if "dkim=pass" in words and f"header.d={domain}" in words:
                return True
        return False


def _without_comments(text: str) -> str:
    """Remove quoted strings and comments from a header, because senders can put anything there."""
    before = ""
    text = _QUOTED.sub(" ", text)
    while text != before:
        before, text = text, _COMMENT.sub(" ", text)
    return text


def read_mail(content: bytes) -> ReceivedMail:
    """Parse an email, leaving out broken parts."""
    mail = message_from_bytes(content, policy=policy.default)
    senders = [address.lower() for _, address in getaddresses(_texts(mail, "From")) if "@" in address]
    references = tuple(
        dict.fromkeys(
            found
            for name in ("References", "In-Reply-To")
            for text in _texts(mail, name)
            for found in _MESSAGE_ID.findall(text)
        )
    )
    own = _MESSAGE_ID.search(" ".join(_texts(mail, "Message-ID")))
    message_id = own[0] if own else ""
    results = _texts(mail, "Authentication-Results")
    subject = " ".join(" ".join(_texts(mail, "Subject")).split())
    return ReceivedMail(
        message_id,
        senders[0] if len(senders) == 1 else "",  # several senders identify nobody
        _REPLY_MARK.sub("", subject)[:MAX_SUBJECT],
        unquoted(_text(mail)),
        references[0] if references else message_id,
        references,
        " ".join(results[0].split()) if results else "",
        _is_automatic(mail),
        _files(mail),
    )


def unquoted(text: str) -> str:
    """Return the new text of an email, without quoted text and signature."""
    kept: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if _QUOTE_BEGINS.match(line):
            break
        if not line.startswith(">"):
            kept.append(line)
    return "\n".join(kept).strip()


def _texts(mail: EmailMessage, name: str) -> list[str]:
    try:
        return [str(value) for value in mail.get_all(name, [])]
    except (ValueError, TypeError, IndexError, AttributeError):  # the parser fails on some malformed headers
        return []


def _text(mail: EmailMessage) -> str:
    """Return the plain text of an email."""
    try:
        body = mail.get_body(("plain",))
        return str(body.get_content()) if body is not None else ""
    except (LookupError, ValueError, TypeError, AttributeError):
        return ""


def _is_automatic(mail: EmailMessage) -> bool:
    """Return whether a program sent an email; replying to it could start an endless loop."""
    submitted = " ".join(_texts(mail, "Auto-Submitted")).strip().lower()
    precedence = " ".join(_texts(mail, "Precedence")).strip().lower()
    path = " ".join(_texts(mail, "Return-Path")).strip()
    is_list = bool(_texts(mail, "List-Id"))
    return submitted not in ("", "no") or precedence in ("bulk", "junk", "list") or path == "<>" or is_list


def _files(mail: EmailMessage) -> tuple[tuple[str, str, bytes], ...]:
    found: list[tuple[str, str, bytes]] = []
    try:
        for part in mail.iter_attachments():
            body = part.get_payload(decode=True)
            if isinstance(body, bytes):
                found.append(((part.get_filename() or "file")[:200], part.get_content_type(), body))
    except (LookupError, ValueError, TypeError, AttributeError):
        pass
    return tuple(found[:MAX_FILES])
