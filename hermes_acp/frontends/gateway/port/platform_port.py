"""The port of chat platforms, and the values that pass through it.

A platform connects, hands in what people send, and sends what it is given. It decides nothing: who may do what, what a
message means and when something is sent is the gateway's. Ids are those that never change, not names.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol

from msgspec import Struct

MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024

Unit = Literal["characters", "utf16", "bytes"]


class Limits(Struct, frozen=True):
    """What a platform can do.

    `max_length` is counted in `unit`. `edit_gap_s` is the least time between two versions of a message. At most `burst`
    messages are sent at once, then one every `send_gap_s`. A message with the same key appears once, if it is repeated
    within `repeats_safely_s`. If `ids_are_personal`, ids are addresses or numbers of people.
    """

    max_length: int
    unit: Unit = "characters"
    can_edit: bool = True
    edit_gap_s: float = 1.0
    burst: int = 5
    send_gap_s: float = 1.0
    has_buttons: bool = False
    has_threads: bool = False
    repeats_safely_s: float = 0.0
    ids_are_personal: bool = False


class Place(Struct, frozen=True):
    """Where something is said: a room or a direct conversation, and a thread of it."""

    room: str
    thread: str = ""
    is_direct: bool = False


class Attachment(Struct, frozen=True):
    """A file that came with a message; `reference` is what the platform needs to fetch it."""

    reference: str
    name: str
    mime_type: str = "application/octet-stream"
    size: int = 0


class IncomingMessage(Struct, frozen=True, tag="message"):
    """What somebody sent.

    `is_addressed` says that it is for the agent: it mentions it, or answers it. `has_proof` is false if the platform
    cannot tell that the sender is who it says.
    """

    id: str
    place: Place
    sender: str
    text: str
    is_addressed: bool = False
    has_proof: bool = True
    attachments: tuple[Attachment, ...] = ()


class Press(Struct, frozen=True, tag="press"):
    """A button that somebody pressed: the one with `token`, of the message with `message_id`."""

    id: str
    place: Place
    sender: str
    message_id: str
    token: str


Incoming = IncomingMessage | Press
Receive = Callable[[Incoming], Awaitable[None]]
"""Stores what somebody sent; when it returns, the platform may forget it."""


class Choice(Struct, frozen=True):
    """A button: what it says, and what a press of it carries."""

    token: str
    label: str


class OutgoingMessage(Struct, frozen=True):
    """A message to send. A repetition has the same `key`. Platforms without buttons leave `choices` out."""

    text: str
    key: str
    choices: tuple[Choice, ...] = ()


class PlatformError(Exception):
    """A platform did not do what it was asked.

    `is_permanent` means that repeating does not help; `retry_after_s` is how long the platform wants to be left alone;
    `may_have_arrived` means that nobody can know.
    """

    def __init__(
        self,
        reason: str,
        *,
        is_permanent: bool = False,
        retry_after_s: float = 0.0,
        may_have_arrived: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_permanent = is_permanent
        self.retry_after_s = retry_after_s
        self.may_have_arrived = may_have_arrived


class Cursor(Protocol):
    """Where a platform notes how far it has read, across restarts."""

    async def load(self) -> str:
        """Return what was saved last, or an empty string."""
        ...

    async def save(self, position: str) -> None:
        """Save a position."""
        ...


class PlatformContext(Struct, frozen=True):
    """What a platform gets: its settings, its secrets by the names it declares, and where it hands messages in."""

    settings: Any
    secrets: Mapping[str, str]
    receive: Receive
    cursor: Cursor
    rooms: frozenset[str] = frozenset()
    """The ids of the rooms that the operator named."""


class Platform(Protocol):
    """A platform that is connected. Methods raise PlatformError."""

    async def run(self) -> None:
        """Receive until the connection is lost or this is cancelled."""
        ...

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        """Send a message; return its id."""
        ...

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        """Replace the text of a message, and remove its buttons."""
        ...

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        """Return the content of a file that came with a message."""
        ...


class PlatformPlugin(Protocol):
    """A kind of platform: the constant `PLATFORM` of each plugin."""

    @property
    def limits(self) -> Limits:
        """What it can do."""
        ...

    @property
    def secrets(self) -> Sequence[str]:
        """The names of its secrets, such as `token`."""
        ...

    @property
    def package(self) -> str:
        """The module that it needs, or an empty string; the extra that brings it has the platform's name."""
        ...

    def connect(self, context: PlatformContext) -> AbstractAsyncContextManager[Platform]:
        """Connect for the length of the block. Raises PlatformError."""
        ...
