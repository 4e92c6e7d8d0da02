"""Write the text of notifications, which is short and plain whatever the agent or a file contains."""

import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Final

from msgspec import structs

from hermes_acp.core.ports.notification_ports import Notification, NotificationKind, OutgoingMessage

MAX_TITLE_CHARACTERS: Final = 120
MAX_SENTENCE_CHARACTERS: Final = 600
MAX_RESULT_CHARACTERS: Final = 3_000
HEADINGS: Final[Mapping[NotificationKind, str]] = MappingProxyType(
    {"done": "Done", "failed": "Failed", "input_required": "Waits for you", "test": "Test"}
)
TEST_SUBJECT: Final = "this is a test of your notifications"
SENT_AGAIN: Final = "Sent again, because the first attempt may not have arrived."
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_MENTIONS = re.compile(r"@(?=everyone\b|here\b|channel\b|all\b)|<(?=[!@#])", re.IGNORECASE)


def message_of(notification: Notification, clean: Callable[[str], str]) -> OutgoingMessage:
    """Return the message for a notification; `clean` masks secrets."""
    subject = _plain(clean(notification.subject), MAX_TITLE_CHARACTERS)
    sentence = _plain(clean(notification.sentence), MAX_SENTENCE_CHARACTERS)
    about = " ".join(
        f"{name} {identity}"
        for name, identity in (("Run", notification.run_id), ("Session", notification.session_id))
        if identity
    )
    lines = (
        sentence,
        _result(clean(notification.result)),
        f"Answer: {notification.answer_with}" if notification.answer_with else "",
        f"{about}{', ' if about else ''}reference {reference_of(notification.id)}",
    )
    title = f"hermes-acp: {HEADINGS[notification.kind]}{f': {subject}' if subject else ''}"
    return OutgoingMessage(title, "\n".join(line for line in lines if line))


def sent_again(message: OutgoingMessage) -> OutgoingMessage:
    """Return the message with a note that it may be a duplicate."""
    return structs.replace(message, body=f"{SENT_AGAIN}\n{message.body}")


def reference_of(notification_id: str) -> str:
    """Return a short reference by which duplicates can be recognised."""
    return sha256(notification_id.encode()).hexdigest()[:8]


def _plain(text: str, most: int) -> str:
    """Return a text as one line, without terminal control characters or mentions of everyone in a chat."""
    line = _harmless(" ".join(_CONTROLS.sub("", text).split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _result(text: str) -> str:
    """Return what the agent said, keeping its line breaks."""
    text = _harmless(_CONTROLS.sub("", text).strip())
    if len(text) <= MAX_RESULT_CHARACTERS:
        return text
    return f"{text[: MAX_RESULT_CHARACTERS - 1]}…"


def _harmless(text: str) -> str:
    return _MENTIONS.sub(lambda found: f"{found[0]}\u200b", text)
