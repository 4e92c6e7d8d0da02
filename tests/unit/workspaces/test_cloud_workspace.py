"""A cloud sandbox costs nothing after its session, however that ends."""

import anyio
import anyio.lowlevel
import pytest

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.policy_rules import Rule
from hermes_acp.core.ports.workspace_ports import Command
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.workspaces.cloud.cloud_host import CloudHost, SandboxFacts
from hermes_acp.workspaces.cloud.cloud_workspace import open_cloud_workspace


class CountingService:
    """A service that counts the sandboxes rented from it."""

    name = "Example"

    def __init__(self, *, is_slow: bool) -> None:
        self.began = anyio.Event()
        self.given_back = 0
        self._is_slow = is_slow

    @property
    def handle(self) -> str:
        return ""

    async def attach(self, handle: str) -> SandboxFacts:
        return SandboxFacts("gone")

    async def start(self) -> bool:
        return False

    async def suspend(self) -> str:
        return ""

    async def disconnect(self) -> None:
        raise AssertionError("a sandbox that nobody keeps is released")

    async def provision(self) -> None:
        self.began.set()
        if self._is_slow:
            await anyio.sleep_forever()

    async def execute(self, script: str, max_wait_s: float) -> str:
        return "Cjc="  # An empty output and the exit code 7.

    async def upload(self, path: str, content: bytes) -> None:
        raise AssertionError("nothing is uploaded here")

    async def deprovision(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.given_back += 1


@pytest.mark.anyio
async def test_a_sandbox_still_being_created_is_released() -> None:
    service = CountingService(is_slow=True)
    host = CloudHost(service, "/work", has_network=False)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(host.call, "true")
            await service.began.wait()
            group.cancel_scope.cancel()
    assert service.given_back == 1


@pytest.mark.anyio
async def test_a_sandbox_is_released_once_even_if_closing_is_cancelled() -> None:
    service = CountingService(is_slow=False)
    host = CloudHost(service, "/work", has_network=False)
    assert (await host.call("true")).code == 7
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(host.close)
            await anyio.lowlevel.checkpoint()
            scope.cancel()
    await host.close()
    assert service.given_back == 1


@pytest.mark.parametrize(
    ("rule", "is_sandbox"),
    [
        (Rule("deny", path="vault/**"), False),
        (Rule("ask", path="**/*.key"), False),
        (Rule("deny", path="/work/a"), False),
        (Rule("deny", path="/elsewhere/**"), True),
        (Rule("allow", path="vault/**"), True),
    ],
)
def test_nothing_runs_without_approval_if_rules_deny_paths_there(rule: Rule, *, is_sandbox: bool) -> None:
    policy = Policy("/home/me/.hermes", "/home/me", (), (rule,))

    def denied_paths(folder: str) -> tuple[DeniedPath, ...]:
        return policy.denied_paths("/here/project", ("terminal",), folder)

    workspace = open_cloud_workspace(CountingService(is_slow=False), "/work", denied_paths, has_network=False)
    assert workspace.confines(Command("true", "/work", 5, confinement="must")) is is_sandbox
