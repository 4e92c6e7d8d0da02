"""The port for chat platforms, and its value types.

A platform connects, passes on the messages that it receives, and sends the ones that it is given. It decides nothing:
permissions, the meaning of messages and the time of sending are up to the gateway. IDs are permanent, never names.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

Unit = Literal["characters", "utf16", "bytes", "escaped"]
"""The unit of lengths; `escaped` counts characters after escaping `&`, `<` and `>` as in HTML."""


class Limits(Struct, frozen=True):
    """The capabilities and limits of a platform.

    `max_length` is counted in `unit`. `edit_gap_s` is the minimum time between two versions of a message. At most
    `burst` messages are sent at once, then one every `send_gap_s`. The platform deduplicates messages with the same key
    within `repeats_safely_s`. If `ids_are_personal`, IDs are people's addresses or numbers. Files of at most
    `max_file_bytes` can be sent; 0 means that the platform accepts none.
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
    max_file_bytes: int = 0


class Place(Struct, frozen=True):
    """The place of a message: a room or a direct conversation, and optionally a thread in it."""

    room: str
    thread: str = ""
    is_direct: bool = False


class Attachment(Struct, frozen=True):
    """A file attached to a message. The platform fetches it by its `reference`."""

    reference: str
    name: str
    mime_type: str = "application/octet-stream"
    size: int = 0


class IncomingMessage(Struct, frozen=True, tag="message"):
    """A received message.

    `is_addressed` means that it mentions the agent or replies to it. `has_proof` is False if the platform cannot verify
    the sender's identity.
    """

    id: str
    place: Place
    sender: str
    text: str
    is_addressed: bool = False
    has_proof: bool = True
    attachments: tuple[Attachment, ...] = ()


class Press(Struct, frozen=True, tag="press"):
    """A button press: the button with `token` in the message with `message_id`."""

    id: str
    place: Place
    sender: str
    message_id: str
    token: str


Incoming = IncomingMessage | Press
Receive = Callable[[Incoming], Awaitable[None]]
"""Handles a received event; once it returns, the event is stored, so the platform may confirm it."""


class Choice(Struct, frozen=True):
    """A button: its label, and the token that is sent when it is pressed."""

    token: str
    label: str


class OutgoingMessage(Struct, frozen=True):
    """A message to send. A retry has the same `key`. Platforms without buttons ignore `choices`."""

    text: str
    key: str
    choices: tuple[Choice, ...] = ()


class OutgoingFile(Struct, frozen=True):
    """A file to send. A retry has the same `key`."""

    name: str
    mime_type: str
    content: bytes
    key: str

    @property
    def is_picture(self) -> bool:
        """Whether the file can be displayed as a picture."""
        return self.mime_type in PICTURES


class PlatformError(Exception):
    """A platform request failed.

    `is_permanent` means that a retry would not help. `retry_after_s` is how long to wait before the next request.
    `may_have_arrived` means that the message may have been delivered.
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
    """Stores a platform's reading position across restarts."""

    async def load(self) -> str:
        """Return the last saved position, or an empty string."""
        ...

    async def save(self, position: str) -> None:
        """Save a position."""
        ...


ReportRooms = Callable[[Mapping[str, str]], Awaitable[None]]
"""Reports the configured rooms that cannot be joined, with the reasons; empty if all have been joined."""


async def report_no_rooms(rooms: Mapping[str, str]) -> None:
    """Report nothing."""


class PlatformContext(Struct, frozen=True):
    """The context of a platform: its settings, its secrets by name, and the function that receives its events."""

    settings: Any
    secrets: Mapping[str, str]
    receive: Receive
    cursor: Cursor
    rooms: frozenset[str] = frozenset()
    """The IDs of the configured rooms."""
    report_rooms: ReportRooms = report_no_rooms


class Platform(Protocol):
    """A connected platform. Methods raise PlatformError."""

    async def run(self) -> None:
        """Receive until the connection is lost or cancelled."""
        ...

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        """Send a message; return its ID."""
        ...

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        """Replace the text of a message and remove its buttons."""
        ...

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        """Fetch the content of an attached file."""
        ...


@runtime_checkable
class FilePlatform(Protocol):
    """A connected platform that can send files; its limits say up to which size."""

    async def send_file(self, place: Place, file: OutgoingFile) -> str:
        """Send a file; return the message's ID. Raises PlatformError."""
        ...


@runtime_checkable
class OptionalSecrets(Protocol):
    """A kind of platform that needs some secrets only with certain settings."""

    def optional_secrets(self, settings: Any) -> Sequence[str]:
        """Return the names of the secrets that may be missing with these settings."""
        ...


class PlatformPlugin(Protocol):
    """A kind of platform. Each plugin exports one as `PLATFORM`."""

    @property
    def limits(self) -> Limits:
        """The capabilities of the platform."""
        ...

    @property
    def secrets(self) -> Sequence[str]:
        """The names of its secrets, such as `token`."""
        ...

    @property
    def package(self) -> str:
        """The required Python module, or an empty string. The extra that installs it has the platform's name."""
        ...

    def connect(self, context: PlatformContext) -> AbstractAsyncContextManager[Platform]:
        """Connect for the length of the block. Raises PlatformError."""
        ...
