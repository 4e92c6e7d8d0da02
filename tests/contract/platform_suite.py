"""Contract tests for every chat platform, with its real server or one that implements its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import anyio
from msgspec import structs

from hermes_acp.frontends.gateway.gateway import ConfiguredPlatform
from hermes_acp.frontends.gateway.gateway_process import platform_plugins
from hermes_acp.frontends.gateway.port.platform_port import PlatformPlugin
from hermes_acp.storage.gateway.people import Role
from tests.gateway.gateway_stage import Stage, gateway_stage
from tests.model_server import ModelServer, Reply, ToolCall, serve

WAIT_S = 40.0
WRITE = ToolCall("write_file", {"path": "a.txt", "content": "hello\n"})
ASKING = (Reply("I write it.", tool_calls=(WRITE,)), Reply("Written."))
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8
NOTES = "Grüße\n".encode()
BOTH: dict[str, Role] = {"anna": "approver", "bert": "user"}


class Shown:
    """The messages that a person sees in one conversation: by ID, in their latest version."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._changed = anyio.Event()

    def put(self, message_id: str, text: str) -> None:
        """Show a message, or a new version of it."""
        self.texts[message_id] = text
        self._changed.set()
        self._changed = anyio.Event()

    async def see(self, part: str) -> str:
        """Wait for a message that contains a text; return it."""
        with anyio.move_on_after(WAIT_S):
            while not self._find(part):
                await self._changed.wait()
        found = self._find(part)
        assert found, (part, self.texts)
        return found[-1]

    def _find(self, part: str) -> list[str]:
        return [text for text in self.texts.values() if part in text]


class Unhurried:
    """A platform whose own rate limit does not slow the test down."""

    def __init__(self, plugin: PlatformPlugin) -> None:
        self.limits = structs.replace(plugin.limits, send_gap_s=0.0, edit_gap_s=0.0)
        self.secrets = plugin.secrets
        self.package = plugin.package
        self.connect = plugin.connect


class PlatformWorld(Protocol):
    """A server with anna, bert and eve, and the settings with which the gateway reaches it."""

    platform: str
    settings: Any
    room: str
    """The ID of a room with everybody in it; empty if the platform has none."""
    plugin: PlatformPlugin | None
    """The plugin, if it needs more than settings to reach the server."""
    repeats: bool
    """Whether messages that were sent while the gateway was offline reach it."""

    @property
    def secrets(self) -> Mapping[str, str]:
        """The platform's secrets by name."""
        ...

    def forget(self) -> None:
        """Forget what was received."""
        ...

    def id_of(self, name: str) -> str:
        """Return the ID by which the platform knows a person."""
        ...

    async def say(self, name: str, text: str) -> None:
        """Send a direct message to the agent."""
        ...

    async def say_in_room(self, name: str, text: str) -> None:
        """Send a message to the agent in the room."""
        ...

    def direct(self, name: str) -> Shown:
        """Return what a person sees in the direct conversation with the agent."""
        ...

    def seen_in_room(self, name: str) -> Shown:
        """Return what a person sees in the room."""
        ...


def running(
    world: PlatformWorld, folder: Path, model: ModelServer, **more: Any
) -> AbstractAsyncContextManager[Stage]:
    """Run a gateway on a platform."""
    plugin = Unhurried(world.plugin or platform_plugins().open(world.platform))
    configured = ConfiguredPlatform(world.platform, plugin, world.settings, world.secrets)
    rooms = [{"platform": world.platform, "id": world.room, "mode": "ask"}] if world.room else []
    return gateway_stage(
        folder, model, more.pop("people", BOTH), configured=configured, id_of=world.id_of, rooms=rooms, **more
    )


def code_in(question: str) -> str:
    """Return the code in a question."""
    return question.partition("\nyes ")[2].split()[0]


async def connected(stage: Stage) -> None:
    """Wait until the platform is connected."""
    with anyio.fail_after(WAIT_S):
        while not all(runner.platform for runner in stage.gateway.runners.values()):
            await anyio.sleep(0.02)


