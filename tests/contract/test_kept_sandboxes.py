"""Sandboxes at services that outlive their session's workspace, through the services' own libraries."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from hermes_acp.config.sections.backend_settings import (
    CloudSettings,
    DaytonaSettings,
    ModalSettings,
    VercelSettings,
)
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.workspaces.cloud.cloud_host import CloudHost, CloudService
from hermes_acp.workspaces.cloud.kept_sandboxes import KeptSandboxes, SandboxClaim
from tests.contract import modal_service, sandbox_services

pytestmark = pytest.mark.anyio
BACKENDS: PluginFolder[Any] = PluginFolder("hermes_acp.workspaces.backends", "BACKEND")


class Rented(Struct):
    """An account at a service, and the home of its user."""

    name: str
    service: Any
    home: Path
    open_service: Callable[[], CloudService]
    opened: list[CloudService] = []

    def connect(self) -> CloudService:
        """Return the service as a new process sees it."""
        self.opened.append(self.open_service())
        return self.opened[-1]

    @property
    def kept(self) -> KeptSandboxes:
        return KeptSandboxes(self.home)

    def host(self, session_id: str = "ses_1") -> CloudHost:
        claim = SandboxClaim(self.kept, self.name, "/project")
        claim.session_id = session_id
        place = str(self.home / "place")
        return CloudHost(self.connect(), place, has_network=True, claim=claim)

    def end_all(self) -> None:
        """End the sandboxes, as the service does when their time is up."""
        self.service.living.clear()
        if self.name == "modal":
            self.service.images.clear()


def _connect(name: str, variables: dict[str, str], settings: CloudSettings) -> Callable[[], CloudService]:
    return lambda: BACKENDS.open(name).service(variables, settings)


@asynccontextmanager
async def daytona(home: Path) -> AsyncGenerator[Rented]:
    with sandbox_services.serving(sandbox_services.Daytona) as service:
        variables = {"DAYTONA_API_KEY": sandbox_services.KEY, "DAYTONA_API_URL": f"{service.url}/api"}
        yield Rented("daytona", service, home, _connect("daytona", variables, DaytonaSettings()))


@asynccontextmanager
async def vercel(home: Path) -> AsyncGenerator[Rented]:
    with sandbox_services.serving(sandbox_services.Vercel) as service:
        names = ("VERCEL_TEAM_ID", "VERCEL_PROJECT_ID")
        variables = {"VERCEL_TOKEN": sandbox_services.KEY, **dict.fromkeys(names, "one")}
        yield Rented(
            "vercel", service, home, _connect("vercel", variables, VercelSettings(api_url=service.url))
        )


@asynccontextmanager
async def modal(home: Path) -> AsyncGenerator[Rented]:
    async with modal_service.serving() as service:
        variables = {"MODAL_TOKEN_ID": "ak-1", "MODAL_TOKEN_SECRET": "as-1"}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MODAL_SERVER_URL", service.url)  # The library itself reads this.
            yield Rented("modal", service, home, _connect("modal", variables, ModalSettings()))


SERVICES = [  # Two of the libraries take seconds to import.
    pytest.param(daytona, id="daytona", marks=pytest.mark.slow),
    pytest.param(vercel, id="vercel"),
    pytest.param(modal, id="modal", marks=pytest.mark.slow),
]


@pytest.fixture(params=SERVICES)
async def rented(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Rented]:
    async with request.param(tmp_path) as rented:
        yield rented
        for service in rented.opened:
            await service.disconnect()


async def test_a_session_finds_its_sandbox_again(rented: Rented) -> None:
    first = rented.host()
    assert (await first.call("exit 7")).code == 7
    (kept,) = rented.kept.all()
    assert (kept.session_id, kept.service, kept.cwd, kept.state) == (
        "ses_1",
        rented.name,
        "/project",
        "running",
    )
    await first.close()
    (kept,) = rented.kept.all()
    assert kept.state == "suspended"
    if rented.name == "modal":
        assert not rented.service.living
        assert rented.service.images == {kept.handle}
    else:
        assert rented.service.living == rented.service.stopped == {kept.handle}
    again = rented.host()
    assert (await again.call("exit 8")).code == 8
    if rented.name == "modal":
        assert rented.service.created[1].image_id == kept.handle
    else:
        assert len(rented.service.created) == 1
    await again.close()
    (kept,) = rented.kept.all()
    assert kept.state == "suspended"
    if rented.name == "modal":
        assert rented.service.images == {kept.handle}, "the earlier image is not kept, too"


async def test_sessions_have_separate_sandboxes(rented: Rented) -> None:
    first, second = rented.host(), rented.host("ses_2")
    await first.call("true")
    await second.call("true")
    assert len(rented.service.created) == 2
    await first.close()
    await second.close()
    assert {kept.session_id for kept in rented.kept.all()} == {"ses_1", "ses_2"}


async def test_a_missing_sandbox_is_reported_and_replaced(rented: Rented) -> None:
    first = rented.host()
    await first.call("true")
    await first.close()
    rented.end_all()
    again = rented.host()
    with pytest.raises(WorkspaceError, match="no longer exists, so its files are lost"):
        await again.call("true")
    assert rented.kept.all() == []
    assert (await again.call("exit 9")).code == 9
    assert len(rented.service.created) == 2
    await again.close()


async def test_the_sandbox_of_a_killed_process_is_resumed_while_it_runs(rented: Rented) -> None:
    await rented.host().call("true")  # It is never closed.
    await rented.opened[0].disconnect()
    again = rented.host()
    assert (await again.call("exit 3")).code == 3
    assert len(rented.service.created) == 1
    await again.close()
    assert [kept.state for kept in rented.kept.all()] == ["suspended"]


async def test_a_sandbox_is_inspected_stopped_and_removed_by_its_handle(rented: Rented) -> None:
    await rented.host().call("true")
    (kept,) = rented.kept.all()
    service = rented.connect()
    facts = await service.attach(kept.handle)
    assert facts.state == "running"
    if rented.name == "modal":
        assert facts.cost_usd == 0.75
    handle = await service.suspend()
    await service.disconnect()
    service = rented.connect()
    assert (await service.attach(handle)).state == "suspended"
    await service.deprovision()
    assert not rented.service.living
    if rented.name == "modal":
        assert not rented.service.images
    else:
        assert (await rented.connect().attach(handle)).state == "gone"


async def test_without_a_session_no_sandbox_is_kept(rented: Rented) -> None:
    host = rented.host("")
    await host.call("true")
    await host.close()
    assert not rented.service.living
    assert rented.kept.all() == []
