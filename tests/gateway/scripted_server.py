"""The shared parts of the scripted chat servers: a loopback server, people, faults, and what everybody sees."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
from aiohttp import web
from msgspec import Struct, field

from hermes_acp.frontends.gateway.gateway_process import platform_plugins
from hermes_acp.frontends.gateway.port.platform_port import (
    Incoming,
    IncomingMessage,
    Platform,
    PlatformContext,
    PlatformError,
    PlatformPlugin,
)
from tests.contract.platform_suite import WAIT_S, Shown

PEOPLE = {"anna": 11, "bert": 12, "carl": 13, "eve": 14, "mallory": 15}
"""People and their IDs. Eve and Mallory are unauthorised; Mallory has Anna's name."""
SHOWN_NAMES = {"mallory": "anna"}
BOT = 99


class Faults(Struct):
    """Faults in the next sends.

    `refusals` is the number of sends still to be rate-limited. If `holds` is set, the next send is shown but never
    answered; `held` signals it.
    """

    refusals: int = 0
    refused: int = 0
    holds: bool = False
    held: anyio.Event = field(default_factory=anyio.Event)

    def refuses(self) -> bool:
        """Return whether this send is rejected."""
        if not self.refusals:
            return False
        self.refusals, self.refused = self.refusals - 1, self.refused + 1
        return True

    async def hold(self) -> None:
        """Hold a send, once."""
        if self.holds:
            self.holds = False
            self.held.set()
            await anyio.sleep_forever()


class Place(Struct, frozen=True):
    """The conversation of a message: a direct conversation, a room, or a thread in it."""

    room: str
    thread: str = ""


class Post(Struct):
    """A message from the agent: its versions, its buttons by label, and the request that sent it."""

    id: str
    place: Place
    texts: list[str]
    buttons: dict[str, str]
    request: Any = None
    sends: int = 1
    sent_buttons: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.sent_buttons = dict(self.buttons)


class Screen:
    """The agent's messages that everybody sees."""

    def __init__(self) -> None:
        self.posts: list[Post] = []
        self._seen: dict[Place, Shown] = {}

    def forget(self) -> None:
        """Forget the messages so far."""
        self._seen.clear()
        self.posts.clear()

    def seen(self, place: Place) -> Shown:
        """Return the messages visible in a conversation."""
        return self._seen.setdefault(place, Shown())

    def post(self, post: Post) -> Post:
        """Show a message from the agent."""
        self.posts.append(post)
        self.seen(post.place).put(post.id, post.texts[-1])
        return post

    def find(self, post_id: str, room: str) -> Post | None:
        """Return a message in a room."""
        return next((each for each in self.posts if (each.id, each.place.room) == (post_id, room)), None)

    def change(self, post: Post, text: str, buttons: dict[str, str]) -> None:
        """Show another version of a message."""
        post.texts.append(text)
        post.buttons = buttons
        self.seen(post.place).put(post.id, text)

    async def question(self, place: Place) -> Post:
        """Wait for a question; return it."""
        text = await self.seen(place).see("no answer means no")
        return next(post for post in reversed(self.posts) if post.texts[-1] == text)


class ScriptedWorld:
    """People on a scripted server. A subclass implements the wire format."""

    platform = ""
    plugin: PlatformPlugin | None = None
    repeats = True
    deduplicates = False
    """Whether the server recognises a message that is sent twice."""
    room = ""
    settings: Any = None

    def __init__(self) -> None:
        self.faults = Faults()
        self.screen = Screen()
        self.url = ""
        self.requests: list[tuple[str, Any]] = []

    @property
    def secrets(self) -> dict[str, str]:
        """Return the platform's secrets."""
        return {"token": "123456:secret-token-of-the-test"}

    def routes(self) -> list[web.RouteDef]:
        """Return the server's answer."""
        raise NotImplementedError

    def opened(self) -> None:
        """Prepare the server once its address is known."""

    def forget(self) -> None:
        """Forget the messages so far."""
        self.screen.forget()

    def id_of(self, name: str) -> str:
        """Return a person's ID."""
        return str(PEOPLE[name])

    def direct_place(self, name: str) -> Place:
        """Return a person's direct conversation with the agent."""
        return Place(self.id_of(name))

    async def deliver(self, name: str, place: Place, text: str, **more: Any) -> None:
        """Have a person send a message."""
        raise NotImplementedError

    async def press(self, name: str, post: Post, label: str, data: str = "") -> None:
        """Have a person press a button, or something with other data."""
        raise NotImplementedError

    async def repeat(self) -> None:
        """Repeat the last delivery unchanged."""
        raise NotImplementedError

    async def joined(self) -> None:
        """Wait until messages sent from now on reach the gateway."""
        raise NotImplementedError

    async def say(self, name: str, text: str) -> None:
        await self.deliver(name, self.direct_place(name), text)

    async def say_in_room(self, name: str, text: str) -> None:
        await self.deliver(name, Place(self.room), text, names_agent=True)

    def direct(self, name: str) -> Shown:
        return self.screen.seen(self.direct_place(name))

    def seen_in_room(self, name: str) -> Shown:
        return self.screen.seen(Place(self.room))


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    with anyio.fail_after(WAIT_S):
        while not condition():
            await anyio.sleep(0.01)


World = TypeVar("World", bound=ScriptedWorld)


@asynccontextmanager
async def scripted(world: World) -> AsyncGenerator[World]:
    """Run the server of a scripted world for the block."""
    app = web.Application()
    app.add_routes(world.routes())
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        world.url = f"http://{host}:{port}"
        world.opened()
        yield world
    finally:
        with anyio.move_on_after(WAIT_S, shield=True):
            await runner.cleanup()


class Line:
    """A platform connected without a gateway: the messages it received, and its position."""

    def __init__(self, position: str = "") -> None:
        self.position = position
        self.received: list[Incoming] = []
        self.is_refusing = False
        self.ended: list[str] = []
        self._platform: Platform | None = None
        self._changed = anyio.Event()

    @property
    def platform(self) -> Platform:
        assert self._platform is not None
        return self._platform

    async def load(self) -> str:
        return self.position

    async def save(self, position: str) -> None:
        self.position = position

    async def receive(self, incoming: Incoming) -> None:
        if self.is_refusing:
            raise OSError("the disk is full")
        self.received.append(incoming)
        self._changed.set()
        self._changed = anyio.Event()

    async def messages(self, number: int) -> list[IncomingMessage]:
        """Wait until this many messages were received; return them."""
        with anyio.fail_after(WAIT_S):
            while len(self.received) < number:
                await self._changed.wait()
        assert len(self.received) == number, self.received
        return [each for each in self.received if isinstance(each, IncomingMessage)]

    async def run(self, platform: Platform) -> None:
        """Receive until cancelled, or until the connection ends."""
        self._platform = platform
        try:
            await platform.run()
        except (PlatformError, OSError) as error:
            self.ended.append(str(error))


@asynccontextmanager
async def line(
    world: ScriptedWorld, position: str = "", rooms: frozenset[str] = frozenset()
) -> AsyncGenerator[Line]:
    """Connect to the server of a scripted world without a gateway."""
    found = Line(position)
    context = PlatformContext(world.settings, world.secrets, found.receive, found, rooms)
    connection = (world.plugin or platform_plugins().open(world.platform)).connect(context)
    async with connection as platform, anyio.create_task_group() as tasks:
        tasks.start_soon(found.run, platform)
        await anyio.lowlevel.checkpoint()
        yield found
        tasks.cancel_scope.cancel()
