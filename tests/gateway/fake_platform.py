"""A chat platform in memory that can do whatever a real one may: rate limits, faults, lost answers, anybody's
buttons.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
from msgspec import Struct, field, structs

from hermes_acp.frontends.gateway.port.platform_port import (
    Attachment,
    Choice,
    Incoming,
    IncomingMessage,
    Limits,
    OutgoingFile,
    OutgoingMessage,
    Place,
    Platform,
    PlatformContext,
    PlatformError,
    Press,
    Receive,
)

WAIT_S = 20.0
LIMITS = Limits(
    max_length=4_000, edit_gap_s=0.01, burst=1_000, send_gap_s=0.0, has_buttons=True, has_threads=True
)


class Post(Struct):
    """A message as people see it; `texts` contains its versions."""

    id: str
    place: Place
    texts: list[str]
    choices: tuple[Choice, ...] = ()
    key: str = ""
    file: OutgoingFile | None = None

    @property
    def text(self) -> str:
        return self.texts[-1]


class FakeServer(Struct):
    """The state that outlives a connection: all messages, and the faults still to come."""

    posts: list[Post] = field(default_factory=list[Post])
    faults: deque[Exception] = field(default_factory=deque[Exception])
    loses_answers: bool = False
    """Whether a message is shown although its sender gets an error."""
    edits: int = 0
    refused_files: PlatformError | None = None
    refusals: int = 0
    loses_files: bool = False
    """Whether a file is shown although its sender gets an error."""
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    changed: anyio.Event = field(default_factory=anyio.Event)
    crash: anyio.Event = field(default_factory=anyio.Event)
    received: Receive | None = None
    context: PlatformContext | None = None
    numbers: int = 0

    def note(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    async def until(self, condition: Callable[[], object], wait_s: float = WAIT_S) -> None:
        """Wait until a condition holds."""
        with anyio.move_on_after(wait_s):
            while not condition():
                await self.changed.wait()
        assert condition(), [(post.place.room, post.text) for post in self.posts]

    def with_text(self, part: str) -> list[Post]:
        return [post for post in self.posts if part in post.text]

    async def see(self, part: str) -> Post:
        """Wait for a message that contains a text; return it."""
        await self.until(lambda: self.with_text(part))
        return self.with_text(part)[-1]


class FakePlatform:
    """A connection to the server in memory."""

    def __init__(self, server: FakeServer) -> None:
        self._server = server

    async def run(self) -> None:
        await self._server.crash.wait()
        self._server.crash = anyio.Event()
        raise RuntimeError("the library has a bug")

    async def say(self, place: Place, message: OutgoingMessage) -> str:
        server = self._server
        if server.faults:
            raise server.faults.popleft()
        server.numbers += 1
        post = Post(f"m{server.numbers}", place, [message.text], message.choices, message.key)
        server.posts.append(post)
        server.note()
        if server.loses_answers:
            server.loses_answers = False
            raise PlatformError("the answer was lost", may_have_arrived=True)
        return post.id

    async def send_file(self, place: Place, file: OutgoingFile) -> str:
        if self._server.refused_files:
            self._server.refusals += 1
            self._server.note()
            raise self._server.refused_files
        message_id = await self.say(place, OutgoingMessage(f"[file] {file.name}", file.key))
        self._server.posts[-1].file = file
        if self._server.loses_files:
            self._server.loses_files = False
            raise PlatformError("the answer was lost", may_have_arrived=True)
        return message_id

    async def edit(self, place: Place, message_id: str, text: str) -> None:
        server = self._server
        if server.faults:
            raise server.faults.popleft()
        post = next(post for post in server.posts if post.id == message_id)
        post.texts.append(text)
        post.choices = ()
        server.edits += 1
        server.note()

    async def fetch(self, attachment: Attachment, max_bytes: int) -> bytes:
        return self._server.files[attachment.reference][: max_bytes + 1]


class FakePlugin:
    """Connects to a server in memory."""

    secrets = ()
    package = ""

    def __init__(self, server: FakeServer, limits: Limits = LIMITS, **changes: object) -> None:
        self.server = server
        self.limits = structs.replace(limits, **changes)

    @asynccontextmanager
    async def connect(self, context: PlatformContext) -> AsyncGenerator[Platform]:
        self.server.received, self.server.context = context.receive, context
        self.server.note()
        yield FakePlatform(self.server)


class Member:
    """A person on the platform, in one conversation."""

    def __init__(self, server: FakeServer, sender: str, place: Place) -> None:
        self._server = server
        self.sender = sender
        self.place = place

    async def send(self, text: str, message_id: str = "", **more: object) -> str:
        """Send a message; return once the gateway has stored it."""
        self._server.numbers += 1
        message = IncomingMessage(message_id or f"i{self._server.numbers}", self.place, self.sender, text)
        await self._pass_on(structs.replace(message, **more))
        return message.id

    async def press(self, post: Post, label: str = "Allow once", token: str = "") -> None:
        """Press a button."""
        self._server.numbers += 1
        token = token or next(choice.token for choice in post.choices if choice.label == label)
        await self._pass_on(Press(f"p{self._server.numbers}", self.place, self.sender, post.id, token))

    async def asked(self) -> Post:
        """Wait for a question in this conversation; return the latest."""
        await self._server.until(lambda: any(post.choices for post in self.posts()))
        return [post for post in self.posts() if post.choices][-1]

    def posts(self) -> list[Post]:
        """Return the messages in this member's conversation."""
        return [post for post in self._server.posts if post.place == self.place]

    async def _pass_on(self, incoming: Incoming) -> None:
        await self._server.until(lambda: self._server.received)
        receive = self._server.received
        assert receive is not None
        await receive(incoming)
