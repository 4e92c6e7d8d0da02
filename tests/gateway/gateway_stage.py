"""A gateway in this process: a fake platform, people, and a real agent with a scripted model."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

import anyio
from msgspec import Struct

from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import environment_of
from hermes_acp.config.sections.gateway_settings import GatewaySettings
from hermes_acp.frontends.gateway.gateway import ConfiguredPlatform, Gateway
from hermes_acp.frontends.gateway.platform_runner import RunnerReports
from hermes_acp.frontends.gateway.port.platform_port import Place
from hermes_acp.storage.gateway.people import Person, Role
from hermes_acp.telemetry.redaction import Redactor
from tests.e2e.agent_process import agent_environment, configure
from tests.gateway.fake_platform import FakePlugin, FakeServer, Member
from tests.model_server import ModelServer

PLATFORM = "matrix"
"""The name under which the fake platform is known."""
ROOM = Place("!room")
SECRET = "zq9-long-secret-value-77"


class Stage(Struct):
    """A running gateway and its surroundings."""

    gateway: Gateway
    server: FakeServer
    home: Path
    project: Path
    bugs: list[BaseException]
    lines: list[str]
    """Everything that the gateway logged."""

    def direct(self, name: str) -> Member:
        """Return a person in the direct conversation with the agent."""
        return Member(self.server, f"@{name}:here", Place(f"!dm-{name}", is_direct=True))

    def in_room(self, name: str, thread: str = "") -> Member:
        """Return a person in the room."""
        return Member(self.server, f"@{name}:here", Place(ROOM.room, thread))


def make_home(folder: Path) -> tuple[Path, Path]:
    """Create a home and a project unless they exist, and return them."""
    home, project = folder / "home", folder / "project"
    home.mkdir(exist_ok=True)
    project.mkdir(exist_ok=True)
    return home, project


def settings_for(project: Path, **more: object) -> GatewaySettings:
    """Return settings with one room."""
    room = {"platform": PLATFORM, "id": ROOM.room}
    return GatewaySettings.model_validate({"workspace": str(project), "rooms": [room], **more})


def fake_id(name: str) -> str:
    """Return a person's ID on the fake platform."""
    return f"@{name}:here"


@asynccontextmanager
async def gateway_stage(
    folder: Path,
    model: ModelServer,
    people: Mapping[str, Role] = MappingProxyType({"anna": "approver"}),
    *,
    plugin: FakePlugin | None = None,
    configured: ConfiguredPlatform | None = None,
    id_of: Callable[[str], str] = fake_id,
    config: str = "",
    profiles: Mapping[str, str] = MappingProxyType({}),
    **settings: object,
) -> AsyncGenerator[Stage]:
    """Run a gateway for the block. Among the settings, `profile` is the gateway's own."""
    home, project = make_home(folder)
    configure(home, config)
    profile = str(settings.pop("profile", "default"))
    if profile != "default":
        (home / ".hermes" / "profiles" / profile).mkdir(parents=True, exist_ok=True)
    environment = environment_of(agent_environment(home, model, HERMES_PROFILE=profile))
    plugin = plugin or FakePlugin(FakeServer())
    bugs: list[BaseException] = []
    lines: list[str] = []
    reports = RunnerReports(lines.append, lambda error, where: bugs.append(error))
    gateway = Gateway(
        environment,
        settings_for(project, **settings),
        [configured or ConfiguredPlatform(PLATFORM, plugin, None, {})],
        Redactor([SECRET]),
        SystemClock(),
        reports,
    )
    for name, role in people.items():
        admit(gateway, name, role, profiles.get(name, environment.profile), id_of(name))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(gateway.run)
        yield Stage(gateway, plugin.server, home, project, bugs, lines)
        tasks.cancel_scope.cancel()


def admit(gateway: Gateway, name: str, role: Role, profile: str, sender: str) -> None:
    """Admit a person with a code, as the operator does."""
    people, now, platform = gateway.stores.people, time.time(), next(iter(gateway.runners))
    if people.find(platform, sender) is None:
        code = people.new_code(platform, sender, now)
        done = people.pair(code, Person(name, role, profile), now, shares=True)
        assert done.outcome == "admitted"
