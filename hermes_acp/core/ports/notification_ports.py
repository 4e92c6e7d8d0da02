"""Notifications for people who are not at a client, and the services that deliver them."""

from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

NotificationKind = Literal["done", "failed", "input_required", "test"]
DeliveryState = Literal["pending", "attempting", "delivered", "failed"]


class Notification(Struct, frozen=True, omit_defaults=True):
    """Something to report. Only the first notification with a given `id` is delivered.

    `subject` is the task. `sentence` says how it ended, or what is asked. `answer_with` says how to answer, for example
    with a command. `result` is what the agent said at the end, for recipients who want it in the message.
    """

    id: str
    kind: NotificationKind
    subject: str
    sentence: str = ""
    session_id: str = ""
    run_id: str = ""
    answer_with: str = ""
    result: str = ""


class OutgoingMessage(Struct, frozen=True):
    """A notification as plain text, in the form in which a service delivers it, and its subject."""

    title: str
    body: str
    id: str = ""
    kind: NotificationKind = "test"
    session_id: str = ""


class Destination(Struct, frozen=True):
    """The destination of a message: a secret address or configured place, and the home folder that sends it."""

    home: Path
    address: str = ""
    to: str = ""


class NotificationSender(Protocol):
    """A service that delivers messages. Its methods block and are called in worker threads."""

    needs_address: bool
    """Whether messages are sent to an address, which is a secret."""

    def fault(self, address: str) -> str:
        """Return why the service cannot be used here, or an empty string. Sends nothing."""
        ...

    def send(self, destination: Destination, message: OutgoingMessage, timeout_s: float) -> None:
        """Deliver a message.

        Raises NotificationError, which is `retryable` if a later attempt can succeed, and TimeoutError if there was no
        answer, in which case the message may have arrived. The text of the error never contains the address.
        """
        ...