async def a_long_answer_arrives_whole(world: PlatformWorld, folder: Path) -> None:
    words = tuple(f"word{number} " for number in range(900))
    async with serve((Reply((*words, "end.")),)) as model, running(world, folder, model) as stage:
        await connected(stage)
        await world.say("anna", "Count, please")
        await world.direct("anna").see("end.")
        whole = " ".join(world.direct("anna").texts.values()).split()
        assert [word for word in whole if word.startswith("word")] == [word.strip() for word in words]
        assert not stage.bugs


async def strangers_get_a_code_and_no_more(world: PlatformWorld, folder: Path) -> None:
    async with serve((Reply("Hello anna."),)) as model, running(world, folder, model) as stage:
        await connected(stage)
        if world.room:
            await world.say_in_room("eve", "Hello")
        await world.say("eve", "Hello")
        await world.direct("eve").see("Give this code")
        await world.say("eve", "Hello again")
        await world.say("anna", "Hello")
        await world.direct("anna").see("Hello anna.")
        assert len(model.requests) == 1, [request.asked.last_text for request in model.requests]
        assert len(world.direct("eve").texts) == 1


async def only_those_who_may_answer(world: PlatformWorld, folder: Path) -> None:
    if not world.room:
        return
    async with serve(ASKING) as model, running(world, folder, model) as stage:
        await connected(stage)
        await world.say_in_room("bert", "Write hello")
        code = code_in(await world.seen_in_room("anna").see("no answer means no"))
        await world.say_in_room("eve", f"yes {code}")
        await world.say_in_room("bert", f"yes {code}")
        await world.seen_in_room("bert").see("still needed")
        assert not (stage.project / "a.txt").exists()
        await world.say_in_room("anna", f"yes {code}")
        await world.seen_in_room("bert").see("Written.")
        assert (stage.project / "a.txt").exists()
        prompt = str(model.requests[0].body)
        assert "is from bert" in prompt


async def a_question_in_a_direct_conversation(world: PlatformWorld, folder: Path) -> None:
    async with serve(ASKING) as model, running(world, folder, model) as stage:
        await connected(stage)
        await world.say("anna", "Write hello")
        code = code_in(await world.direct("anna").see("no answer means no"))
        await world.say("anna", f"yes {code}")
        await world.direct("anna").see("Written.")
        assert (stage.project / "a.txt").exists()


async def what_was_said_meanwhile_is_answered(world: PlatformWorld, folder: Path) -> None:
    if not world.repeats:
        return
    async with serve((Reply("First."), Reply("Second."))) as model:
        async with running(world, folder, model) as stage:
            await connected(stage)
            await world.say("anna", "One")
            await world.direct("anna").see("First.")
        await world.say("anna", "Two")
        async with running(world, folder, model):
            await world.direct("anna").see("Second.")
        assert len(model.requests) == 2


def file_mark(name: str, content: bytes) -> str:
    """Return how a platform shows a file."""
    return f"[{name}: {len(content)} bytes, {sha256(content).hexdigest()[:12]}]"


async def files_of_the_workspace_arrive(world: PlatformWorld, folder: Path) -> None:
    if not platform_plugins().open(world.platform).limits.max_file_bytes:
        return
    reply = Reply("Here:\n\n![plot](plot.png)\n![notes](<my notes.txt>)")
    async with serve((reply,)) as model, running(world, folder, model) as stage:
        await connected(stage)
        (stage.project / "plot.png").write_bytes(PICTURE)
        (stage.project / "my notes.txt").write_bytes(NOTES)
        await world.say("anna", "Show me")
        await world.direct("anna").see("Here:")
        await world.direct("anna").see(file_mark("plot.png", PICTURE))
        await world.direct("anna").see(file_mark("my notes.txt", NOTES))
        assert not stage.bugs


CHECKS = (
    files_of_the_workspace_arrive,
    a_long_answer_arrives_whole,
    strangers_get_a_code_and_no_more,
    only_those_who_may_answer,
    a_question_in_a_direct_conversation,
    what_was_said_meanwhile_is_answered,
)


async def check_all(world: PlatformWorld, folder: Path) -> None:
    """Check everything on one server, each check with its own home."""
    for check in CHECKS:
        place = folder / check.__name__
        place.mkdir()
        await check(world, place)
        world.forget()
