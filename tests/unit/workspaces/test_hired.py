"""A hired sandbox: what it costs ends with the session, however that ends."""

import anyio
import anyio.lowlevel
import pytest

from hermes_acp.workspaces.cloud.hired import HiredHost


class Hires:
    """A service that counts what is hired from it."""

    name = "Example"

    def __init__(self, *, is_slow: bool) -> None:
        self.began = anyio.Event()
        self.given_back = 0
        self._is_slow = is_slow

    async def hire(self) -> None:
        self.began.set()
        if self._is_slow:
            await anyio.sleep_forever()

    async def execute(self, script: str, patience_s: float) -> str:
        return "Cjc="  # an empty output and the exit code 7

    async def upload(self, path: str, content: bytes) -> None:
        raise AssertionError("nothing is uploaded here")

    async def give_back(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.given_back += 1


@pytest.mark.anyio
async def test_a_sandbox_that_was_still_being_hired_is_given_back() -> None:
    service = Hires(is_slow=True)
    host = HiredHost(service, "/work", has_network=False)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(host.call, "true")
            await service.began.wait()
            group.cancel_scope.cancel()
    assert service.given_back == 1


@pytest.mark.anyio
async def test_a_sandbox_is_given_back_once_even_when_the_close_is_cancelled() -> None:
    service = Hires(is_slow=False)
    host = HiredHost(service, "/work", has_network=False)
    assert (await host.call("true")).code == 7
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(host.close)
            await anyio.lowlevel.checkpoint()
            scope.cancel()
    await host.close()
    assert service.given_back == 1
