"""Background tasks that run beside a block: when they end, and how their errors are raised."""

import anyio
import anyio.lowlevel
import pytest

from hermes_acp.agent.background_tasks import background_tasks, joined_task
from hermes_acp.core.errors import StorageError

pytestmark = pytest.mark.anyio


async def fail() -> None:
    raise StorageError("The disk is full.")


async def test_background_tasks_end_with_the_block() -> None:
    begun, ended = [anyio.Event(), anyio.Event()], 0

    async def first() -> None:
        await work(0)

    async def second() -> None:
        await work(1)

    async def work(number: int) -> None:
        nonlocal ended
        begun[number].set()
        try:
            await anyio.sleep_forever()
        finally:
            ended += 1

    async with background_tasks(first, second):
        for each in begun:
            await each.wait()
    assert ended == 2


async def test_together_waits_for_its_tasks() -> None:
    done = anyio.Event()

    async def work() -> None:
        await anyio.lowlevel.checkpoint()
        done.set()

    async with joined_task(work):
        assert not done.is_set()
    assert done.is_set()


@pytest.mark.parametrize("way", [background_tasks, joined_task])
async def test_an_error_in_a_task_ends_the_block_and_is_raised_unchanged(way: object) -> None:
    with pytest.raises(StorageError, match="disk is full"):
        async with background_tasks(fail) if way is background_tasks else joined_task(fail):
            await anyio.sleep_forever()


@pytest.mark.parametrize("way", [background_tasks, joined_task])
async def test_an_error_in_the_block_cancels_the_tasks(way: object) -> None:
    with pytest.raises(StorageError, match="disk is full"):
        async with (
            background_tasks(anyio.sleep_forever)
            if way is background_tasks
            else joined_task(anyio.sleep_forever)
        ):
            await fail()
